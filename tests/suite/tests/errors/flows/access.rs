//! Addresses, headers and keys that a request needs.

mod headers;
mod host_and_content;
mod keys;
