//! The command line of Failwell: definitions in `cli`, one file per command in `commands`.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage.

mod cli;
mod commands;
mod complaint;
mod config;
mod doctor;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match commands::run(cli::Cli::parse().command) {
        Ok(code) => code,
        Err(complaint) => {
            terminal::complain(&complaint);
            ExitCode::FAILURE
        }
    }
}
