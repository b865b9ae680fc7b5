//! Reads a file into settings.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::parse::problem::{Problem, Sort};
use super::parse::reader::{MOST_PROBLEMS, Reader, Section};
use super::parse::source::Source;
use super::parse::{secret_spans, syntax};
use super::root;
use super::settings::Config;
use crate::client_file::ClientFile;

/// The file that is used if none is named.
pub(crate) const DEFAULT_FILE: &str = "failwell.toml";

/// Maximum size of the file, in bytes.
const LARGEST: u64 = 256 * 1024;

/// Some editors put this in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The named file, otherwise the first of the usual ones that exists.
pub(crate) fn find(named: Option<&Path>) -> Option<PathBuf> {
    let usual = || usual_places().into_iter().find(|path| path.symlink_metadata().is_ok());
    named.map(Path::to_owned).or_else(usual)
}

/// Where a file is looked for if none is named: in the current folder, then in the user's configuration folder. Desktop
/// clients start programs in a folder of their own.
pub(crate) fn usual_places() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| set("HOME").map(|home| home.join(".config")))
        .or_else(|| set("APPDATA"));
    let own = folder.map(|folder| folder.join("failwell").join(DEFAULT_FILE));
    std::iter::once(PathBuf::from(DEFAULT_FILE)).chain(own).collect()
}

/// Reads a file. It returns the settings of a file without mistakes, otherwise all problems in order.
pub(crate) fn load(path: &Path) -> Result<Config, Vec<Problem>> {
    parse(path, read(path)?).map(|config| placed(path, config))
}

/// Reads only the settings that say where and how state is stored, for commands that read state files.
/// Problems with server secrets are ignored, because they may be absent in this environment. Other settings
/// of the result are not valid.
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
    if ClientFile::is_in(&text) {
        let help = format!("convert it: failwell init --from {}", path.display());
        return Err(vec![Problem::of_file(
            path,
            "this file has the servers of an MCP client, in JSON",
            help,
        )]);
    }
    let (config, mut problems) = judge(path, text);
    if problems.len() > MOST_PROBLEMS {
        problems.truncate(MOST_PROBLEMS);
        problems.push(Problem::of_file(path, "there are more mistakes", "correct the listed ones first"));
    }
    if problems.is_empty() { Ok(config) } else { Err(problems) }
}

/// Parses a file and returns its settings with all problems in order.
fn judge(path: &Path, text: String) -> (Config, Vec<Problem>) {
    let (table, errors) = DeTable::parse_recoverable(&text);
    let hidden = if errors.is_empty() {
        secret_spans::of_table(table.get_ref(), &text)
    } else {
        secret_spans::of_broken(&text)
    };
    let source = Source::new(path.to_owned(), text.clone(), hidden);
    let (broken, problems) = syntax::report(&source, &errors);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_lost = syntax::is_lost(&source, &broken);
    let mut reader = Reader { source: &source, folder, broken, problems };
    let config = if is_lost { Config::default() } else { root::read(&mut reader, &Section::root(&table)) };
    let mut problems = reader.problems;
    problems.sort_by_key(Problem::position);
    (config, problems)
}

fn read(path: &Path) -> Result<String, Vec<Problem>> {
    let unreadable = |error: std::io::Error| {
        let help = "check the path and its permissions; without a file the demo server is served";
        let problem = Problem::of_file(path, format!("the file cannot be read: {error}"), help);
        let is_denied = error.kind() == std::io::ErrorKind::PermissionDenied;
        vec![Problem { sort: if is_denied { Sort::Unreadable } else { problem.sort }, ..problem }]
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
        let hidden = secret_spans::of_broken(&text);
        let source = Source::new(path.to_owned(), text, hidden);
        vec![source.problem(&(at..at + 1), None, "this is not UTF-8", "save the file as UTF-8")]
    })
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
    fn secrets_are_stored_and_not_shown() {
        let config = parse(Path::new("x.toml"), FILE.to_owned()).map_err(|problems| format!("{problems:?}"));
        let shown = format!("{:?}", config.expect("a fine file"));
        assert!(shown.contains("authorization") && !shown.contains("HUSHED"), "{shown}");
    }

    /// Prints every problem of a file and checks that no secret appears.
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

    #[test]
    fn a_secret_that_the_parser_takes_for_a_key_is_not_shown() {
        let text = "[[upstream]]\nname =a\nenv = { A = tream.env]\nA @ 3s\n\"\"c3\"rt=HUSHED\n\"\"\"\n\
            B = 1é HUSHED ${HOME} $${x} ${\"\n";
        check(text.to_owned());
    }

    /// A deterministic pseudo-random generator (xorshift).
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 >> 33).expect("it fits") % limit
        }
    }

    /// Shuffles the settings of the example file, swaps their values and cuts pieces out. The reader must
    /// reach the end of every such file, and every problem must have a valid position.
    #[test]
    fn any_mixture_of_settings_is_read_to_its_end() {
        let example = include_str!("../../../../examples/failwell.toml");
        let lines: Vec<&str> = example.lines().map(|line| line.strip_prefix('#').unwrap_or(line)).collect();
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        for _ in 0..500 {
            let mut text = String::new();
            for _ in 0..=dice.below(40) {
                let line = lines[dice.below(lines.len())];
                let other = lines[dice.below(lines.len())];
                let cut: String = line.chars().take(dice.below(line.chars().count() + 1)).collect();
                text.push_str(&match (dice.below(8), line.split_once('='), other.split_once('=')) {
                    (0, Some((key, _)), Some((_, value))) => format!("{key}={value}"),
                    (1, ..) => cut,
                    (2, ..) => format!("{cut}{other}"),
                    _ => line.to_owned(),
                });
                text.push('\n');
            }
            let last = text.lines().count() + 1;
            for problem in parse(Path::new("x.toml"), text.clone()).err().unwrap_or_default() {
                let shown = problem.text(Paint::for_stderr());
                let line = problem.place.as_ref().map_or(1, |place| place.line);
                assert!((1..=last).contains(&line) && !shown.is_empty(), "{shown} for {text}");
            }
        }
    }
}
