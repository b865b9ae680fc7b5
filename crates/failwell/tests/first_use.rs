//! Tests of the first commands that a new user tries: finding the file, `init`, `tools`, `call` and `check --start`.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

#[path = "first_use/calls.rs"]
mod calls;
#[path = "first_use/check_start.rs"]
mod check_start;
#[path = "first_use/init.rs"]
mod init;
#[path = "first_use/places.rs"]
mod places;
#[path = "support/program_output.rs"]
mod program_output;
#[path = "support/started_line.rs"]
mod started_line;
#[path = "support/temp_folder.rs"]
mod temp_folder;
#[path = "support/terminal.rs"]
mod terminal;

use std::path::Path;
use std::process::{Command, Stdio};

use program_output::ProgramOutput;

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/first_use/server.py");

/// The program in a folder, with configuration and state of its own.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).env_remove("FAILWELL_KEY");
    command.env("XDG_CONFIG_HOME", folder.join("config")).env("FAILWELL_STATE", folder.join("state"));
    command
}

fn run(folder: &Path, arguments: &[&str]) -> ProgramOutput {
    ProgramOutput::from(command(folder, arguments).output().expect("the binary runs"))
}

/// The arguments, then the command of the server.
fn with_server<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &["--", "python3", SERVER]].concat()
}
