//! Failwell: the command line.
fn main() {}
