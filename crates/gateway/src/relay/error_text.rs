//! Removes tracebacks, addresses and paths from the text of a failed tool.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use serde_json::Value;

/// The texts that the caller sent. What they name may return.
#[derive(Debug, Default)]
pub(crate) struct NamedTexts(Vec<String>);

impl NamedTexts {
    pub(crate) fn of(arguments: &Value) -> NamedTexts {
        let mut named = NamedTexts::default();
        named.add(arguments);
        named
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.0.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(members) => members.values().for_each(|value| self.add(value)),
            _ => {}
        }
    }

    fn name(&self, word: &str) -> bool {
        self.0.iter().any(|text| text.contains(word))
    }
}

/// Stands for the lines of a traceback.
const TRACE: &str = "[trace removed]";

pub(crate) fn scrub(text: &str, named: &NamedTexts) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut in_trace = false;
    for line in text.split('\n') {
        in_trace = is_trace_start(line) || is_frame(line) || in_trace && line.starts_with([' ', '\t']);
        if !in_trace {
            lines.push(scrubbed_line(line, named));
        } else if lines.last().is_none_or(|last| last != TRACE) {
            lines.push(TRACE.to_owned());
        }
    }
    lines.join("\n")
}

/// The line before the frames of a traceback.
fn is_trace_start(line: &str) -> bool {
    const STARTS: [&str; 8] = [
        "traceback (most recent call last)",
        "stack trace:",
        "stack backtrace:",
        "stacktrace:",
        "backtrace:",
        "goroutine ",
        "during handling of the above exception",
        "the above exception was the direct cause",
    ];
    let line = line.trim().to_ascii_lowercase();
    STARTS.iter().any(|start| line.starts_with(start))
}

/// A frame of Python, JavaScript, Java, .NET, Go, Rust, Ruby or PHP.
fn is_frame(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("File \"") && line.contains("\", line ")
        || line.starts_with("at ")
            && (line.contains('(') && line.ends_with(')') || line.contains(":line ") || has_position(line))
        || line.starts_with("from ") && has_position(line)
        || line.starts_with('#')
            && line
                .get(1..)
                .and_then(numbered)
                .is_some_and(|rest| rest.starts_with(' ') && has_position(line))
        || numbered(line)
            .is_some_and(|rest| rest.starts_with(": ") && (rest.contains("::") || rest.contains("0x")))
        || line.contains(".go:") && has_position(line)
}

/// The text after a number.
fn numbered(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.get(digits..).filter(|_| digits > 0)
}

/// Returns true if a line has the form of a source file with the number of a line: `app.rb:12`, `x.php(7)`.
fn has_position(line: &str) -> bool {
    line.char_indices().any(|(at, c)| {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + c.len_utf8()..).unwrap_or_default();
        let is_file = before.rsplit(['/', '\\', ' ', '(']).next().is_some_and(|name| name.contains('.'));
        matches!(c, ':' | '(') && is_file && after.starts_with(|c: char| c.is_ascii_digit())
    })
}

fn scrubbed_line(line: &str, named: &NamedTexts) -> String {
    let is_edge = |c: char| c.is_whitespace() || "\"'`()<>{},;|=".contains(c);
    let mut clean = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let word_end = rest.find(is_edge).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_end);
        clean.push_str(&scrubbed_word(word, named));
        let edge_end = after.find(|c: char| !is_edge(c)).unwrap_or(after.len());
        let (edge, next) = after.split_at(edge_end);
        clean.push_str(edge);
        rest = next;
    }
    clean
}

fn scrubbed_word(word: &str, named: &NamedTexts) -> String {
    let bare = word.trim_end_matches(['.', ':', '!', '?', ']']).trim_start_matches('[');
    let mask = match bare {
        _ if bare.is_empty() || named.name(bare) => None,
        _ if is_address(bare) => Some("[address]"),
        _ if is_path(bare) => Some("[path]"),
        _ => None,
    };
    match mask {
        Some(mask) => word.replacen(bare, mask, 1),
        None => word.to_owned(),
    }
}

fn is_address(word: &str) -> bool {
    if word.contains("://") || word.parse::<SocketAddr>().is_ok() {
        return true;
    }
    let host = word.trim_start_matches('[').trim_end_matches(']');
    let is_ip = host.parse::<IpAddr>().is_ok_and(|address| match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => address != Ipv6Addr::UNSPECIFIED,
    });
    is_ip || is_mailbox(word) || is_host(word)
}

fn is_mailbox(word: &str) -> bool {
    word.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
}

/// A name with a port, or a name that ends like one of the network.
fn is_host(word: &str) -> bool {
    const ENDS: [&str; 18] = [
        "internal",
        "local",
        "lan",
        "corp",
        "intra",
        "intranet",
        "localdomain",
        "svc",
        "cluster",
        "com",
        "net",
        "org",
        "io",
        "dev",
        "cloud",
        "example",
        "home",
        "arpa",
    ];
    let (host, port) = match word.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (word, None),
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let has_letter = host.bytes().any(|byte| byte.is_ascii_alphabetic());
    if !has_letter || !host.split('.').all(is_label) {
        return false;
    }
    match port {
        Some(port) => (2..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit()),
        None => {
            let last = host.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
            host.contains('.') && ENDS.contains(&last.as_str())
        }
    }
}

fn is_path(word: &str) -> bool {
    let drive = word.as_bytes();
    let has_drive = drive.first().is_some_and(u8::is_ascii_alphabetic)
        && drive.get(1) == Some(&b':')
        && matches!(drive.get(2), Some(b'\\' | b'/'));
    let rooted =
        word.starts_with('/') && word.bytes().filter(|byte| byte.is_ascii_alphanumeric()).count() > 1;
    rooted
        || word.starts_with("~/")
        || word.starts_with("./")
        || word.starts_with("../")
        || word.starts_with("\\\\")
        || has_drive
        || word.matches('/').count() > 1
        || word.contains('/') && has_position(word)
}

#[cfg(test)]
mod tests {
    use super::{NamedTexts, scrub};
    use serde_json::json;

    #[test]
    fn traces_addresses_and_paths_go_and_what_helps_stays() {
        let named = NamedTexts::of(&json!({"path": "/data/in.csv", "hosts": ["api.example.com"]}));
        for (text, left) in [
            ("the shop is closed", "the shop is closed"),
            ("cannot open /data/in.csv: no such file", "cannot open /data/in.csv: no such file"),
            ("cannot open '/srv/app/in.csv'.", "cannot open '[path]'."),
            ("api.example.com refused, db.internal:5432 too", "api.example.com refused, [address] too"),
            ("connect ECONNREFUSED 10.1.2.3:5432", "connect ECONNREFUSED [address]"),
            ("at http://10.1.2.3/x and fe80::1", "at [address] and [address]"),
            ("C:\\Users\\me\\x.txt and ~/.ssh/id", "[path] and [path]"),
            ("and/or 1/2 of 20 rows, v1.2.3, e.g. 5:30", "and/or 1/2 of 20 rows, v1.2.3, e.g. 5:30"),
            ("path=/srv/x,host=db.internal", "path=[path],host=[address]"),
            ("mail root@example.com", "mail [address]"),
            (
                "Traceback (most recent call last):\n  File \"/srv/app/x.py\", line 3, in f\n    raise ValueError(1)\nValueError: no row 7",
                "[trace removed]\nValueError: no row 7",
            ),
            (
                "TypeError: x is null\n    at f (/srv/a.js:3:7)\n    at g (b.js:1:1)",
                "TypeError: x is null\n[trace removed]",
            ),
            (
                "java.io.IOException: full\n\tat a.b.C.d(C.java:12)\n\t... 3 more",
                "java.io.IOException: full\n[trace removed]",
            ),
            (
                "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:7 +0x1",
                "panic: boom\n\n[trace removed]\nmain.main()\n[trace removed]",
            ),
            ("#0 /srv/x.php(12): f()\n#1 {main}", "[trace removed]\n#1 {main}"),
        ] {
            assert_eq!(scrub(text, &named), left, "{text}");
        }
    }
}
