//! Chores of the repository: `cargo xtask tidy` checks it, `cargo xtask catalogue` writes the manual of failures, `cargo
//! xtask bounds` writes the values of docs/bounds.md, `cargo xtask canary` searches the files that tests wrote for
//! planted secrets.

mod bounds;
mod canary;
mod catalogue;
mod problem;
mod python;
mod rust;
mod tidy;
mod tree;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use problem::Problem;

const USAGE: &str = "\
usage: cargo xtask <chore>

chores:
  tidy       check dependency direction, advisories, names, documents, transcripts, and the sizes of files and folders
  catalogue  write docs/errors.md from the catalogue of reasons
  bounds     write the values of docs/bounds.md from the sources
  canary DIR search all files that tests wrote to a folder for planted secrets
";

fn main() -> ExitCode {
    let chores: Vec<String> = std::env::args().skip(1).collect();
    let names: Vec<&str> = chores.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["tidy"] => conclude("tidy", tidy::check()),
        ["canary", folder] => conclude("canary", canary::check(Path::new(folder))),
        ["catalogue"] => conclude("catalogue", catalogue::write().err().into_iter().collect()),
        ["bounds"] => conclude("bounds", bounds::write()),
        ["help" | "--help" | "-h"] => say(&mut std::io::stdout(), USAGE, ExitCode::SUCCESS),
        _ => say(&mut std::io::stderr(), USAGE, ExitCode::from(2)),
    }
}

/// Prints one line per problem and turns them into an exit code.
fn conclude(chore: &str, problems: Vec<Problem>) -> ExitCode {
    if problems.is_empty() {
        return say(&mut std::io::stdout(), &format!("{chore}: ok\n"), ExitCode::SUCCESS);
    }
    let mut text: String =
        problems.iter().map(|problem| format!("error: {}; {}\n", problem.what, problem.help)).collect();
    text.push_str(&format!("{chore}: {} problems\n", problems.len()));
    say(&mut std::io::stderr(), &text, ExitCode::FAILURE)
}

/// Writes text. A closed pipe is not a failure.
fn say(out: &mut dyn Write, text: &str, code: ExitCode) -> ExitCode {
    let _ = out.write_all(text.as_bytes());
    code
}
