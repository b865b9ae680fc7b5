//! A verdict as it is written, and as it is understood. Anything else than one of the three is none.

use failwell_fault::{Fault, Name, reason};
use serde_json::{Map, Value};

/// What a custom guard says of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opinion {
    /// It may pass.
    Allow,
    /// It may not.
    Deny {
        /// What sort of thing was found, which callers may see.
        category: Name,
        /// More about it, for the operator alone.
        message: String,
    },
    /// It may pass without these parts.
    Redact {
        /// What sort of thing was found.
        category: Name,
        /// What is taken out.
        wish: Wish,
    },
}

/// What is to be taken out of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// These texts, wherever they stand.
    pub strings: Vec<String>,
    /// What stands in these places.
    pub parts: Vec<Part>,
}

/// A place in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its JSON Pointer.
    pub at: String,
    /// The bytes of the text that stands there; all of it when they are not said.
    pub range: Option<(usize, usize)>,
}

/// The longest word for a category.
const LONGEST_CATEGORY: usize = 32;
/// The longest message for the operator.
const LONGEST_MESSAGE: usize = 512;
/// The most texts and places of one verdict.
const MOST: usize = 1_024;

impl Opinion {
    /// Understands a verdict. What is no verdict, or two at once, is a failure of the guard.
    pub fn read(verdict: &Value) -> Result<Opinion, Fault> {
        let members = verdict.as_object().ok_or_else(|| nonsense("the verdict is no object"))?;
        for name in members.keys() {
            if !matches!(name.as_str(), "id" | "verdict" | "category" | "message" | "strings" | "parts") {
                return Err(nonsense("the verdict has a member nobody knows"));
            }
        }
        let wish = Wish { strings: strings(members)?, parts: parts(members)? };
        let takes_out = !wish.strings.is_empty() || !wish.parts.is_empty();
        match members.get("verdict").and_then(Value::as_str) {
            Some("allow") if takes_out => Err(nonsense("it allows and takes out at once")),
            Some("allow") => Ok(Opinion::Allow),
            // Whatever else it says: no is no.
            Some("deny") => Ok(Opinion::Deny { category: category(members)?, message: message(members)? }),
            Some("redact") if !takes_out => Err(nonsense("it takes nothing out")),
            Some("redact") => Ok(Opinion::Redact { category: category(members)?, wish }),
            _ => Err(nonsense("`verdict` is none of allow, deny and redact")),
        }
    }
}

/// Words a caller may see: too short and too plain to carry anything else.
fn category(members: &Map<String, Value>) -> Result<Name, Fault> {
    let word = match members.get("category") {
        None => "custom",
        Some(value) => value.as_str().unwrap_or_default(),
    };
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    let fits = word.len() <= LONGEST_CATEGORY
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.bytes().all(plain);
    let named = if fits { Name::parse(word) } else { None };
    named.ok_or_else(|| nonsense("`category` is not 1 to 32 of a-z, 0-9 and _, beginning with a letter"))
}

fn message(members: &Map<String, Value>) -> Result<String, Fault> {
    match members.get("message") {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.chars().take(LONGEST_MESSAGE).collect()),
        Some(_) => Err(nonsense("`message` is no text")),
    }
}

fn list<'a>(members: &'a Map<String, Value>, name: &'static str) -> Result<&'a [Value], Fault> {
    match members.get(name) {
        None => Ok(&[]),
        Some(Value::Array(items)) if items.len() <= MOST => Ok(items),
        Some(_) => Err(nonsense("`strings` or `parts` is no list, or has more than 1024 items")),
    }
}

fn strings(members: &Map<String, Value>) -> Result<Vec<String>, Fault> {
    let text = |item: &Value| item.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let texts: Option<Vec<String>> = list(members, "strings")?.iter().map(text).collect();
    texts.ok_or_else(|| nonsense("`strings` holds something else than texts, or an empty one"))
}

fn parts(members: &Map<String, Value>) -> Result<Vec<Part>, Fault> {
    let parts: Option<Vec<Part>> = list(members, "parts")?.iter().map(part).collect();
    parts.ok_or_else(|| nonsense("`parts` holds something else than {\"at\", \"from\", \"to\"}"))
}

fn part(item: &Value) -> Option<Part> {
    let members = item.as_object()?;
    if members.keys().any(|name| !matches!(name.as_str(), "at" | "from" | "to")) {
        return None;
    }
    let at = members.get("at")?.as_str()?.to_owned();
    let number = |name| members.get(name).map(|value| value.as_u64().and_then(|n| usize::try_from(n).ok()));
    let range = match (number("from"), number("to")) {
        (None, None) => None,
        (Some(from), Some(to)) => Some((from?, to?)).filter(|(from, to)| from < to).map(Some)?,
        _ => return None,
    };
    Some(Part { at, range })
}

/// A guard that spoke, and said nothing that can be acted on. What it said stays out of the sentence.
#[track_caller]
fn nonsense(what: &'static str) -> Fault {
    Fault::new(&reason::POLICY_GUARD_FAILED).fact("why", "it gave no proper verdict").note("verdict", what)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Opinion, Part};

    fn read(verdict: Value) -> Option<Opinion> {
        Opinion::read(&verdict).ok()
    }

    #[test]
    fn the_three_verdicts() {
        assert_eq!(read(json!({"verdict": "allow"})), Some(Opinion::Allow));
        let Some(Opinion::Deny { category, message }) =
            read(json!({"id": 3, "verdict": "deny", "category": "invoice_2", "message": "row 5"}))
        else {
            panic!("no denial")
        };
        assert_eq!((category.as_str(), message.as_str()), ("invoice_2", "row 5"));
        let Some(Opinion::Redact { category, wish }) = read(json!({"verdict": "redact", "strings": ["x"],
            "parts": [{"at": "/a"}, {"at": "/b", "from": 1, "to": 3}]}))
        else {
            panic!("no redaction")
        };
        assert_eq!(category.as_str(), "custom");
        assert_eq!(wish.strings, ["x"]);
        assert_eq!(wish.parts[1], Part { at: "/b".to_owned(), range: Some((1, 3)) });
    }

    #[test]
    fn a_denial_stays_one_whatever_else_is_said() {
        let both = read(json!({"verdict": "deny", "strings": ["x"]}));
        assert!(matches!(both, Some(Opinion::Deny { .. })));
    }

    #[test]
    fn anything_else_is_none() {
        for verdict in [
            json!(null),
            json!("allow"),
            json!([]),
            json!({}),
            json!({"verdict": "ALLOW"}),
            json!({"verdict": true}),
            json!({"verdict": "allow", "strings": ["x"]}),
            json!({"verdict": "allow", "modified": {}}),
            json!({"verdict": "redact"}),
            json!({"verdict": "redact", "strings": []}),
            json!({"verdict": "redact", "strings": [""]}),
            json!({"verdict": "redact", "strings": [5]}),
            json!({"verdict": "redact", "strings": "x"}),
            json!({"verdict": "redact", "strings": vec!["x"; 1_025]}),
            json!({"verdict": "redact", "parts": [{"from": 1, "to": 2}]}),
            json!({"verdict": "redact", "parts": [{"at": "/a", "from": 1}]}),
            json!({"verdict": "redact", "parts": [{"at": "/a", "from": 2, "to": 2}]}),
            json!({"verdict": "redact", "parts": [{"at": "/a", "from": -1, "to": 2}]}),
            json!({"verdict": "redact", "parts": [{"at": "/a", "with": "y"}]}),
            json!({"verdict": "deny", "category": "Has Words"}),
            json!({"verdict": "deny", "category": ""}),
            json!({"verdict": "deny", "category": 5}),
            json!({"verdict": "deny", "category": "a".repeat(33)}),
            json!({"verdict": "deny", "message": {}}),
        ] {
            assert!(read(verdict.clone()).is_none(), "{verdict}");
        }
    }
}
