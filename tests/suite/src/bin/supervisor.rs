//! The supervisor of children, for tests whose own program is a test runner.

fn main() -> std::process::ExitCode {
    failwell_process::supervise_main()
}
