//! The HTTP side of an emulated web service: a server whose connections can be reset, faults on demand, a call log, and the
//! `/_control/` routes.
//!
//! # Invariants
//!
//! * No emulator shares code with Failwell's servers or crates: a stand-in must not share the mistakes of the client under
//!   test.
//! * `/_control/` is for programs of this machine. Requests for another host, or from a web page of one, are refused.
//! * Connections, bodies, pending faults and the call log are bounded.

mod body;
mod call_log;
mod control;
mod control_access;
mod fault;
mod markup;
mod raw_client;
mod reply;
mod resettable_stream;
mod server;
mod shared_state;

pub use body::Body;
pub use call_log::{CallLog, LoggedCall};
pub use control::{Control, ControlError, ControlReply, EmulatorState, parse_body};
pub use fault::{Fault, FaultQueue, FaultStage};
pub use markup::escape_markup;
pub use raw_client::{RawReply, exchange, exchange_with};
pub use reply::Reply;
pub use server::{Handler, Server, ServerOptions};
pub use shared_state::SharedState;
