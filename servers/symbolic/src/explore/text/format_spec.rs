//! Format specifications of known numbers.

use num_bigint::BigInt;
use num_traits::Signed;

/// A parsed specification: `[[fill]align][sign][#][0][width][,][.precision][type]`.
#[derive(Debug)]
pub(crate) struct FormatSpec {
    pub(crate) fill: char,
    pub(crate) align: Option<char>,
    pub(crate) sign: Option<char>,
    pub(crate) alternate: bool,
    pub(crate) width: usize,
    pub(crate) comma: Option<char>,
    pub(crate) precision: Option<usize>,
    pub(crate) kind: Option<char>,
}

impl FormatSpec {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut chars = text.chars().peekable();
        let mut spec = Self {
            fill: ' ',
            align: None,
            sign: None,
            alternate: false,
            width: 0,
            comma: None,
            precision: None,
            kind: None,
        };
        let mut ahead = text.chars();
        let (first, second) = (ahead.next(), ahead.next());
        if let Some(align @ ('<' | '>' | '=' | '^')) = second {
            spec.fill = first?;
            spec.align = Some(align);
            chars.next();
            chars.next();
        } else if let Some(align @ ('<' | '>' | '=' | '^')) = first {
            spec.align = Some(align);
            chars.next();
        }
        spec.sign = chars.next_if(|c| matches!(c, '+' | '-' | ' '));
        spec.alternate = chars.next_if_eq(&'#').is_some();
        if chars.next_if_eq(&'0').is_some() && spec.align.is_none() {
            spec.fill = '0';
            spec.align = Some('=');
        }
        spec.width = number(&mut chars).unwrap_or(0);
        spec.comma = chars.next_if(|c| matches!(c, ',' | '_'));
        if chars.next_if_eq(&'.').is_some() {
            spec.precision = Some(number(&mut chars)?);
        }
        spec.kind = chars.next();
        let is_sane = spec.width < 10_000 && spec.precision.unwrap_or(0) < 400;
        (chars.next().is_none() && is_sane).then_some(spec)
    }

    /// Whether it has only a width and an alignment.
    pub(crate) fn is_width_only(&self) -> bool {
        self.sign.is_none()
            && !self.alternate
            && self.comma.is_none()
            && self.precision.is_none()
            && matches!(self.kind, None | Some('d'))
            && self.align != Some('=')
    }
}

fn number(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<usize> {
    let mut digits = String::new();
    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    digits.parse().ok()
}

/// The padding on each side.
pub(crate) fn pad(length: usize, spec: &FormatSpec, default: char) -> (usize, usize) {
    let missing = spec.width.saturating_sub(length);
    match spec.align.unwrap_or(default) {
        '<' => (0, missing),
        '^' => (missing / 2, missing - missing / 2),
        _ => (missing, 0),
    }
}

fn finish(negative: bool, prefix: &str, digits: &str, spec: &FormatSpec) -> String {
    let sign = match (negative, spec.sign) {
        (true, _) => "-",
        (false, Some('+')) => "+",
        (false, Some(' ')) => " ",
        _ => "",
    };
    let length = sign.len() + prefix.len() + digits.chars().count();
    if spec.align == Some('=') {
        let fill: String = std::iter::repeat_n(spec.fill, spec.width.saturating_sub(length)).collect();
        return format!("{sign}{prefix}{fill}{digits}");
    }
    let (left, right) = pad(length, spec, '>');
    let fill = |count| std::iter::repeat_n(spec.fill, count).collect::<String>();
    format!("{}{sign}{prefix}{digits}{}", fill(left), fill(right))
}

fn group(digits: &str, size: usize, separator: char) -> String {
    let count = digits.chars().count();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (count - index).is_multiple_of(size) {
            out.push(separator);
        }
        out.push(digit);
    }
    out
}

pub(crate) fn int(value: &BigInt, spec: &FormatSpec) -> Option<String> {
    let magnitude = value.magnitude();
    let (digits, prefix, size) = match spec.kind {
        None | Some('d' | 'n') => (magnitude.to_str_radix(10), "", 3),
        Some('b') => (magnitude.to_str_radix(2), "0b", 4),
        Some('o') => (magnitude.to_str_radix(8), "0o", 4),
        Some('x') => (magnitude.to_str_radix(16), "0x", 4),
        Some('X') => (magnitude.to_str_radix(16).to_uppercase(), "0X", 4),
        Some('c') => return None,
        _ => return None,
    };
    if spec.comma.is_some() && spec.fill == '0' && spec.align == Some('=') {
        return None;
    }
    let digits = spec.comma.map_or(digits.clone(), |separator| group(&digits, size, separator));
    let prefix = if spec.alternate { prefix } else { "" };
    Some(finish(value.is_negative(), prefix, &digits, spec))
}

pub(crate) fn float(value: f64, spec: &FormatSpec) -> Option<String> {
    if spec.alternate || (spec.comma.is_some() && spec.fill == '0') {
        return None;
    }
    let negative = value.is_sign_negative() && !value.is_nan();
    let magnitude = value.abs();
    if !value.is_finite() {
        let text = if value.is_nan() { "nan" } else { "inf" };
        return matches!(spec.kind, Some('f' | 'e' | 'g') | None).then(|| finish(negative, "", text, spec));
    }
    let precision = spec.precision.unwrap_or(6);
    let digits = match spec.kind {
        Some('f' | 'F') => format!("{magnitude:.precision$}"),
        Some('%') => format!("{:.precision$}%", magnitude * 100.0),
        Some('e') => exponent(magnitude, precision),
        Some('g') => general(magnitude, precision.max(1)),
        None if spec.precision.is_none() => crate::values::text::float_repr(magnitude),
        _ => return None,
    };
    let digits = match (spec.comma, digits.split_once('.')) {
        (None, _) => digits,
        (Some(separator), Some((whole, rest))) => format!("{}.{rest}", group(whole, 3, separator)),
        (Some(separator), None) => group(&digits, 3, separator),
    };
    Some(finish(negative, "", &digits, spec))
}

fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let Some((mantissa, power)) = text.split_once('e') else { return text };
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", power.abs())
}

fn general(value: f64, precision: usize) -> String {
    let rounded = exponent(value, precision - 1);
    let Some((mantissa, power)) = rounded.split_once('e') else { return rounded };
    let power: i64 = power.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if power < -4 || power >= i64::try_from(precision).unwrap_or(i64::MAX) {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), power.abs());
    }
    let places = usize::try_from(i64::try_from(precision).unwrap_or(0) - 1 - power).unwrap_or(0);
    trim(&format!("{value:.places$}"))
}
