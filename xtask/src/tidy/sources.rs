//! Rules for the size and the content of source files.

use std::path::Path;

use crate::problem::Problem;
use crate::tree::{files_below, read, root, shown, sources};

/// Lines after which a file is split.
const LONGEST: usize = 600;

/// Where our own code lives.
const CODE: &[&str] = &["crates", "servers", "emulators", "xtask", "bench", "fuzz"];

/// Words that put off work or skip a test. Written in halves so that this file passes.
const FORBIDDEN: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("#[ign", "ore")];

/// Folders that exist on one machine only, in halves for the same reason.
const MACHINE: [&str; 6] = [
    concat!("/work", "/main"),
    concat!("/work", "/shared"),
    concat!("/tmp", "/wt"),
    concat!("/tmp", "/target-"),
    concat!("/root", "/.cargo"),
    concat!("/root", "/.pyenv"),
];

pub(super) fn long_files() -> Vec<Problem> {
    each(&sources(&["crates", "servers", "xtask"], "rs"), |path, text| {
        let lines = text.lines().count();
        let what = format!("{} has {lines} lines, more than {LONGEST}", shown(path));
        (lines > LONGEST).then(|| Problem::new(what, "split it where a reader would pause"))
    })
}

pub(super) fn forbidden_words() -> Vec<Problem> {
    each(&sources(CODE, "rs"), |path, text| {
        let place = first_line_with(text, &FORBIDDEN)?;
        Some(Problem::new(
            format!("{}:{place} puts something off", shown(path)),
            "do it now, or leave it out",
        ))
    })
}

pub(super) fn missing_invariants() -> Vec<Problem> {
    let mut roots = sources(&["crates", "servers"], "rs");
    roots.retain(|path| path.ends_with("src/lib.rs"));
    each(&roots, |path, text| {
        let says = text.lines().any(|line| line.trim() == "//! # Invariants");
        let help = "say after its purpose what always holds in this crate, under `# Invariants`";
        (!says).then(|| Problem::new(format!("{} names no invariants", shown(path)), help))
    })
}

pub(super) fn machine_paths() -> Vec<Problem> {
    let text_types =
        ["rs", "md", "toml", "txt", "json", "yml", "yaml", "sh", "py", "stderr", "html", "js", "css"];
    let mut files = files_below(&root());
    files.retain(|path| path.extension().is_none_or(|found| text_types.iter().any(|known| found == *known)));
    each(&files, |path, text| {
        let place = first_line_with(text, &MACHINE)?;
        Some(Problem::new(
            format!("{}:{place} names a folder of one machine", shown(path)),
            "use a relative path",
        ))
    })
}

/// Runs a check over the texts of files. Binary files are skipped.
fn each(files: &[std::path::PathBuf], check: impl Fn(&Path, &str) -> Option<Problem>) -> Vec<Problem> {
    files.iter().filter_map(|path| read(path).ok().and_then(|text| check(path, &text))).collect()
}

fn first_line_with(text: &str, needles: &[&str]) -> Option<usize> {
    text.lines().position(|line| needles.iter().any(|needle| line.contains(needle))).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::{FORBIDDEN, first_line_with};

    #[test]
    fn words_are_found_with_their_line() {
        let text = format!("fine\nalso fine\n// {} later\n", FORBIDDEN[0]);
        assert_eq!(first_line_with(&text, &FORBIDDEN), Some(3));
        assert_eq!(first_line_with("nothing", &FORBIDDEN), None);
    }
}
