//! The tasks server: Remember The Milk for an agent. It never adds a task twice, and reports an unknown
//! outcome as such.
//!
//! `service` calls the web service: requests are signed and paced, reads are retried. `account` caches tasks
//! and lists by incremental updates; `account::change` makes a change, and looks it up when its outcome is
//! unknown.
//!
//! # Invariants
//!
//! * A change is sent once, unless no byte of it left. An unconfirmed change is looked up before it is made
//!   again.
//! * All processes with the API key on this machine share one queue, so that the service's rate is never
//!   exceeded.
//! * A name is never guessed: a name that matches several tasks is answered with the candidates.
//! * An outage, a refusal or an invalid response never ends the login; only the user does.
//! * Key, secret, token and frob are in no log and no response, except for the address that a user must open
//!   to log in.
//! * Messages of the service go to the operator only.

mod account;
mod dates;
mod filter;
mod lookup;
mod model;
mod prompts;
pub mod reason;
mod resources;
mod server;
mod service;
mod settings;
mod subscriptions;
mod tool_failure;
mod tools;
mod view;

pub use account::login::{AuthStatus, Login, is_logged_in, log_out};
pub use reason::REASONS;
pub use server::{TasksServer, tasks};
pub use settings::{ApiKey, Permission, RateLimit, SERVICE, Settings, TokenStore};
