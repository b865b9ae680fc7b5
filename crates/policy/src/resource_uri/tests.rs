use super::{ResourceUri, normalize_id, normalize_pattern};

fn key(text: &str) -> Option<String> {
    ResourceUri::parse(text).map(|uri| uri.key)
}

#[test]
fn one_file_has_one_spelling() {
    for text in [
        "file:///srv/private/s.txt",
        "FILE:///srv/private/s.txt",
        "File:/srv/private/s.txt",
        "file://localhost/srv/private/s.txt",
        "file://LOCALHOST/srv/private/s.txt",
        "file://%6cocalhost/srv/private/s.txt",
        "file:////srv/private/s.txt",
        "file:///srv//private///s.txt",
        "file:///srv/./private/s.txt",
        "file:///srv/notes/../private/s.txt",
        "file:///srv/notes/%2e%2e/private/s.txt",
        "file:///srv/notes/.%2E/private/s.txt",
        "file:///../srv/private/s.txt",
        "file:///srv/%70rivate/s%2Etxt",
        "file:///srv/private/s.txt?v=1",
        "file:///srv/private/s.txt#top",
    ] {
        let uri = ResourceUri::parse(text).expect(text);
        assert_eq!(
            (uri.key(), uri.sent()),
            ("file:///srv/private/s.txt", "file:///srv/private/s.txt"),
            "{text}"
        );
    }
    for (text, normal) in [
        ("file:///a%24b", "file:///a$b"),
        ("file:///a b", "file:///a%20b"),
        ("file:///caf\u{e9}", "file:///caf%C3%A9"),
        ("file:///caf%c3%a9", "file:///caf%C3%A9"),
        ("file://NAS/share/x", "file://nas/share/x"),
        ("file:///C:/x", "file:///C:/x"),
        ("file://", "file:///"),
        ("file:///notes/", "file:///notes/"),
        ("file:///notes/.", "file:///notes/"),
    ] {
        assert_eq!(key(text).as_deref(), Some(normal), "{text}");
    }
}

#[test]
fn other_schemes_keep_what_is_theirs() {
    for (text, compared, sent) in [
        ("demo://x", "demo://x", "demo://x"),
        ("Demo://Readme/A", "demo://readme/A", "demo://Readme/A"),
        ("greeting://World", "greeting://world", "greeting://World"),
        ("demo://a//b", "demo://a/b", "demo://a/b"),
        ("demo://a//x/../b", "demo://a/b", "demo://a/b"),
        ("demo:a//b", "demo:a/b", "demo:a/b"),
        ("docs//readme", "docs/readme", "docs/readme"),
        ("https://h//a///b/", "https://h/a/b/", "https://h/a/b/"),
        ("db://h/a%3Ab", "db://h/a:b", "db://h/a:b"),
        ("db://h/%24a%2Bb%40c%2ad", "db://h/$a+b@c*d", "db://h/$a+b@c*d"),
        ("db://h/a%3Fb%23c", "db://h/a%3Fb%23c", "db://h/a%3Fb%23c"),
        ("db://h/?a=%2C%26%3D%2b", "db://h/?a=,%26%3D%2B", "db://h/?a=,%26%3D%2B"),
        ("demo://localhost/b", "demo://localhost/b", "demo://localhost/b"),
        ("demo:///b?q=%2fx#y", "demo:///b?q=/x#y", "demo:///b?q=/x#y"),
        ("demo://a/x/../y", "demo://a/y", "demo://a/y"),
        ("demo:a/../b", "demo:b", "demo:b"),
        ("URN:isbn:0451450523", "urn:isbn:0451450523", "urn:isbn:0451450523"),
        ("urn:a:..", "urn:a:..", "urn:a:.."),
        ("mailto:a@example.org", "mailto:a@example.org", "mailto:a@example.org"),
        ("data:text/plain;base64,SGk=", "data:text/plain;base64,SGk=", "data:text/plain;base64,SGk="),
        ("screen://a%2Bb", "screen://a+b", "screen://a+b"),
        ("readme", "readme", "readme"),
        ("docs/../readme", "readme", "readme"),
        ("HTTPS://Example.ORG:443", "https://example.org/", "https://example.org/"),
        ("http://example.org.:0080/x#y", "http://example.org/x", "http://example.org/x"),
        ("http://[0:0:0:0:0:0:0:1]:8080/", "http://[::1]:8080/", "http://[::1]:8080/"),
        ("https://h/?a[]=1", "https://h/?a[]=1", "https://h/?a[]=1"),
    ] {
        let uri = ResourceUri::parse(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((uri.key(), uri.sent()), (compared, sent), "{text}");
        let again = ResourceUri::parse(uri.sent()).expect("a normal form");
        assert_eq!((again.key(), again.sent()), (uri.key(), uri.sent()), "twice: {text}");
    }
}

#[test]
fn two_readings_are_none() {
    for text in [
        "",
        "file:///a%2fb",
        "file:///a%2Fb",
        "file:///a%5cb",
        "file:///a\\b",
        "file:///a%00b",
        "file:///a%0ab",
        "file:///a%7f",
        "file:///a\u{200b}b",
        "file:///a%E2%80%8Bb",
        "file:///a%c0%afb",
        "file:///a%ff",
        "file:///a%",
        "file:///a%2",
        "file:///a%zz",
        "file:///a\nb",
        "file:///a/%252e%252e/b",
        "file:///a%252fb",
        "file:etc/passwd",
        "file:..",
        "file:",
        "file://user@localhost/x",
        "file://localhost:80/x",
        "demo://a%2fb",
        "demo://a%40b",
        "demo:/.//a",
        "a%3Ab",
        "a/../file:///x",
        ":x",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://ex\u{e4}mple.org/",
        "http:///x",
        "http://h:x/",
        "demo://x?a%00",
    ] {
        assert_eq!(key(text), None, "{text}");
    }
}

#[test]
fn other_readings_of_a_uri_are_listed() {
    for (text, also) in [
        ("file://nas/etc/x", vec!["file:///etc/x"]),
        ("file:///etc/x/", vec!["file:///etc/x"]),
        ("file://nas/etc/", vec!["file://nas/etc", "file:///etc/", "file:///etc"]),
        ("https://u:p@h/x", vec!["https://h/x"]),
        ("demo://u@h/x", vec!["demo://h/x"]),
        ("file:///", vec![]),
        ("demo://x/", vec![]),
    ] {
        let uri = ResourceUri::parse(text).expect(text);
        assert_eq!(uri.also().collect::<Vec<_>>(), also, "{text}");
    }
}

#[test]
fn doubled_slashes_stay_where_no_rule_judges() {
    for (text, sent) in [
        ("fetch://https://example.org//x", "fetch://https://example.org//x"),
        ("Demo://A//b/../c", "demo://A//c"),
        ("docs//readme", "docs//readme"),
        ("demo://a/b", "demo://a/b"),
        ("https://h", "https://h/"),
        ("file:///a//b", "file:///a/b"),
    ] {
        let uri = ResourceUri::parse(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(uri.sent_without_rules(), sent, "{text}");
        let again = ResourceUri::parse(sent).expect("a normal form");
        assert_eq!((again.key(), again.sent_without_rules()), (uri.key(), sent), "twice: {text}");
    }
}

#[test]
fn patterns_and_templates_keep_their_signs() {
    for (text, normal) in [
        ("FILE:///etc/*", "file:///etc/*"),
        ("file:/etc/*", "file:///etc/*"),
        ("file://localhost/etc/*", "file:///etc/*"),
        ("file:///a/../etc/%2A*", "file:///etc/**"),
        ("file://*", "file://*"),
        ("file://*/etc/*", "file://*/etc/*"),
        ("FILE:*", "file:*"),
        ("*", "*"),
        ("*/private/*", "*/private/*"),
        ("https://*", "https://*"),
        ("https://Example.org", "https://example.org/"),
        ("https://*.Example.org/x", "https://*.example.org/x"),
        ("demo://Secret/*", "demo://secret/*"),
        ("file:///{+path}", "file:///{+path}"),
        ("file:///x{?q,r}", "file:///x{?q,r}"),
        ("100%", "100%"),
        ("repo://h//private/*", "repo://h/private/*"),
        ("docs//*", "docs/*"),
        ("*//private/*", "*//private/*"),
        ("db://h/a%3Ab*", "db://h/a:b*"),
    ] {
        assert_eq!(normalize_pattern(text), normal, "{text}");
    }
    for (text, sent) in [
        ("FILE:///{+path}", "file:///{+path}"),
        ("file:///a/../{name}{?q}", "file:///{name}{?q}"),
        ("greeting://{Name}", "greeting://{Name}"),
        ("demo://x/{a}{?b}{#c}", "demo://x/{a}{?b}{#c}"),
    ] {
        assert_eq!(ResourceUri::parse_template(text).expect(text).sent(), sent, "{text}");
    }
    assert_eq!(normalize_id("up/FILE:///etc/x"), "up/file:///etc/x");
    assert_eq!(normalize_id("up/a%2fb"), "up/a%2fb");
    assert_eq!(normalize_id("up"), "up");
}
