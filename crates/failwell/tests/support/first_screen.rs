//! The lines that the program prints before it serves.

use std::io::{BufRead, BufReader};
use std::process::Child;

/// Reads standard output up to the line that says how to stop the program.
pub(crate) fn first_screen(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut screen = String::new();
    while !screen.contains("stop with Ctrl-C") {
        screen.push_str(lines.next().expect("another line").expect("a line").trim_end());
        screen.push('\n');
    }
    screen
}
