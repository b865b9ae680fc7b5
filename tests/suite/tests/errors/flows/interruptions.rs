//! Requests that are cancelled, abandoned, or overtaken by a shutdown.

mod cancel;
mod disconnect;
mod drain;
