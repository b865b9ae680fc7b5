//! The tasks room: Remember The Milk for an agent, which is never told a task was added twice, or not at all, when
//! nobody knows.
//!
//! `client` calls the service: signed, in turn, reads tried again. `account` keeps what is known of tasks and lists, by
//! asking for changes alone. `change` makes a change, and when its outcome is unknown looks before it says anything.
//!
//! # Invariants
//!
//! * A change is sent once, unless nothing of it left. What may have been made is looked up before it is made again.
//! * Everybody with the API key on this machine waits in one line, so that the service's rate is never exceeded.
//! * A name is never guessed: what fits several tasks is answered with the candidates.
//! * An outage, a refusal or a strange answer never takes the login away; only a person does.
//! * Key, secret, token and frob are in no log and no answer, but for the one address a person must open to log in.
//! * The service's words stay with the operator.

mod account;
mod book;
mod change;
mod client;
mod dates;
mod doubt;
mod edit;
mod filter;
mod http;
mod journal;
mod keep;
mod login;
mod lookup;
mod model;
mod pace;
mod prompts;
mod refusal;
mod resources;
mod server;
mod settings;
mod shape;
mod sign;
mod stop;
mod tools;
mod view;
mod watch;

pub use login::{AuthStatus, Login, is_logged_in, log_out};
pub use server::{Tasks, tasks};
pub use settings::{ApiKey, PaceIs, Permission, SERVICE, Settings, TokenStore};
