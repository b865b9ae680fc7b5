//! The spellings in which a secret may have been written down.

/// One spelling.
pub(super) struct Variant {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Every spelling of a text of letters and digits.
pub(super) fn of(text: &str) -> Vec<Variant> {
    let each = |name, spell: &dyn Fn(u8) -> String| Variant {
        name,
        bytes: text.bytes().map(spell).collect::<String>().into_bytes(),
    };
    let mut all = vec![
        Variant { name: "as it is", bytes: text.as_bytes().to_vec() },
        Variant { name: "in small letters", bytes: text.to_ascii_lowercase().into_bytes() },
        Variant { name: "in capitals", bytes: text.to_ascii_uppercase().into_bytes() },
        Variant { name: "backwards", bytes: text.bytes().rev().collect() },
        Variant { name: "as UTF-16", bytes: text.bytes().flat_map(|byte| [byte, 0]).collect() },
        each("percent-encoded", &|byte| format!("%{byte:02x}")),
        each("percent-encoded in capitals", &|byte| format!("%{byte:02X}")),
        each("with JSON escapes", &|byte| format!("\\u{byte:04x}")),
        each("with JSON escapes in capitals", &|byte| format!("\\u{byte:04X}")),
        each("with JSON escapes, twice", &|byte| format!("\\\\u{byte:04x}")),
        each("with character references", &|byte| format!("&#{byte};")),
        each("in hexadecimal", &|byte| format!("{byte:02x}")),
        each("in hexadecimal capitals", &|byte| format!("{byte:02X}")),
        each("as a list of numbers", &|byte| format!("{byte}, ")),
        each("as a short list of numbers", &|byte| format!("{byte},")),
    ];
    // The preceding bytes shift the encoding. Of each of the three shifts, this takes the part that does not depend on its
    // surroundings.
    for (shift, name) in
        ["as base64", "as base64, shifted", "as base64, shifted twice"].into_iter().enumerate()
    {
        let shifted = [&vec![0; shift], text.as_bytes()].concat();
        let whole = shifted.len() / 3 * 3;
        let code = base64(shifted.get(..whole).unwrap_or_default());
        let skipped = (shift * 8).div_ceil(6);
        all.push(Variant { name, bytes: code.get(skipped..).unwrap_or_default().to_vec() });
    }
    all
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const CODES: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let code =
        |bits: u32, place: u32| CODES.get((bits >> (18 - 6 * place) & 63) as usize).copied().unwrap_or(b'A');
    let chunk = |three: &[u8]| {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        [0, 1, 2, 3].map(|place| code(bits, place))
    };
    bytes.chunks_exact(3).flat_map(chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::{base64, of};

    #[test]
    fn base64_is_found_whatever_stands_before() {
        let secret = "x7Rk2mPq9WvL4tZs8NcY";
        assert_eq!(base64(b"hello world!"), b"aGVsbG8gd29ybGQh");
        for before in ["", "a", "ab", "abc", "token: "] {
            let mut text = format!("{before}{secret} and more");
            while text.len() % 3 != 0 {
                text.push('.');
            }
            let code = String::from_utf8(base64(text.as_bytes())).expect("text");
            let found = of(secret).into_iter().filter(|variant| variant.name.starts_with("as base64"));
            let found =
                found.filter(|variant| code.contains(&*String::from_utf8_lossy(&variant.bytes))).count();
            assert_eq!(found, 1, "{before:?}");
        }
    }
}
