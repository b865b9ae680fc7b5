//! The core catalogue: the reasons of everything but the tool servers, whose rows live in their own crates. One file per
//! area. [`ReasonRegistry::core`](crate::ReasonRegistry::core) lists all of them.

use crate::Reason;

mod audit;
mod config;
mod gateway;
mod http;
mod mcp;
mod policy;
mod process;
mod rpc;
mod server;
mod shelf;

pub use audit::*;
pub use config::*;
pub use gateway::*;
pub use http::*;
pub use mcp::*;
pub use policy::*;
pub use process::*;
pub use rpc::*;
pub use server::*;
pub use shelf::*;

/// The lists of the areas, in the order of the manual.
pub(crate) static CORE: &[&[&Reason]] = &[
    rpc::ROWS,
    http::ROWS,
    mcp::ROWS,
    server::ROWS,
    shelf::ROWS,
    policy::ROWS,
    gateway::ROWS,
    audit::ROWS,
    config::ROWS,
    process::ROWS,
];
