//! The supervisor process of child processes, for tests: a test runner cannot be started as one.

fn main() -> std::process::ExitCode {
    failwell_process::supervise_main()
}
