//! Placeholders `${VAR}` and `${file:path}` in a value. `$${` is a literal `${`.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// Maximum size of a file named in a placeholder, in bytes.
const LARGEST_FILE: u64 = 64 * 1024;

/// A placeholder that cannot be expanded.
pub(super) struct BadPlaceholder {
    /// The placeholder as written.
    pub(in crate::config) written: String,
    pub(in crate::config) message: String,
    pub(in crate::config) help: String,
}

/// The ranges of well-formed placeholders in a text.
pub(in crate::config) fn placeholders(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = next(text, from) {
        let Some(length) = text.get(at..).and_then(|rest| rest.find('}')) else { break };
        let end = at + length + 1;
        if text.get(at + 2..end - 1).is_some_and(|inner| is_variable(inner) || inner.starts_with("file:")) {
            found.push(at..end);
        }
        from = end;
    }
    found
}

/// The position of the next placeholder that is not escaped.
fn next(text: &str, mut from: usize) -> Option<usize> {
    loop {
        let at = from + text.get(from..)?.find("${")?;
        if at == 0 || text.as_bytes().get(at - 1) != Some(&b'$') {
            return Some(at);
        }
        from = at + 2;
    }
}

/// Expands every placeholder, or reports what is wrong with each. Relative paths start at `folder`.
pub(super) fn fill(text: &str, folder: &Path) -> Result<String, Vec<BadPlaceholder>> {
    let (mut filled, mut flaws) = (String::new(), Vec::new());
    let mut from = 0;
    while let Some(at) = next(text, from) {
        filled.push_str(&plain(text.get(from..at)));
        let rest = text.get(at..).unwrap_or_default();
        let Some(length) = rest.find('}') else {
            flaws.push(BadPlaceholder {
                written: "${".to_owned(),
                message: "`${` is never closed".to_owned(),
                help: "write ${NAME} or ${file:path}, or $${ for a literal ${".to_owned(),
            });
            from = text.len();
            break;
        };
        let inner = rest.get(2..length).unwrap_or_default();
        match resolve(inner, folder) {
            Ok(value) => filled.push_str(&value),
            Err((message, help)) => {
                flaws.push(BadPlaceholder { written: format!("${{{inner}}}"), message, help })
            }
        }
        from = at + length + 1;
    }
    filled.push_str(&plain(text.get(from..)));
    if flaws.is_empty() { Ok(filled) } else { Err(flaws) }
}

/// Expands the placeholders of a command-line value, or returns the first problem with its help.
#[cfg(feature = "postgres")]
pub(crate) fn filled(text: &str) -> Result<String, (String, String)> {
    fill(text, Path::new("."))
        .map_err(|flaws| flaws.into_iter().next().map(|flaw| (flaw.message, flaw.help)).unwrap_or_default())
}

fn plain(text: Option<&str>) -> String {
    text.unwrap_or_default().replace("$${", "${")
}

fn resolve(inner: &str, folder: &Path) -> Result<String, (String, String)> {
    if let Some(path) = inner.strip_prefix("file:") {
        return read(&folder.join(path)).map_err(|why| {
            (
                format!("the file `{path}` cannot be used: {why}"),
                format!("check the path; it starts at {}", shown(folder)),
            )
        });
    }
    if !is_variable(inner) {
        // The text may be a password that contains `${`, so the message does not repeat it.
        return Err((
            "`${…}` does not contain the name of a variable".to_owned(),
            "write ${NAME} with letters, digits and underscores, ${file:path}, or $${ for a literal ${"
                .to_owned(),
        ));
    }
    std::env::var(inner).map_err(|error| match error {
        std::env::VarError::NotPresent => (
            format!("the environment variable {inner} is not set"),
            format!("set it before the start: export {inner}=…"),
        ),
        std::env::VarError::NotUnicode(_) => {
            (format!("the environment variable {inner} is not UTF-8"), format!("set {inner} to UTF-8 text"))
        }
    })
}

fn shown(folder: &Path) -> String {
    if folder == Path::new(".") { "this folder".to_owned() } else { folder.display().to_string() }
}

fn is_variable(name: &str) -> bool {
    super::names::is_variable(name)
}

/// Reads a small file without its final line break.
fn read(path: &Path) -> Result<String, String> {
    let meta = path.metadata().map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("it is not a file".to_owned());
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    let read = file.take(LARGEST_FILE + 1).read_to_string(&mut text);
    let size = read.map_err(|error| error.to_string())?;
    if size as u64 > LARGEST_FILE {
        return Err(format!("it is larger than {LARGEST_FILE} bytes"));
    }
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::{fill, placeholders};
    use std::path::Path;

    fn check(text: &str, expected: Result<&str, &[&str]>) {
        let filled = fill(text, Path::new("."));
        let written = |flaws: Vec<super::BadPlaceholder>| {
            flaws.into_iter().map(|flaw| flaw.written).collect::<Vec<_>>()
        };
        let expected =
            expected.map(str::to_owned).map_err(|flaws| flaws.iter().map(|s| (*s).to_owned()).collect());
        assert_eq!(filled.map_err(written), expected, "{text}");
    }

    #[test]
    fn placeholders_are_filled_and_every_flaw_is_named() {
        let package = env!("CARGO_PKG_NAME");
        check("plain $5 {x}", Ok("plain $5 {x}"));
        check("a $${NOT} b", Ok("a ${NOT} b"));
        check("<${CARGO_PKG_NAME}>", Ok(&format!("<{package}>")));
        check("${FAILWELL_NONE_A}-${FAILWELL_NONE_B}", Err(&["${FAILWELL_NONE_A}", "${FAILWELL_NONE_B}"]));
        check("x ${", Err(&["${"]));
        check("${}${a b}${file:/dev/null/x}", Err(&["${}", "${a b}", "${file:/dev/null/x}"]));
        check("${file:/dev/zero}", Err(&["${file:/dev/zero}"]));
    }

    #[test]
    fn only_well_formed_placeholders_may_be_shown() {
        assert_eq!(placeholders("a${B}c${d e}$${F}${file:g}"), [1..5, 17..26].map(|range| range));
    }
}
