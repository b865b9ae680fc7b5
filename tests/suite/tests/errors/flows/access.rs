//! Addresses, headers and keys that a request needs.

mod door;
mod headers;
mod keys;
