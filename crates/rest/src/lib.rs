//! The operator's REST API, and the authentication of callers.
//!
//! [`http_settings`] are settings of an HTTP listener with the paths of [`ROUTES`]: approvals, stored files, sessions, keys,
//! operations and events. Their calls pass the pipeline like every other. [`Authenticator`] checks API keys and tokens.
//!
//! # Invariants
//!
//! * A path is in the table with its verbs, roles, schemas and failures. `/openapi.json` describes exactly the table.
//! * Credentials are compared as hashes, or verified with the issuer's public keys. They are never logged.
//! * Uploads and downloads are streamed: memory does not grow with the size of a file.

mod admin;
mod approvals;
mod authenticator;
mod download;
mod events;
mod issuer;
mod shapes;
mod stored_file_routes;
mod stored_files;
mod table;
mod upload;

use failwell_controls::OperatorServices;
use failwell_fault::{Fault, reason};
use failwell_transport::HttpSettings;
use failwell_transport::paths::{Mount, RouteTable};

pub use authenticator::{AuthRequirement, Authenticator, Credentials, Tokens};
pub use issuer::Issuer;
pub use table::ROUTES;

/// The default settings of a listener that serves the operator's API.
pub fn http_settings() -> HttpSettings {
    HttpSettings { routes: RouteTable::with(ROUTES), ..HttpSettings::default() }
}

/// The services of a mount. A pipeline without them has no such paths.
fn services(mount: &Mount) -> Result<&OperatorServices, Fault> {
    OperatorServices::of(&mount.pipeline).ok_or_else(|| Fault::new(&reason::HTTP_UNKNOWN_PATH))
}
