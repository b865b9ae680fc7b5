//! Who may send a request: addresses, origins, credentials and roles.

pub(super) mod authenticate;
pub(super) mod authorize;
pub(super) mod cors;
