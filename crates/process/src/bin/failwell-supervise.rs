//! The supervisor alone, for tests of crates that have no binary of their own. Failwell itself needs none: it starts
//! its own program once more.

use std::process::ExitCode;

fn main() -> ExitCode {
    failwell_process::supervise_main()
}
