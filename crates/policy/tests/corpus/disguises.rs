//! Different encodings of the same text, to evade a simple scan.

use failwell_policy::guard::Category;
use serde_json::json;

/// A line in every applicable encoding, each as a JSON document.
pub(crate) fn all(category: Category, text: &str) -> Vec<(&'static str, String)> {
    let around = format!("before {text} after");
    let mut all = vec![
        ("plain", json!({"a": text}).to_string()),
        ("in a sentence", json!({"result": [{"text": around}]}).to_string()),
        ("on a line of its own", json!({"text": format!("first\n{text}\nlast")}).to_string()),
        ("as a key", json!({text: true, "other": {text: 1}}).to_string()),
        ("all escaped", format!(r#"{{"a": "{}"}}"#, escaped(text, "\\"))),
        ("escaped twice", format!(r#"{{"a": "{}"}}"#, escaped(text, "\\\\"))),
        ("JSON in a string", json!({"text": json!({"inner": text}).to_string()}).to_string()),
        ("base64 in data", json!({"type": "image", "data": base64(&around)}).to_string()),
        ("base64 in a sentence", json!({"text": format!("see {} there", base64(&around))}).to_string()),
        ("base64url in a sentence", json!({"text": format!("see {} there", base64url(&around))}).to_string()),
        ("base64 after a slash", json!({"text": format!("https://h/x/{}", base64url(&around))}).to_string()),
        ("base64 twice", json!({"blob": base64(&base64(&around))}).to_string()),
        (
            "base64 in lines",
            json!({"data": in_lines(&base64(&format!("{}{around}", "quiet ".repeat(20))))}).to_string(),
        ),
        ("base64 as a key", json!({base64(&around): 1}).to_string()),
    ];
    if text.is_ascii() {
        all.extend(codes(&around));
    }
    if category != Category::HiddenText {
        all.extend([
            ("zero width", json!({"a": between(&around, "\u{200b}")}).to_string()),
            ("soft hyphens", json!({"a": between(&around, "\u{ad}")}).to_string()),
            ("byte order marks, escaped", ascii(&json!({"a": between(&around, "\u{feff}")}).to_string())),
            ("full width", json!({"a": around.chars().map(full_width).collect::<String>()}).to_string()),
            ("look-alikes", json!({"a": around.chars().map(look_alike).collect::<String>()}).to_string()),
            (
                "look-alikes, escaped",
                ascii(&json!({"a": around.chars().map(look_alike).collect::<String>()}).to_string()),
            ),
            (
                "mathematical letters",
                json!({"a": around.chars().map(mathematical).collect::<String>()}).to_string(),
            ),
            (
                "base64 of look-alikes",
                json!({"a": base64(&around.chars().map(look_alike).collect::<String>())}).to_string(),
            ),
        ]);
    }
    all
}

/// Codes of single bytes.
fn codes(text: &str) -> Vec<(&'static str, String)> {
    let bytes = |one: fn(u8) -> String, between: &str| {
        json!({"text": text.bytes().map(one).collect::<Vec<_>>().join(between)}).to_string()
    };
    let hex = |byte| format!("{byte:02x}");
    vec![
        ("hexadecimal", bytes(hex, "")),
        ("hexadecimal, capitals", bytes(|byte| format!("{byte:02X}"), "")),
        (
            "hexadecimal after 0x",
            json!({"a": format!("0x{}", text.bytes().map(hex).collect::<String>())}).to_string(),
        ),
        ("hexadecimal with colons", bytes(hex, ":")),
        ("hexadecimal with hyphens", bytes(hex, "-")),
        ("hexadecimal with underscores", bytes(hex, "_")),
        ("hexadecimal with spaces", bytes(hex, " ")),
        ("hexadecimal as an array of a program", bytes(|byte| format!("0x{byte:02x}"), ", ")),
        ("percent", bytes(|byte| format!("%{byte:02X}"), "")),
        ("entities", bytes(|byte| format!("&#{byte};"), "")),
        ("hexadecimal entities", bytes(|byte| format!("&#x{byte:x};"), "")),
        ("escapes of a program", bytes(|byte| format!("\\x{byte:02x}"), "")),
        (
            "base64 of hexadecimal",
            json!({"a": base64(&text.bytes().map(hex).collect::<String>())}).to_string(),
        ),
    ]
}

fn between(text: &str, what: &str) -> String {
    text.chars().map(|c| format!("{c}{what}")).collect()
}

fn escaped(text: &str, slash: &str) -> String {
    let mut units = [0; 2];
    text.chars()
        .flat_map(|c| c.encode_utf16(&mut units).to_vec())
        .map(|unit| format!("{slash}u{unit:04x}"))
        .collect()
}

/// Escapes every character outside of ASCII.
fn ascii(json: &str) -> String {
    json.chars().map(|c| if c.is_ascii() { c.to_string() } else { escaped(&c.to_string(), "\\") }).collect()
}

fn full_width(c: char) -> char {
    if c.is_ascii_graphic() { char::from_u32(u32::from(c) + 0xfee0).expect("a character") } else { c }
}

fn mathematical(c: char) -> char {
    let code = match c {
        'A'..='Z' => 0x1d5d4 + u32::from(c) - 65,
        'a'..='z' => 0x1d5ee + u32::from(c) - 97,
        '0'..='9' => 0x1d7ec + u32::from(c) - 48,
        other => u32::from(other),
    };
    char::from_u32(code).expect("a character")
}

fn look_alike(c: char) -> char {
    let pairs = "aаeеoоpрcсxхyуiіjјsѕAАBВCСEЕHНKКMМOОPРTТXХ-‐";
    let all: Vec<char> = pairs.chars().collect();
    all.chunks(2).find(|pair| pair[0] == c).map_or(c, |pair| pair[1])
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

pub(crate) fn base64(text: &str) -> String {
    let mut code = encode(text, STANDARD);
    while !code.len().is_multiple_of(4) {
        code.push('=');
    }
    code
}

pub(crate) fn base64url(text: &str) -> String {
    encode(text, URL)
}

fn encode(text: &str, alphabet: &[u8; 64]) -> String {
    let mut code = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        (0..=chunk.len())
            .for_each(|place| code.push(char::from(alphabet[(bits >> (18 - 6 * place) & 63) as usize])));
    }
    code
}

fn in_lines(code: &str) -> String {
    code.as_bytes()
        .chunks(76)
        .map(|line| std::str::from_utf8(line).expect("ASCII"))
        .collect::<Vec<_>>()
        .join("\n")
}
