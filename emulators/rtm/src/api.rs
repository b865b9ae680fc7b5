//! The REST API: checks, methods, errors and the form of responses.

pub(crate) mod api_error;
pub(crate) mod checks;
pub(crate) mod methods;
pub(crate) mod params;
pub(crate) mod response;
pub(crate) mod signature;
