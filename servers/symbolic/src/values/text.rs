//! Python's notation of strings and floats.

/// The Rust string of these code points. `None` if one is a lone surrogate.
pub(crate) fn to_string(points: &[u32]) -> Option<String> {
    points.iter().map(|point| char::from_u32(*point)).collect()
}

/// `repr` of a string.
pub(crate) fn repr(points: &[u32]) -> String {
    let single = points.contains(&39);
    let double = points.contains(&34);
    let quote = if single && !double { '"' } else { '\'' };
    let mut out = String::with_capacity(points.len() + 2);
    out.push(quote);
    for point in points {
        match char::from_u32(*point) {
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\\') => out.push_str("\\\\"),
            Some(found) if found == quote => {
                out.push('\\');
                out.push(found);
            }
            Some(found @ ' '..='~') => out.push(found),
            Some(found) if *point >= 0xA1 && *point != 0xAD && is_plain(found) => out.push(found),
            _ => escape(&mut out, *point),
        }
    }
    out.push(quote);
    out
}

/// `repr` of a string, if it is certain which characters CPython treats as printable.
pub(crate) fn exact_repr(points: &[u32]) -> Option<String> {
    let is_certain = |point: &u32| match char::from_u32(*point) {
        None => true,
        Some(found) => *point < 0x250 || (u32::from(found) < 0x2000 && found.is_alphanumeric()),
    };
    points.iter().all(is_certain).then(|| repr(points))
}

fn escape(out: &mut String, point: u32) {
    let text = match point {
        0..=0xFF => format!("\\x{point:02x}"),
        0x100..=0xFFFF => format!("\\u{point:04x}"),
        _ => format!("\\U{point:08x}"),
    };
    out.push_str(&text);
}

/// Letters and digits are printable in Python too. All other characters are escaped, which evaluates to the
/// same text.
fn is_plain(found: char) -> bool {
    u32::from(found) < 0x250 || (u32::from(found) < 0x2000 && found.is_alphanumeric())
}

/// `repr` of bytes.
pub(crate) fn bytes_repr(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&39) && !bytes.contains(&34) { '"' } else { '\'' };
    let mut out = String::from("b");
    out.push(quote);
    for byte in bytes {
        match char::from(*byte) {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            found if found == quote => {
                out.push('\\');
                out.push(found);
            }
            found @ ' '..='~' => out.push(found),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push(quote);
    out
}

/// `repr` of a float: the shortest digits that round-trip, in Python's layout.
pub(crate) fn float_repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let text = format!("{value:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') { plain } else { format!("{plain}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
