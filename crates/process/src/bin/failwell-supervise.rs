//! The supervisor as a binary, for tests of crates without their own. Failwell starts its own program
//! instead.

use std::process::ExitCode;

fn main() -> ExitCode {
    failwell_process::supervise_main()
}
