//! The configuration file, `failwell.toml`. It is read as a whole, at the start and at every reload, and one
//! pass finds every mistake.
//!
//! [`keys`] is the one table of configuration keys. The reader, the nearest-key suggestions and the JSON
//! Schema use it. Secret values (`env`, `headers`, values under unknown keys) are never printed:
//! [`secret_spans`] masks them before the first problem is printed.

mod audit;
mod builtin;
mod cedar;
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
mod program;
mod reader;
mod root;
mod rules;
mod schema;
mod secret_spans;
mod settings;
mod shelf;
mod source;
mod state;
mod syntax;
mod tasks;
mod upstream;
mod value;

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
pub(crate) use program::problem as program_problem;
pub(crate) use schema::schema;
pub(crate) use settings::{AuditConfig, Auth, Config, DEFAULT_ADDRESS, Target, UpstreamConfig};
pub(crate) use shelf::ShelfConfig;
pub(crate) use state::StateConfig;
pub(crate) use tasks::{EmulatedService, TasksConfig, is_exposed_url};
