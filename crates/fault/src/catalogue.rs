//! One file per room. `ALL` is what help, manual, metrics and tests are generated from.

use crate::Reason;

/// Declares the rows of one room and the list of them.
macro_rules! reasons {
    ($($name:ident = $id:literal {
        $kind:ident, $condition:ident, $origin:ident,
        title: $title:literal,
        $(detail: $detail:literal,)?
        hint: $hint:literal,
        about: $about:literal $(,)?
    })*) => {
        $(
            #[doc = $about]
            pub static $name: crate::Reason = crate::Reason {
                id: $id,
                kind: crate::Kind::$kind,
                condition: crate::Condition::$condition,
                origin: crate::Origin::$origin,
                title: $title,
                detail: concat!($($detail)?),
                hint: $hint,
                about: $about,
            };
        )*
        pub(crate) static ROWS: &[&crate::Reason] = &[$(&$name),*];
    };
}

mod audit;
mod config;
mod device;
mod gateway;
mod http;
mod lobby;
mod mcp;
mod policy;
mod process;
mod pytest;
mod rpc;
mod server;
mod shelf;
mod symbolic;
mod tasks;

pub use audit::{AUDIT_FAILED, AUDIT_NOT_CARRIED};
pub use config::{CONFIG_INVALID, CONFIG_PLUGIN};
pub use device::*;
pub use gateway::*;
pub use http::*;
pub use lobby::LOBBY_UNKNOWN_REASON;
pub use mcp::*;
pub use policy::*;
pub use process::*;
pub use pytest::*;
pub use rpc::*;
pub use server::*;
pub use shelf::*;
pub use symbolic::*;
pub use tasks::*;

/// Every reason, room by room.
pub fn all() -> impl Iterator<Item = &'static Reason> {
    [
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
        lobby::ROWS,
        pytest::ROWS,
        symbolic::ROWS,
        tasks::ROWS,
        device::ROWS,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// A reason by its identity, whatever the case it is written in.
pub fn find(id: &str) -> Option<&'static Reason> {
    all().find(|reason| reason.id.eq_ignore_ascii_case(id))
}
