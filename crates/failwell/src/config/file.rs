//! From a path to settings.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::problem::Problem;
use super::reader::{MOST_PROBLEMS, Reader, Section};
use super::settings::Config;
use super::source::Source;
use super::{root, veil};

/// What is read when no file is named, if it is there.
pub(crate) const DEFAULT_FILE: &str = "failwell.toml";

/// The most a file may hold, in bytes.
const LARGEST: u64 = 256 * 1024;

/// What some editors put in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The file that was named, or the one in this folder, or none.
pub(crate) fn find(named: Option<&Path>) -> Option<PathBuf> {
    let here = || Some(PathBuf::from(DEFAULT_FILE)).filter(|path| path.symlink_metadata().is_ok());
    named.map(Path::to_owned).or_else(here)
}

/// Reads a file. Either it is right in every respect, or everything that is wrong with it comes back, in order.
pub(crate) fn load(path: &Path) -> Result<Config, Vec<Problem>> {
    parse(path, read(path)?).map(|config| placed(path, config))
}

/// Reads where a file says that state is kept, and how. For whoever looks into it: secrets of servers need not be here,
/// and what is wrong with them is their business. Nothing else of what comes back counts.
pub(crate) fn load_place(path: &Path) -> Result<Config, Vec<Problem>> {
    let (config, mut problems) = judge(path, read(path)?);
    problems.retain(Problem::is_about_place);
    if problems.is_empty() { Ok(placed(path, config)) } else { Err(problems) }
}

fn placed(path: &Path, config: Config) -> Config {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Config { file: Some(whole), ..config }
}

fn parse(path: &Path, text: String) -> Result<Config, Vec<Problem>> {
    let (config, mut problems) = judge(path, text);
    if problems.len() > MOST_PROBLEMS {
        problems.truncate(MOST_PROBLEMS);
        problems.push(Problem::of_file(path, "there is more that is wrong", "correct what is listed first"));
    }
    if problems.is_empty() { Ok(config) } else { Err(problems) }
}

/// What a file says, and everything that is wrong with it, in order.
fn judge(path: &Path, text: String) -> (Config, Vec<Problem>) {
    let (table, errors) = DeTable::parse_recoverable(&text);
    let hidden =
        if errors.is_empty() { veil::of_table(table.get_ref(), &text) } else { veil::of_broken(&text) };
    let source = Source::new(path.to_owned(), text.clone(), hidden);
    let (broken, problems) = syntax(&source, &errors);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // After a broken header nobody knows what the keys below it belong to.
    let is_lost = broken.iter().any(|line| source.line_text(*line).trim_start().starts_with('['));
    let mut reader = Reader { source: &source, folder, broken, problems };
    let config = if is_lost { Config::default() } else { root::read(&mut reader, &Section::root(&table)) };
    let mut problems = reader.problems;
    problems.sort_by_key(Problem::position);
    (config, problems)
}

/// What the parser could not read, and on which lines. One problem to a line, and one to a list that is never
/// closed: the rest are their echoes.
fn syntax(source: &Source, errors: &[toml::de::Error]) -> (BTreeSet<usize>, Vec<Problem>) {
    let (mut broken, mut problems) = (BTreeSet::new(), Vec::new());
    let mut is_in_list = false;
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let (line, message) = (source.line(span.start), error.message());
        let is_echo = !broken.insert(line) || is_in_list && message.contains("array elements");
        is_in_list = message.contains("array") && !message.contains("table");
        if !is_echo && problems.len() <= MOST_PROBLEMS {
            problems.push(source.problem(&span, None, message, syntax_help(message)));
        }
    }
    (broken, problems)
}

fn read(path: &Path) -> Result<String, Vec<Problem>> {
    let unreadable = |error: std::io::Error| {
        let help = "check the path and who may read it; without a file the lobby is served";
        vec![Problem::of_file(path, format!("the file cannot be read: {error}"), help)]
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("the file is larger than {LARGEST} bytes");
        return Err(vec![Problem::of_file(path, message, "check that it is the right file")]);
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let hidden = veil::of_broken(&text);
        let source = Source::new(path.to_owned(), text, hidden);
        vec![source.problem(&(at..at + 1), None, "this is not UTF-8", "save the file as UTF-8")]
    })
}

fn syntax_help(message: &str) -> &'static str {
    match message {
        message if message.contains("duplicate key") => "keep one of them",
        message if message.contains("array table") => "write [[name]] with two pairs of brackets",
        message if message.contains("string") => "put text in quotes, and close them on the same line",
        message if message.contains("array") => "close the list with ]",
        message if message.contains("inline table") => "close the table with }",
        message if message.contains("table") => "write a table as [name], and a list of tables as [[name]]",
        _ => "write each setting as key = value, text in quotes",
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::terminal::Paint;
    use std::path::Path;

    const FILE: &str = r#"listen = "127.0.0.1:0"
[[upstream]]
name = "one"
url = "https://h/mcp?key=HUSHED"
headers = { Authorization = "Bearer HUSHED", "X-Key" = 'HUSHED' }
timeout_s = 5
[[upstream]]
name = "two"
command = ["x"]
[upstream.env]
A = """
HUSHED=HUSHED
"""
B = "é HUSHED"
"#;

    #[test]
    fn secrets_are_kept_and_not_shown() {
        let config = parse(Path::new("x.toml"), FILE.to_owned()).map_err(|problems| format!("{problems:?}"));
        let shown = format!("{:?}", config.expect("a fine file"));
        assert!(shown.contains("authorization") && !shown.contains("HUSHED"), "{shown}");
    }

    /// Shows all that is wrong with a file; nothing of it may be secret.
    fn check(text: String) {
        for problem in parse(Path::new("x.toml"), text.clone()).err().unwrap_or_default() {
            let shown = format!("{} {problem:?}", problem.text(Paint::for_stderr()));
            assert!(!shown.contains("HUSH"), "{shown} for {text}");
        }
    }

    #[test]
    fn a_file_cut_or_garbled_anywhere_shows_no_secret() {
        for (at, character) in FILE.char_indices() {
            let (before, after) = (&FILE[..at], &FILE[at + character.len_utf8()..]);
            check(before.to_owned());
            for garble in ["", "\"", "=", "[", "}", "\n", "\u{1b}", "#"] {
                check(format!("{before}{garble}{after}"));
            }
        }
    }
}
