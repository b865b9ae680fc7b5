use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, Man};
use crate::complaint::Complaint;
use crate::terminal;

/// Prints the manual page, or with `--dir` writes one file per command.
pub(super) fn run(arguments: &Man) -> Result<ExitCode, Complaint> {
    let written = match &arguments.dir {
        Some(folder) => write_into(folder),
        None => print(),
    };
    written.map(|()| ExitCode::SUCCESS).map_err(|error| {
        Complaint::new(format!("cannot write the manual: {error}"), "give --dir a folder you may write to")
    })
}

fn print() -> std::io::Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    terminal::print_bytes(&page);
    Ok(())
}

fn write_into(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Cli::command(), folder)
}
