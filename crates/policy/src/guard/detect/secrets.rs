//! Secrets. One search finds every literal that a secret can begin with, and every name that announces one.
//! Only the places of literals are looked at closely.

mod assignments;
pub(in crate::guard) mod credentials;
mod dotted;
pub(in crate::guard) mod pem;
mod settings;
mod shape;
#[cfg(test)]
mod shape_samples;
mod shapes;

use std::collections::BTreeMap;

use memchr::memmem::{self, Finder};

use self::assignments::{SETTINGS, SecretName};
use self::pem::PemBlock;
use self::settings::ConnectionSettings;
use self::shape::ShapeMatcher;
use self::shapes::SHAPES;
use super::anchors::AnchorSet;
use super::encoded::decode;
use super::pattern::{Span, before, is_token};
use crate::guard::category::Category;

/// What a literal announces.
#[derive(Debug, Clone, Copy)]
enum Anchor {
    /// A shape of the table, by its index, and its prefix as it must be written.
    Shape(usize, &'static str),
    Name(SecretName),
    /// A word of a connection string.
    Setting(usize),
    PrivateKey,
}

#[derive(Debug)]
pub(in crate::guard) struct SecretDetector {
    literals: AnchorSet,
    /// The meanings of each literal.
    anchors: Vec<Vec<Anchor>>,
    /// Prefixes that are too short for the common search, and their shapes.
    short: Vec<(usize, Finder<'static>)>,
}

/// The most shapes of one kind that are tried in one run of characters. A run of nothing but literals would
/// otherwise be decoded once per literal.
const MOST_TRIES: usize = 4;
/// A longer run is taken for several.
const A_RUN: usize = 256;

/// A run of base64 in which tokens were tried.
#[derive(Debug, Clone, Copy, Default)]
struct TriedRun {
    start: usize,
    /// The place up to which the run is known.
    seen: usize,
    count: usize,
}

impl SecretDetector {
    pub(in crate::guard) fn new() -> SecretDetector {
        let mut short = Vec::new();
        let mut anchors: BTreeMap<String, Vec<Anchor>> = BTreeMap::new();
        let mut add = |literal: String, anchor| anchors.entry(literal).or_default().push(anchor);
        for (index, shape) in SHAPES.iter().enumerate() {
            for prefix in shape.prefixes {
                match prefix.len() < AnchorSet::SHORTEST {
                    true => short.push((index, Finder::new(*prefix))),
                    false => add(prefix.to_string(), Anchor::Shape(index, prefix)),
                }
            }
        }
        for name in SecretName::ALL {
            name.words().iter().for_each(|word| add(word.to_string(), Anchor::Name(name)));
        }
        for (index, word) in SETTINGS.iter().enumerate() {
            add(word.to_string(), Anchor::Setting(index));
        }
        pem::MARKS.iter().for_each(|mark| add(mark.to_string(), Anchor::PrivateKey));
        let (literals, anchors): (Vec<String>, _) = anchors.into_iter().unzip();
        SecretDetector { literals: AnchorSet::new(literals), anchors, short }
    }

    /// Returns true if a text may hold a secret.
    pub(in crate::guard) fn may_match(&self, text: &[u8]) -> bool {
        let mut short = self.short.iter().filter_map(|(index, prefix)| Some((SHAPES.get(*index)?, prefix)));
        self.literals.is_match(text)
            || dotted::may_be_in(text)
            || short.any(|(shape, prefix)| shape.places(prefix, text).next().is_some())
    }

    /// Finds secrets. Returns whether a private key continues after the text.
    pub(in crate::guard) fn find(&self, text: &[u8], wanted: u64, spans: &mut Vec<Span>) -> PemBlock {
        let mut scan = SecretScan {
            text,
            wanted,
            spans,
            shapes: ShapeMatcher::new(text),
            settings: ConnectionSettings::new(text),
            has_private_key: false,
            tries: TriedRun::default(),
            done: 0,
        };
        for found in self.literals.find_all(text) {
            for anchor in self.anchors.get(found.literal).into_iter().flatten() {
                scan.anchor(*anchor, found.start, found.end);
            }
        }
        for (index, prefix) in &self.short {
            let places = SHAPES.get(*index).into_iter().flat_map(|shape| shape.places(prefix, text));
            places.for_each(|start| scan.shape(*index, start, start + prefix.needle().len()));
        }
        scan.finish()
    }
}

struct SecretScan<'t, 's> {
    text: &'t [u8],
    wanted: u64,
    spans: &'s mut Vec<Span>,
    shapes: ShapeMatcher<'t>,
    settings: ConnectionSettings<'t>,
    has_private_key: bool,
    tries: TriedRun,
    /// The end of the last token that was found.
    done: usize,
}

impl SecretScan<'_, '_> {
    fn wants(&self, category: Category) -> bool {
        self.wanted & category.bit() != 0
    }

    fn found(&mut self, found: Option<(usize, usize)>, category: Category) {
        if let Some((start, end)) = found {
            self.spans.push(Span { start, end, category });
        }
    }

    fn anchor(&mut self, anchor: Anchor, start: usize, end: usize) {
        match anchor {
            Anchor::Shape(index, prefix) => {
                if self.text.get(start..).is_some_and(|rest| rest.starts_with(prefix.as_bytes())) {
                    self.shape(index, start, start + prefix.len());
                }
            }
            Anchor::Name(name) => self.name(name, start, end),
            Anchor::Setting(word) => self.settings.note(start, word),
            Anchor::PrivateKey => self.has_private_key = true,
        }
    }

    fn shape(&mut self, index: usize, start: usize, end: usize) {
        let Some(shape) = SHAPES.get(index).filter(|shape| self.wants(shape.category)) else { return };
        if shape.category == Category::Jwt && !self.may_try(start) {
            return;
        }
        let found = self.shapes.find(shape, start, end);
        self.found(found, shape.category);
        self.done = found.map_or(self.done, |(_, end)| end.max(self.done));
    }

    /// Counts the tokens that were tried since the last character outside of base64.
    fn may_try(&mut self, start: usize) -> bool {
        let between = self.text.get(self.tries.seen..start).unwrap_or_default();
        let is_new = start > self.tries.start + A_RUN || between.iter().any(|byte| !is_token(*byte));
        self.tries = match is_new {
            true => TriedRun { start, seen: start, count: 1 },
            false => TriedRun { seen: start, count: self.tries.count + 1, ..self.tries },
        };
        start >= self.done && self.tries.count <= MOST_TRIES
    }

    fn name(&mut self, name: SecretName, start: usize, end: usize) {
        match name {
            SecretName::Secret => {
                if self.wants(Category::AwsSecretKey) {
                    self.found(assignments::aws_secret(self.text, start, end), Category::AwsSecretKey);
                }
                self.credential(name, start, end);
            }
            SecretName::Password => {
                if self.wants(Category::ConnectionString) {
                    self.settings.note_password(start, end);
                }
                self.credential(name, start, end);
            }
            SecretName::Key => self.credential(name, start, end),
            SecretName::Bearer if self.wants(Category::Credential) => {
                self.found(assignments::bearer(self.text, start, end), Category::Credential);
            }
            SecretName::Basic if self.wants(Category::Credential) => {
                self.found(assignments::basic(self.text, start, end), Category::Credential);
            }
            SecretName::Bearer | SecretName::Basic => {}
        }
    }

    fn credential(&mut self, name: SecretName, start: usize, end: usize) {
        if self.wants(Category::Credential) {
            self.found(assignments::credential(self.text, name, start, end), Category::Credential);
        }
    }

    fn finish(self) -> PemBlock {
        let SecretScan { text, wanted, spans, settings, has_private_key, .. } = self;
        settings.find(spans);
        if wanted & Category::ServiceKey.bit() != 0 {
            dotted::find(text, spans);
        }
        match has_private_key && wanted & Category::PrivateKey.bit() != 0 {
            true => pem::find(text, spans),
            false => PemBlock::Closed,
        }
    }
}

/// The forty characters after an access key.
pub(super) fn aws_pair(text: &[u8], _: usize, end: usize) -> Option<(usize, usize)> {
    last_forty(text, end)
}

/// Accepts forty characters that end at `end`, if they look like a secret access key.
pub(super) fn last_forty(text: &[u8], end: usize) -> Option<(usize, usize)> {
    let from = end.checked_sub(40)?;
    let follows = text.get(end).is_some_and(|byte| is_token(*byte) || *byte == b'=');
    (!follows && is_mixed(text.get(from..end)?)).then_some((from, end))
}

/// Returns true if a text has the form of an AWS secret access key.
pub(in crate::guard) fn is_aws_secret(text: &[u8]) -> bool {
    text.len() == 40
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+'))
        && is_mixed(text)
}

/// Returns true if a member name announces an AWS secret access key.
pub(in crate::guard) fn names_aws_secret(name: &[u8]) -> bool {
    let may_be = name.windows(6).any(|part| part.eq_ignore_ascii_case(b"secret"));
    if !may_be {
        return false;
    }
    let plain: Vec<u8> =
        name.iter().take(64).filter(|b| b.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    ["secretaccesskey", "awssecret", "secretkey"]
        .iter()
        .any(|word| memmem::find(&plain, word.as_bytes()).is_some())
}

/// Requires both cases and a digit or sign. A hash or a word of forty characters lacks one of them.
fn is_mixed(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_uppercase)
        && text.iter().any(u8::is_ascii_lowercase)
        && text.iter().any(|byte| !byte.is_ascii_alphabetic())
}

/// Requires two digits: a name in a program rarely has them.
pub(super) fn with_digits(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let digits = text.get(start..end)?.iter().filter(|byte| byte.is_ascii_digit()).take(2).count();
    (digits == 2).then_some((start, end))
}

/// Confirms that the decoded header names an algorithm.
pub(super) fn first_jwt(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    const HEADER: usize = 1_024;
    let near = text.get(start..end.min(start + HEADER))?;
    let mut header = Vec::new();
    decode(near.split(|byte| *byte == b'.').next()?, 0, &mut header);
    let named = memmem::find(&header, b"\"alg\"").is_some() || memmem::find(&header, b"\"enc\"").is_some();
    named.then_some((start, end))
}

/// The characters of a set before a position, at most `most`.
fn run_before(text: &[u8], at: usize, most: usize, is_part: fn(&u8) -> bool) -> usize {
    text.get(at.saturating_sub(most)..at).unwrap_or_default().iter().rev().take_while(|b| is_part(b)).count()
}

/// Telegram: the number of the bot stands before the literal.
pub(super) fn after_digits(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let digits = run_before(text, start, 12, u8::is_ascii_digit);
    ((8..=10).contains(&digits)).then_some((start - digits, end))
}

/// Mailchimp: a hash stands before the data centre.
pub(super) fn hash_before(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    (run_before(text, start, 33, u8::is_ascii_hexdigit) == 32).then(|| (start - 32, end))
}

/// Azure: three characters and a digit before the literal.
pub(super) fn azure_secret(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let lead = text.get(start.checked_sub(4)?..start)?;
    let fits = lead.iter().all(u8::is_ascii_alphanumeric) && lead.last().is_some_and(u8::is_ascii_digit);
    let free = before(text, start - 4).is_none_or(|byte| !is_token(*byte));
    (fits && free).then_some((start - 4, end))
}

/// Azure DevOps: the literal stands near the end of a long token.
pub(super) fn azure_token(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let lead = run_before(text, start, 80, u8::is_ascii_alphanumeric);
    ((70..=78).contains(&lead)).then_some((start - lead, end))
}

/// Terraform: fourteen characters before the literal.
pub(super) fn terraform_token(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let lead = run_before(text, start, 20, u8::is_ascii_alphanumeric);
    (lead >= 14).then_some((start - lead, end))
}

/// Returns false for placeholders and masked values.
pub(in crate::guard) fn is_password(text: &[u8]) -> bool {
    let masked = text.iter().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_'));
    !masked && !is_placeholder(text)
}

/// Returns true for a text that a program replaces: `${NAME}`, `$NAME`, `%s`, `%NAME%`, `{name}`, `<name>`,
/// `[redacted]`. A password may begin with any of these signs.
pub(super) fn is_placeholder(text: &[u8]) -> bool {
    let named = |name: &[u8]| {
        !name.is_empty()
            && name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b' ' | b':'))
    };
    let within = |open: &[u8], close: &[u8]| {
        text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).is_some()
    };
    match text.first() {
        None => true,
        Some(b'$') => {
            let name = text.get(1..).unwrap_or_default();
            let upper = name.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
            let plain = name.iter().all(|b| b.is_ascii_alphabetic() || *b == b'_');
            matches!(name.first(), None | Some(b'{' | b'(')) || upper || plain
        }
        Some(b'%') => {
            let rest = text.get(1..).unwrap_or_default();
            matches!(rest, b"s" | b"d" | b"v" | b"r" | b"q" | b"@")
                || rest.starts_with(b"(")
                || within(b"%", b"%")
        }
        Some(b'{') => {
            within(b"{{", b"}}")
                || within(b"{", b"}") && named(text.get(1..text.len() - 1).unwrap_or_default())
        }
        Some(b'<') => within(b"<", b">"),
        // Also the beginning of our own label, whose space ends the text.
        Some(b'[') => within(b"[", b"]") || text.starts_with(b"[redacted"),
        Some(_) => false,
    }
}
