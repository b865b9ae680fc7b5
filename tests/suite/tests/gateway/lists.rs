//! Names, definitions and lists of upstreams.

mod federation;
mod guidance;
mod schemas;
mod slow_lists;
mod watches;
