//! The configuration file, `failwell.toml`. It is read as a whole, at the start and at every reload, and one
//! pass finds every mistake.
//!
//! [`keys`] is the one table of configuration keys. The reader, the nearest-key suggestions and the JSON
//! Schema use it. Secret values (`env`, `headers`, values under unknown keys) are never printed:
//! [`parse::secret_spans`] masks them before the first problem is printed.

mod audit;
mod builtin;
mod file;
mod keys;
mod listen;
mod of_command;
mod parse;
mod policy;
mod root;
mod schema;
mod servers;
mod settings;
mod shelf;
mod state;

pub(crate) use audit::otlp::OtlpConfig;
pub(crate) use audit::postgres::PostgresConfig;
pub(crate) use builtin::Builtin;
pub(crate) use file::{DEFAULT_FILE, find, load, load_place, usual_places};
pub(crate) use listen::{listen_address, reachable};
#[cfg(feature = "postgres")]
pub(crate) use parse::interpolate::filled;
pub(crate) use parse::names::upstream_name;
pub(crate) use parse::problem::{Problem, Sort as ProblemSort};
pub(crate) use policy::custom::{CustomConfig, Runs};
pub(crate) use policy::identity::{ENVIRONMENT, KEY_NAMES, ROLES, SHORTEST_KEY, is_key_name, is_role};
pub(crate) use policy::jwt::{Jwks, JwtConfig};
pub(crate) use schema::schema;
pub(crate) use servers::device::{DeviceConfig, usual_program};
pub(crate) use servers::program::{endpoint_problem, problem as program_problem};
pub(crate) use servers::tasks::{EmulatedService, TasksConfig, is_exposed_url};
pub(crate) use settings::{AuditConfig, Auth, Config, DEFAULT_ADDRESS, Target, UpstreamConfig};
pub(crate) use shelf::ShelfConfig;
pub(crate) use state::StateConfig;
