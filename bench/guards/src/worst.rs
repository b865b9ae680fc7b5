//! Texts that look for trouble, by an ordinary text of the same size.

/// Lines of an ordinary large answer: logs, code, prose and data, with the words that guards look for and
/// nothing to find.
const ORDINARY: &str = concat!(
    "2026-07-14 09:31:07,412 INFO  [worker-3] order 48213 accepted in 35 ms (queue: 7, retries: 0)\n",
    "    let password = config.password_file()?; // the system reads it once, the user never sees it\n",
    "The report for week 27 lists 1,250 units in 14 boxes; see https://example.com/reports?id=42&page=3 for more.\n",
    "{\"id\": 10482, \"name\": \"bracket\", \"tags\": [\"steel\", \"m8\"], \"price\": 12.5, \"ratio\": -1}\n",
    "fn instructions(&self) -> Option<&str> { self.prompt.as_deref().filter(|text| !text.is_empty()) }\n",
    "Das System ist bereit \u{2013} na\u{ef}ve r\u{e9}sum\u{e9}s, 7 caf\u{e9}s, 12 \u{20ac}; C:\\temp\\new\\table.txt\n",
);

/// Units that are repeated. Each makes some part of a guard start work that leads to nothing.
pub(crate) const UNITS: &[&str] = &[
    "pwd=a;uid=", "password=$x;", "password: ", "Password = \"", "1 1 1 1 ", "4 4 4 4 ", "4111 ", "41-", "-1", "-1-", "+1 ", "1.1.1.", "12:",
    "x://a:", "x://a:b", "://", ":@", "a@", "a@b.", "@", "sk-", "sk-a", "eyJ", "eyJa.", "ghp_", "AKIA", "secret ", "secret_key=", "SG.", "-----BEGIN ",
    "PRIVATE KEY", "-----BEGIN PRIVATE KEY-----", "PuTTY-User-Key-File-", "Ab3+", "Ab3+/Cd4 ", "QUtJQQ", "\\u0061", "\\\\u0061", "\\\\n", "\\/", "\\", "\"",
    "%41", "%2", "&#65;", "&#x41;", "&amp;", "6768705f", "a b c d ", "ignore ", "ignore all ", "you are ", "you are now ", "system ", "### system ", "<|", "do not ",
    "from now on ", "act as ", "\u{200b}", "\u{ff41}", "\u{0430}", "\u{e9}", "\u{e0041}", "i g n o r e ", "1gn0r3 ", "DE89", "DE89 3704 ", "AB12", "AB123456", "GB29NWBK", "Bearer ", "Authorization: ",
    "token=", "api_key=", "x", " ", "\n", "{", "key:", "Basic ", "=", "dapi", "AIza", "xoxb-", "hooks.slack.com/", "user=", "host=", ";",
];

pub(crate) fn ordinary(size: usize) -> String {
    repeated(ORDINARY, size)
}

pub(crate) fn repeated(unit: &str, size: usize) -> String {
    let mut text = unit.repeat(size / unit.len() + 1);
    let end = (0..=size).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.truncate(end);
    text
}
