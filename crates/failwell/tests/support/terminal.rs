//! A terminal for the program.

use std::process::Command;

/// Runs the program at a terminal of its own, whose output goes to standard output. Python opens it. The program ends with
/// its terminal, also if the tests ignore SIGHUP.
pub(crate) fn at_terminal(program: &str) -> Command {
    let mut command = Command::new("python3");
    let spawn = concat!(
        "import os, pty, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_DFL); ",
        "sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
    );
    command.args(["-c", spawn, program]).env("NO_COLOR", "1");
    command
}
