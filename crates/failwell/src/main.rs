//! The command line of Failwell: definitions in `cli`, one file per command in `commands`.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage.

#[allow(
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "clap prints these comments as they are"
)]
mod cli;
mod client_file;
mod commands;
mod complaint;
mod config;
mod doctor;
mod parts;
mod state;
mod terminal;
mod times;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    // These checks come first, while there is one thread: this process may be a supervisor of a child or an
    // engine of the symbolic server.
    #[cfg(unix)]
    match std::env::args_os().nth(1) {
        Some(first) if first == failwell_process::ARGUMENT => return failwell_process::supervise_main(),
        Some(first) if first == failwell_symbolic::ENGINE_ARGUMENT => {
            return failwell_symbolic::engine_main(std::env::args().nth(2).as_deref());
        }
        _ => {}
    }
    #[cfg(unix)]
    failwell_process::protect_self();
    let done = commands::run(cli::Cli::parse().command);
    #[cfg(unix)]
    failwell_process::end_all();
    match done.and_then(|code| terminal::loss().map_or(Ok(code), Err)) {
        Ok(code) => code,
        Err(complaint) => {
            terminal::complain(&complaint);
            ExitCode::FAILURE
        }
    }
}
