use std::fmt;

/// A value that may appear in public text. There is no conversion from `String`: foreign text stays private.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// A count, a size or a limit.
    Unsigned(u64),
    /// A number that can be negative, such as an exit code.
    Signed(i64),
    /// A measurement.
    Number(f64),
    Flag(bool),
    /// A literal of this program.
    Word(&'static str),
    /// Literals of this program.
    Words(Vec<&'static str>),
    Name(Name),
    Names(Vec<Name>),
    /// Text that the caller itself sent.
    Echo(Echo),
}

macro_rules! fact_from {
    ($($from:ty => $variant:ident as $to:ty),* $(,)?) => {
        $(impl From<$from> for Fact {
            fn from(value: $from) -> Self {
                Fact::$variant(<$to>::from(value))
            }
        })*
    };
}

fact_from! {
    u64 => Unsigned as u64,
    u32 => Unsigned as u64,
    u16 => Unsigned as u64,
    i64 => Signed as i64,
    i32 => Signed as i64,
    f64 => Number as f64,
    bool => Flag as bool,
    &'static str => Word as &'static str,
    Vec<&'static str> => Words as Vec<&'static str>,
    Name => Name as Name,
    Vec<Name> => Names as Vec<Name>,
    Echo => Echo as Echo,
}

impl From<usize> for Fact {
    fn from(value: usize) -> Self {
        Fact::Unsigned(u64::try_from(value).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Unsigned(value) => write!(f, "{value}"),
            Fact::Signed(value) => write!(f, "{value}"),
            Fact::Number(value) => write!(f, "{value}"),
            Fact::Flag(value) => write!(f, "{value}"),
            Fact::Word(value) => f.write_str(value),
            Fact::Words(values) => f.write_str(&values.join(", ")),
            Fact::Name(value) => f.write_str(value.as_str()),
            Fact::Names(values) => {
                let texts: Vec<&str> = values.iter().map(Name::as_str).collect();
                f.write_str(&texts.join(", "))
            }
            Fact::Echo(value) => f.write_str(value.as_str()),
        }
    }
}

/// An identifier of this program or of a server's catalogue: letters, digits and `_ - . / :`, at most 128
/// characters. It cannot contain a sentence, a path with spaces or a control character.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Box<str>);

impl Name {
    const LONGEST: usize = 128;

    /// Checks a candidate. `None` if it is not an identifier.
    pub fn parse(candidate: &str) -> Option<Name> {
        let fits = !candidate.is_empty() && candidate.len() <= Self::LONGEST;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
        (fits && candidate.chars().all(plain)).then(|| Name(candidate.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Text of the caller, returned to the same caller only. It is shortened, and has no characters that could
/// forge a line, hide text or reorder it. Never create one from text of a child, an upstream or the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Echo(Box<str>);

impl Echo {
    const LONGEST: usize = 256;

    /// Sanitizes text of the caller.
    pub fn of_caller(text: &str) -> Echo {
        // A line break becomes a space, so that words stay separate. Redaction would not recognize two
        // secrets merged into one word.
        let shown = |c: char| match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => Some(' '),
            c if is_deceptive(c) => None,
            c => Some(c),
        };
        let mut kept: String = text.chars().filter_map(shown).take(Self::LONGEST).collect();
        if text.chars().nth(Self::LONGEST).is_some() {
            // A truncated secret would not be recognized either, so the last, incomplete word is removed.
            if let Some(end) = kept.rfind(' ') {
                kept.truncate(end);
            }
            kept.push('…');
        }
        Echo(kept.into_boxed_str())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Control, zero-width, direction-changing and other invisible characters. Tags (U+E0000…) and variation
/// selectors can hide whole sentences from a reader but not from a model.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}')
}

/// Replaces `{fact}` in a catalogue literal. A missing fact becomes an empty text.
pub(crate) fn fill(template: &'static str, facts: &[(&'static str, Fact)]) -> String {
    let mut text = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let Some((key, tail)) = after.split_once('}') else {
            rest = after;
            break;
        };
        if let Some((_, fact)) = facts.iter().find(|(name, _)| *name == key) {
            text.push_str(&fact.to_string());
        }
        rest = tail;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::{Echo, Fact, Name, fill};

    #[test]
    fn names_refuse_what_could_be_a_sentence() {
        for good in ["echo", "server__tool", "a.b/c:d-e", "X9"] {
            assert!(Name::parse(good).is_some(), "{good}");
        }
        for bad in ["", "two words", "line\nbreak", "quote\"", "ünï", &"x".repeat(129)] {
            assert!(Name::parse(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn echoes_cannot_forge_lines_or_hide_text() {
        assert_eq!(Echo::of_caller("a\nb\u{202E}c\u{200B}d").as_str(), "a bcd");
        assert_eq!(Echo::of_caller("a\u{E0069}\u{E0067}b\u{FE01}\u{E0150}c\u{AD}d").as_str(), "abcd");
        assert_eq!(Echo::of_caller("日本 é 🎉 \"quoted\"").as_str(), "日本 é 🎉 \"quoted\"");
        let long = Echo::of_caller(&"é".repeat(300));
        assert_eq!(long.as_str().chars().count(), 257);
        assert!(long.as_str().ends_with('…'));
        let words = Echo::of_caller(&format!("{} secret", "a".repeat(252)));
        assert_eq!(words.as_str(), format!("{}…", "a".repeat(252)), "no half of a word");
    }

    #[test]
    fn templates_take_facts_and_forget_missing_ones() {
        let facts = [("limit", Fact::from(5u64)), ("name", Fact::from("x"))];
        assert_eq!(fill("at most {limit} of {name}", &facts), "at most 5 of x");
        assert_eq!(fill("gone{nothing}", &facts), "gone");
        assert_eq!(fill("open {brace", &facts), "open brace");
    }
}
