//! Parses the verdict of a custom guard: `allow`, `deny` or `redact`. Every other answer is invalid.

use failwell_fault::{Fault, Name, reason};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CustomVerdict {
    Allow,
    Deny {
        /// The category of the finding. Callers can see it.
        category: Name,
        /// Details, for the operator only.
        message: String,
    },
    /// The message may pass after redaction.
    Redact {
        category: Name,
        request: RedactionRequest,
    },
}

/// The parts of a message to redact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactionRequest {
    /// Texts to redact wherever they occur.
    pub strings: Vec<String>,
    /// Values to redact by position.
    pub parts: Vec<MessagePart>,
}

/// A position in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagePart {
    /// The JSON Pointer of the value.
    pub at: String,
    /// A byte range of the string at this position; `None` means the whole value.
    pub range: Option<(usize, usize)>,
}

/// Maximum length of a category in bytes.
const LONGEST_CATEGORY: usize = 32;
/// Maximum length of a message to the operator.
const LONGEST_MESSAGE: usize = 512;
/// Maximum number of texts, and of positions, in one verdict.
const MOST: usize = 1_024;

impl CustomVerdict {
    /// Parses a verdict. An invalid or contradictory verdict is a failure of the guard.
    pub fn parse(verdict: &Value) -> Result<CustomVerdict, Fault> {
        let members = verdict.as_object().ok_or_else(|| invalid_verdict("the verdict is no object"))?;
        for name in members.keys() {
            if !matches!(name.as_str(), "id" | "verdict" | "category" | "message" | "strings" | "parts") {
                return Err(invalid_verdict("the verdict has an unknown member"));
            }
        }
        let request = RedactionRequest { strings: strings(members)?, parts: parts(members)? };
        let takes_out = !request.strings.is_empty() || !request.parts.is_empty();
        match members.get("verdict").and_then(Value::as_str) {
            Some("allow") if takes_out => Err(invalid_verdict("it allows and takes out at once")),
            Some("allow") => Ok(CustomVerdict::Allow),
            // A denial stands even if the verdict also names parts to redact.
            Some("deny") => {
                Ok(CustomVerdict::Deny { category: category(members)?, message: message(members)? })
            }
            Some("redact") if !takes_out => Err(invalid_verdict("it takes nothing out")),
            Some("redact") => Ok(CustomVerdict::Redact { category: category(members)?, request }),
            _ => Err(invalid_verdict("`verdict` is none of allow, deny and redact")),
        }
    }
}

/// Reads the category. Callers see it, so it must be short and plain and cannot carry other content.
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
    named.ok_or_else(|| {
        invalid_verdict("`category` is not 1 to 32 of a-z, 0-9 and _, beginning with a letter")
    })
}

fn message(members: &Map<String, Value>) -> Result<String, Fault> {
    match members.get("message") {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.chars().take(LONGEST_MESSAGE).collect()),
        Some(_) => Err(invalid_verdict("`message` is no text")),
    }
}

fn list<'a>(members: &'a Map<String, Value>, name: &'static str) -> Result<&'a [Value], Fault> {
    match members.get(name) {
        None => Ok(&[]),
        Some(Value::Array(items)) if items.len() <= MOST => Ok(items),
        Some(_) => Err(invalid_verdict("`strings` or `parts` is no list, or has more than 1024 items")),
    }
}

fn strings(members: &Map<String, Value>) -> Result<Vec<String>, Fault> {
    let text = |item: &Value| item.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let texts: Option<Vec<String>> = list(members, "strings")?.iter().map(text).collect();
    texts.ok_or_else(|| invalid_verdict("`strings` holds something else than texts, or an empty one"))
}

fn parts(members: &Map<String, Value>) -> Result<Vec<MessagePart>, Fault> {
    let parts: Option<Vec<MessagePart>> = list(members, "parts")?.iter().map(part).collect();
    parts.ok_or_else(|| invalid_verdict("`parts` holds something else than {\"at\", \"from\", \"to\"}"))
}

fn part(item: &Value) -> Option<MessagePart> {
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
    Some(MessagePart { at, range })
}

/// The fault for an invalid verdict. The guard's own text stays out of the public sentence.
#[track_caller]
fn invalid_verdict(what: &'static str) -> Fault {
    Fault::new(&reason::POLICY_GUARD_FAILED).fact("why", "it gave no proper verdict").note("verdict", what)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{CustomVerdict, MessagePart};

    fn read(verdict: Value) -> Option<CustomVerdict> {
        CustomVerdict::parse(&verdict).ok()
    }

    #[test]
    fn the_three_verdicts() {
        assert_eq!(read(json!({"verdict": "allow"})), Some(CustomVerdict::Allow));
        let Some(CustomVerdict::Deny { category, message }) =
            read(json!({"id": 3, "verdict": "deny", "category": "invoice_2", "message": "row 5"}))
        else {
            panic!("no denial")
        };
        assert_eq!((category.as_str(), message.as_str()), ("invoice_2", "row 5"));
        let Some(CustomVerdict::Redact { category, request }) =
            read(json!({"verdict": "redact", "strings": ["x"],
            "parts": [{"at": "/a"}, {"at": "/b", "from": 1, "to": 3}]}))
        else {
            panic!("no redaction")
        };
        assert_eq!(category.as_str(), "custom");
        assert_eq!(request.strings, ["x"]);
        assert_eq!(request.parts[1], MessagePart { at: "/b".to_owned(), range: Some((1, 3)) });
    }

    #[test]
    fn a_denial_stays_one_whatever_else_is_said() {
        let both = read(json!({"verdict": "deny", "strings": ["x"]}));
        assert!(matches!(both, Some(CustomVerdict::Deny { .. })));
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
