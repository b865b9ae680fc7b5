//! What stand-ins for web services are made of: connections that can be cut, faults on demand, and a log of what was
//! asked.
//!
//! # Invariants
//!
//! * Nothing of Failwell's own is used here, as nowhere in an emulator: a stand-in must not share the mistakes of the
//!   client it stands in for.
//! * What waits and what is kept is bounded.

mod calls;
mod faults;
mod wire;

pub use calls::{Calls, Counted};
pub use faults::{Faults, Stage, Strikes};
pub use wire::Wire;
