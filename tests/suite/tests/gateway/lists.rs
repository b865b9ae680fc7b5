//! Names, definitions and lists of upstreams.

mod federation;
mod guidance;
mod late;
mod schemas;
mod watches;
