//! The stages of the pipeline, one file each, in the order of a request. `Pipeline::handle` calls them.
//!
//! `decode` is not here: a transport scans the bytes with `failwell_rpc` before it has a request.

pub(crate) mod approve;
pub(crate) mod guard_in;
pub(crate) mod guard_out;
pub(crate) mod identify;
pub(crate) mod invoke;
pub(crate) mod limit;
pub(crate) mod parse;
pub(crate) mod record;
pub(crate) mod route;
