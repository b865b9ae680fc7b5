use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, Completions};
use crate::terminal;

pub(super) fn run(arguments: &Completions) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "failwell", &mut script);
    terminal::print_bytes(&script);
    ExitCode::SUCCESS
}
