//! A terminal for the program.

use std::process::Command;

/// Runs the program at a terminal of its own, whose output goes to standard output. Python opens it.
pub(crate) fn at_terminal(program: &str) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))", program]).env("NO_COLOR", "1");
    command
}
