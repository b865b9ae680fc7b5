//! Personal data.

mod cards;
mod email;
mod mac_address;

use std::net::Ipv6Addr;

use memchr::memchr_iter;

use super::checks;
use super::pattern::{Confirm, PatternRow, Span, before};
use crate::guard::category::Category;
use crate::guard::settings::Sensitivity::Relaxed;

const fn row(category: Category, pattern: &'static str, confirm: Confirm) -> PatternRow {
    PatternRow { category, pattern, confirm, from: Relaxed }
}

macro_rules! confirmed {
    ($($name:ident by $rule:path;)*) => {$(
        fn $name(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
            $rule(text.get(start..end)?).then_some((start, end)).and_then(|_| stands_alone(text, start, end))
        }
    )*};
}

confirmed! {
    us_ssn by checks::us_ssn;
    uk_nino by checks::uk_nino;
    ca_sin by checks::ca_sin;
    es_dni by checks::es_dni;
    it_codice_fiscale by checks::it_codice_fiscale;
    fr_nir by checks::fr_nir;
    br_cpf by checks::br_cpf;
    in_aadhaar by checks::in_aadhaar;
    iban by checks::iban;
    national by is_national;
}

/// A national phone number: ten to twelve digits, in groups.
fn is_national(text: &[u8]) -> bool {
    (10..=12).contains(&text.iter().filter(|byte| byte.is_ascii_digit()).count())
}

/// The number behind its name.
fn named(
    text: &[u8],
    start: usize,
    end: usize,
    length: usize,
    rule: fn(&[u8]) -> bool,
) -> Option<(usize, usize)> {
    let from = end.checked_sub(length).filter(|from| *from > start)?;
    rule(text.get(from..end)?).then_some((from, end)).and_then(|_| stands_alone(text, from, end))
}

fn named_ssn(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    named(text, start, end, 9, checks::us_ssn)
}

fn named_cpf(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    named(text, start, end, 11, checks::br_cpf)
}

pub(in crate::guard) const ROWS: &[PatternRow] = &[
    row(Category::Phone, r"\(?[2-9][0-9]{2}\)?[ .-][2-9][0-9]{2}[ .-][0-9]{4}", phone),
    row(
        Category::Phone,
        r"\+[1-9][0-9]{0,2}[ .-]?(?:\([0-9]{1,5}\)[ .-]?)?[0-9]{1,5}(?:[ .-]?[0-9]{2,5}){1,5}",
        international_number,
    ),
    row(
        Category::IpAddress,
        r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])",
        ipv4,
    ),
    row(Category::UsSsn, "[0-9]{3}(?:-[0-9]{2}-| [0-9]{2} )[0-9]{4}", us_ssn),
    row(
        Category::UkNino,
        r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]",
        uk_nino,
    ),
    row(Category::CaSin, "[0-9]{3}(?: [0-9]{3} |-[0-9]{3}-)[0-9]{3}", ca_sin),
    row(Category::EsDni, "(?:[0-9]{8}|[XYZ][0-9]{7})-?[A-Z]", es_dni),
    row(
        Category::ItCodiceFiscale,
        r"\b[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]",
        it_codice_fiscale,
    ),
    row(
        Category::FrNir,
        "[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]|[2-9][0-9]) ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}",
        fr_nir,
    ),
    row(Category::UsSsn, r"(?i:\bssn|social security(?: number| no\.?)?)[^0-9\n]{1,8}[0-9]{9}", named_ssn),
    row(Category::BrCpf, r"(?i:\bcpf)[^0-9\n]{1,8}[0-9]{11}", named_cpf),
    row(Category::Iban, r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?", iban),
    row(
        Category::Phone,
        r"(?:\(0[1-9][0-9]{1,4}\)|0[1-9][0-9]{1,4})[ /-][0-9]{3,8}(?:[ -][0-9]{2,6}){0,2}",
        national,
    ),
    row(Category::Phone, r"0[1-9](?: [0-9]{2}){4}", national),
    row(Category::BrCpf, r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", br_cpf),
    row(Category::InAadhaar, "[2-9][0-9]{3}(?: [0-9]{4} |-[0-9]{4}-)[0-9]{4}", in_aadhaar),
];

/// Returns true if a text contains an at sign, at least four digits, two colons or five hyphens. All categories
/// need one of these.
pub(in crate::guard) fn may_be_in(text: &[u8]) -> bool {
    let count = |wanted: fn(&u8) -> bool| text.iter().filter(|byte| wanted(byte)).count();
    count(|byte| *byte == b'@') > 0
        || count(u8::is_ascii_digit) >= 4
        || count(|byte| *byte == b':') >= 2
        || count(|byte| *byte == b'-') >= 5
}

/// Parts of a text with enough adjacent digits for any pattern.
pub(in crate::guard) struct DigitRuns<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> DigitRuns<'a> {
    /// Maximum distance between two digits of one number.
    const GAP: usize = 4;
    /// Maximum length of a prefix or suffix of a number.
    const AROUND: usize = 24;
    /// Minimum number of digits of a number, IP addresses excluded.
    const LEAST: usize = 6;

    pub(in crate::guard) fn new(text: &'a [u8]) -> DigitRuns<'a> {
        DigitRuns { text, at: 0 }
    }
}

impl Iterator for DigitRuns<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            let first = self.at + self.text.get(self.at..)?.iter().position(u8::is_ascii_digit)?;
            let (mut last, mut digits, mut dots) = (first, 0, 0);
            for (offset, byte) in self.text.get(first..)?.iter().enumerate() {
                if first + offset - last > Self::GAP {
                    break;
                }
                digits += usize::from(byte.is_ascii_digit());
                dots += usize::from(*byte == b'.');
                if byte.is_ascii_digit() {
                    last = first + offset;
                }
            }
            self.at = last + 1;
            if digits >= Self::LEAST || digits >= 4 && dots >= 3 {
                let to = self.text.len().min(last + 1 + Self::AROUND);
                return Some((first.saturating_sub(Self::AROUND), to));
            }
        }
    }
}

/// Finds the categories that need more than a pattern.
pub(in crate::guard) fn find(text: &[u8], wanted: u64, spans: &mut Vec<Span>) {
    if Category::Email.bit() & wanted != 0 {
        email::find(text, spans);
    }
    if Category::CreditCard.bit() & wanted != 0 {
        cards::find(text, spans);
    }
    if Category::MacAddress.bit() & wanted != 0 {
        mac_address::find(text, spans);
    }
    if Category::IpAddress.bit() & wanted != 0 {
        ipv6(text, spans);
    }
}

/// Accepts a number that is not part of a word or of a longer number with separators.
fn stands_alone(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let wordy = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let joins = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b'-' | b'.' | b'/'));
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let left = joins(before(text, start)) && start >= 2 && digit(before(text, start - 1));
    let right = joins(text.get(end)) && digit(text.get(end + 1));
    (!wordy(before(text, start)) && !wordy(text.get(end)) && !left && !right).then_some((start, end))
}

fn phone(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let found = text.get(start..end)?;
    let brackets = |wanted: u8| found.iter().filter(|byte| **byte == wanted).count();
    // The country code may precede the number.
    let country = [b"+1 ".as_slice(), b"+1-", b"1-", b"1 ", b"1."]
        .iter()
        .find(|lead| text.get(..start).is_some_and(|left| left.ends_with(lead)))
        .map_or(0, |lead| lead.len());
    let begin = start - country;
    if brackets(b'(') != brackets(b')') {
        return None;
    }
    stands_alone(text, begin, end)
}

fn international_number(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let digits = text.get(start..end)?.iter().filter(|byte| byte.is_ascii_digit()).count();
    ((8..=15).contains(&digits)).then_some((start, end)).and_then(|_| stands_alone(text, start, end))
}

fn ipv4(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let found = text.get(start..end)?;
    // Loopback, unspecified and mask addresses identify no person.
    let is_reserved =
        found.starts_with(b"127.") || found.starts_with(b"0.") || found.starts_with(b"255.255.");
    let version = text.get(start.saturating_sub(8)..start)?.to_ascii_lowercase();
    let is_version = version.ends_with(b"v") || version.ends_with(b"version ") || version.ends_with(b"-");
    (!is_reserved && !is_version).then_some((start, end)).and_then(|_| stands_alone(text, start, end))
}

fn ipv6(text: &[u8], spans: &mut Vec<Span>) {
    let part = |byte: &&u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    let mut done = 0;
    for at in memchr_iter(b':', text) {
        if at < done {
            continue;
        }
        let from = at.saturating_sub(45).max(done);
        let left = text.get(from..at).unwrap_or_default().iter().rev().take_while(part).count();
        let right = text.get(at..).unwrap_or_default().iter().take(45).take_while(part).count();
        let (start, mut end) = (at - left, at + right);
        done = end;
        while end > start && matches!(before(text, end), Some(b'.')) {
            end -= 1;
        }
        if matches!(before(text, end), Some(b':')) && text.get(end.saturating_sub(2)) != Some(&b':') {
            end -= 1;
        }
        let found = text.get(start..end).unwrap_or_default();
        let address = std::str::from_utf8(found).ok().and_then(|text| text.parse::<Ipv6Addr>().ok());
        let is_routable = address.is_some_and(|address| !address.is_loopback() && !address.is_unspecified());
        let wordy =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if is_routable
            && found.iter().any(u8::is_ascii_digit)
            && !wordy(before(text, start))
            && !wordy(text.get(end))
        {
            spans.push(Span { start, end, category: Category::IpAddress });
        }
    }
}
