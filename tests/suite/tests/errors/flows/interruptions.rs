//! Requests that are cancelled or abandoned, or that run during a shutdown.

mod cancel;
mod disconnect;
mod drain;
