//! The configuration file, `failwell.toml`: read whole, at the start and at every reload; every mistake found in one pass.
//!
//! [`keys`] is the one table of what may stand in the file; the reader, the nearest-key suggestions and the JSON
//! Schema all come from it. What the file may hold in secret (`env`, `headers`, values under keys nobody knows) is
//! never printed: [`veil`] decides it before the first problem is written.

mod audit;
mod builtin;
mod charter;
mod consent;
mod custom;
mod device;
mod excerpt;
mod file;
mod guard;
mod identity;
mod interpolate;
mod jwt;
mod keys;
mod limits;
mod names;
mod otlp;
mod postgres;
mod problem;
mod reader;
mod root;
mod rules;
mod schema;
mod settings;
mod shelf;
mod source;
mod state;
mod tasks;
mod upstream;
mod value;
mod veil;

pub(crate) use builtin::Builtin;
pub(crate) use custom::{CustomConfig, Runs};
pub(crate) use device::{DeviceConfig, usual_program};
pub(crate) use file::{DEFAULT_FILE, find, load, load_place};
pub(crate) use identity::{ENVIRONMENT, KEY_NAMES, ROLES, SHORTEST_KEY, is_key_name, is_role};
#[cfg(feature = "postgres")]
pub(crate) use interpolate::filled;
pub(crate) use jwt::{Jwks, JwtConfig};
pub(crate) use otlp::OtlpConfig;
pub(crate) use postgres::PostgresConfig;
pub(crate) use problem::{Problem, Sort as ProblemSort};
pub(crate) use schema::schema;
pub(crate) use settings::{AuditConfig, Auth, Config, DEFAULT_ADDRESS, Target, UpstreamConfig};
pub(crate) use shelf::ShelfConfig;
pub(crate) use state::StateConfig;
pub(crate) use tasks::{StandIn, TasksConfig, is_exposed_url};
