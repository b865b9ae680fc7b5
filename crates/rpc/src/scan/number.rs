//! Numbers: the grammar, and the range of a double.

use super::{Syntax, byte};

/// Every integer with fewer digits is a finite double.
const SURELY_FINITE: usize = 309;

/// The end of the number that starts at `start`, and whether it is in range.
#[inline]
pub(crate) fn number(bytes: &[u8], start: usize, longest: usize) -> Result<(usize, bool), Syntax> {
    let first = start + usize::from(byte(bytes, start) == b'-');
    let mut at = match byte(bytes, first) {
        b'0' => first + 1,
        b'1'..=b'9' => skip_digits(bytes, first + 1),
        _ => return Err(Syntax(first)),
    };
    let whole = at - first;
    if byte(bytes, at) == b'.' {
        at = some_digits(bytes, at + 1)?;
    }
    let mut exponent = false;
    if matches!(byte(bytes, at), b'e' | b'E') {
        exponent = true;
        at += 1 + usize::from(matches!(byte(bytes, at + 1), b'+' | b'-'));
        at = some_digits(bytes, at)?;
    }
    let short = at - start <= longest;
    let finite = short && ((!exponent && whole < SURELY_FINITE) || is_finite(bytes, start, at));
    Ok((at, finite))
}

#[inline(always)]
fn skip_digits(bytes: &[u8], mut at: usize) -> usize {
    while byte(bytes, at).is_ascii_digit() {
        at += 1;
    }
    at
}

fn some_digits(bytes: &[u8], at: usize) -> Result<usize, Syntax> {
    let end = skip_digits(bytes, at);
    if end == at { Err(Syntax(at)) } else { Ok(end) }
}

#[cold]
fn is_finite(bytes: &[u8], start: usize, end: usize) -> bool {
    let text = bytes.get(start..end).and_then(|slice| std::str::from_utf8(slice).ok());
    text.and_then(|text| text.parse::<f64>().ok()).is_some_and(f64::is_finite)
}
