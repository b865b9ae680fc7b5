//! Classification of messages: the rules for shapes and ids, and forwarding.

#![allow(clippy::expect_used, reason = "helpers of tests are tests")]

use failwell_rpc::{Incoming, Limits, Message, MessageKind, UnreadableMessage, read};

fn one(text: &str) -> Result<Message<'_>, UnreadableMessage> {
    match read(text.as_bytes(), &Limits::default()) {
        Incoming::One(verdict) => verdict,
        Incoming::Batch(mut messages) => messages.pop().expect("one message"),
    }
}

/// `verdict` is `request`, `notification`, `response` or a reason. `id` is the expected id, if readable.
fn check(text: &str, verdict: &str, id: Option<&str>) {
    let (found, found_id) = match one(text) {
        Ok(Message::Request(request)) => ("request".to_owned(), Some(request.id)),
        Ok(Message::Notification(_)) => ("notification".to_owned(), None),
        Ok(Message::Response(response)) => ("response".to_owned(), Some(response.id)),
        Err(unreadable) => (unreadable.fault.reason().id.to_owned(), unreadable.id),
    };
    assert_eq!((found.as_str(), found_id.as_ref().map(|id| id.text())), (verdict, id), "{text}");
}

#[test]
fn shapes() {
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request", Some("1")),
        (r#"{"jsonrpc":"2.0","method":"ping"}"#, "notification", None),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "response", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "response", Some("1")),
        (r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"m"}}"#, "response", Some("\"a\"")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#, "request", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#, "request", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","extra":{"kept":true}}"#, "request", Some("1")),
        (r#"{"\u006asonrpc":"2\u002e0","\u0069d":7,"m\u0065thod":"m"}"#, "request", Some("7")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":3}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"id":1,"method":"m"}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","error":{}}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"error":"text"}"#, "rpc/BAD_SHAPE", Some("1")),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "rpc/BAD_ID", None),
        (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, "rpc/BAD_ID", None),
        ("{}", "rpc/BAD_SHAPE", None),
        ("1", "rpc/BAD_SHAPE", None),
        ("null", "rpc/BAD_SHAPE", None),
        ("\"text\"", "rpc/BAD_SHAPE", None),
        (" true ", "rpc/BAD_SHAPE", None),
        ("[]", "rpc/EMPTY_BATCH", None),
        (" [ \n ] ", "rpc/EMPTY_BATCH", None),
        ("", "rpc/NOT_JSON", None),
        ("   ", "rpc/NOT_JSON", None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m""#, "rpc/NOT_JSON", None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m"}}"#, "rpc/NOT_JSON", None),
    ];
    for (text, verdict, id) in table {
        check(text, verdict, id);
    }
}

#[test]
fn ids_are_text() {
    let good = [
        "0",
        "1",
        "-5",
        "-0",
        "1.0",
        "-7.000",
        "18446744073709551616",
        "123456789012345678901234567890",
        r#""""#,
        r#""a""#,
        r#""\u0061""#,
        r#""é\ud83d\ude00\n""#,
    ];
    for id in good {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"m","id":{id}}}"#);
        check(&text, "request", Some(id));
    }
    let bad = ["null", "1.5", "1e3", "1E0", "1.0e1", "true", "false", "[]", "{}", "[1]", r#"{"a":1}"#];
    for id in bad {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"m","id":{id}}}"#);
        check(&text, "rpc/BAD_ID", None);
    }
    for (length, verdict) in [(998, "request"), (999, "rpc/BAD_ID")] {
        let id = format!("\"{}\"", "x".repeat(length));
        let text = format!(r#"{{"jsonrpc":"2.0","method":"m","id":{id}}}"#);
        check(&text, verdict, (verdict == "request").then_some(id.as_str()));
    }
}

#[test]
fn a_refused_message_still_gives_its_id() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let wide: Vec<String> = (0..10_001).map(|key| format!("\"k{key}\":0")).collect();
    let wide = format!("{{{}}}", wide.join(","));
    let table = [
        (deep.as_str(), "rpc/TOO_DEEP"),
        (wide.as_str(), "rpc/TOO_MANY_KEYS"),
        (r#"{"a":1,"\u0061":2}"#, "rpc/DUPLICATE_KEY"),
        (r#""\ud800""#, "rpc/LONE_SURROGATE"),
        ("1e400", "rpc/NUMBER_RANGE"),
    ];
    for (value, reason) in table {
        check(
            &format!(r#"{{"jsonrpc":"2.0","params":{{"a":{value}}},"method":"m","id":"q"}}"#),
            reason,
            Some("\"q\""),
        );
        check(&format!(r#"{{"jsonrpc":"2.0","id":3,"method":"m","extra":{value}}}"#), reason, Some("3"));
    }
    check(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, "rpc/DUPLICATE_KEY", None);
    check(r#"{"jsonrpc":"2.0","id":1,"i\u0064":1,"method":"m"}"#, "rpc/DUPLICATE_KEY", None);
    check(r#"{"\ud800\u006asonrpc":"2.0","id":4,"method":"m"}"#, "rpc/LONE_SURROGATE", Some("4"));
    check(r#"{"jsonrpc":"2.0","id":"\ud800","method":"m"}"#, "rpc/LONE_SURROGATE", None);
}

#[test]
fn facts_say_where_and_how_much() {
    let Err(unreadable) = one(r#"{"id":1,"a":tru}"#) else { panic!("accepted") };
    assert_eq!(unreadable.fault.reason().id, "rpc/NOT_JSON");
    let facts = format!("{:?}", unreadable.fault.facts());
    assert!(facts.contains("offset") && facts.contains("12"), "{facts}");
    let text = "[".repeat(130) + &"]".repeat(130);
    let text = format!(r#"{{"a":{text}}}"#);
    let Err(unreadable) = one(&text) else { panic!("accepted") };
    let facts = format!("{:?}", unreadable.fault.facts());
    assert!(facts.contains("limit") && facts.contains("128"), "{facts}");
}

#[test]
fn broken_answers_are_known_as_answers() {
    let about = |text| one(text).err().map(|unreadable| unreadable.about);
    assert_eq!(about(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#), Some(MessageKind::Answer));
    assert_eq!(about(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":1}}"#), Some(MessageKind::Answer));
    assert_eq!(about(r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#), Some(MessageKind::Call));
    assert_eq!(about(r#"{"jsonrpc":"2.0","id":1}"#), Some(MessageKind::Unknown));
}

#[test]
fn batches_judge_each_message() {
    let text = r#" [ {"jsonrpc":"2.0","id":1,"method":"m"} , 5, {"jsonrpc":"2.0","method":"n"},
        {"jsonrpc":"2.0","id":2,"method":"m","params":{"a":1,"a":2}}, [], {"jsonrpc":"2.0","id":3,"result":[]} ] "#;
    let Incoming::Batch(messages) = read(text.as_bytes(), &Limits::default()) else { panic!("one") };
    let found: Vec<_> = messages
        .iter()
        .map(|message| match message {
            Ok(Message::Request(request)) => (request.text().len() as i64, request.id.text().to_owned()),
            Ok(Message::Notification(_)) => (0, "-".to_owned()),
            Ok(Message::Response(response)) => (-1, response.id.text().to_owned()),
            Err(unreadable) => (-2, unreadable.id.as_ref().map_or("none", |id| id.text()).to_owned()),
        })
        .collect();
    let expected = [(37, "1"), (-2, "none"), (0, "-"), (-2, "2"), (-2, "none"), (-1, "3")];
    assert_eq!(found, expected.map(|(mark, id)| (mark, id.to_owned())));

    let long = format!("[{}1]", "1,".repeat(1_000));
    check_one_reason(&long, "rpc/BAD_SHAPE");
    check_one_reason("[1,]", "rpc/NOT_JSON");
    check_one_reason("[1", "rpc/NOT_JSON");
    check_one_reason("[1]]", "rpc/NOT_JSON");
}

fn check_one_reason(text: &str, reason: &str) {
    assert_eq!(one(text).err().map(|unreadable| unreadable.fault.reason().id), Some(reason), "{text}");
}

#[test]
fn params_and_meta_are_found() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"na\u006de":"echo","arguments":{"x":[1,{"y":2}]},
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":7},"a":1,"b":2,"c":3,"d":4,
        "e":5,"f":"nin\u0065"}}"#;
    let Ok(Message::Request(request)) = one(text) else { panic!("refused") };
    assert_eq!(request.method, "tools/call");
    assert_eq!(request.param("name").and_then(|raw| raw.as_str()).as_deref(), Some("echo"));
    assert_eq!(request.param("arguments").map(|raw| raw.text()), Some(r#"{"x":[1,{"y":2}]}"#));
    assert_eq!(
        request.param("f").and_then(|raw| raw.as_str()).as_deref(),
        Some("nine"),
        "beyond the remembered"
    );
    assert_eq!(request.param("missing"), None);
    let version = request.meta("io.modelcontextprotocol/protocolVersion").and_then(|raw| raw.as_str());
    assert_eq!(version.as_deref(), Some("2026-07-28"));
    assert_eq!(request.meta("progressToken").and_then(|raw| raw.as_u64()), Some(7));
    let Ok(Message::Notification(note)) = one(r#"{"jsonrpc":"2.0","method":"n","params":[{"name":1}]}"#)
    else {
        panic!()
    };
    assert_eq!(note.param("name"), None);
    let Ok(Message::Response(answer)) =
        one(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#)
    else {
        panic!()
    };
    assert_eq!(answer.member("isError").and_then(|raw| raw.as_bool()), Some(true));
}

#[test]
fn members_belong_to_params_alone() {
    let text = r#"{"jsonrpc":"2.0","x":{"name":"wrong"},"id":1,"params":{"name":"right"},"y":{"name":"wrong"},"method":"m"}"#;
    let Ok(Message::Request(request)) = one(text) else { panic!("refused") };
    assert_eq!(request.param("name").map(|raw| raw.text()), Some("\"right\""));
    let empty = r#"{"jsonrpc":"2.0","id":1,"params":{"isError":false},"result":[{"isError":true}]}"#;
    let Ok(Message::Response(response)) = one(empty) else { panic!("refused") };
    assert_eq!(response.member("isError"), None);
    let many = r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"isError":false}"#;
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"params":{"isError":false},"result":{"isError":true,"x":1}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"result":{"isError":true,"x":1},"params":{"isError":false,"y":2}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","params":{"a":0,"y":2},"id":1,"result":{"x":1,"isError":true},"zz":{"isError":0}}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":1,"params":{many},"result":{{"x":1,"isError":true}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"x":1,"isError":true}},"params":{many}}}"#),
    ] {
        let Ok(Message::Response(response)) = one(&text) else { panic!("refused {text}") };
        assert_eq!(response.member("isError").and_then(|raw| raw.as_bool()), Some(true), "{text}");
        assert_eq!(response.member("x").and_then(|raw| raw.as_u64()), Some(1), "{text}");
        assert_eq!(response.member("y"), None, "{text}");
    }
}

#[test]
fn splicing_changes_the_id_alone() {
    let table = [
        (
            r#"  {"jsonrpc":"2.0", "id" : 1.0 ,"method":"m","unknown":[1, 2]} "#,
            r#"{"jsonrpc":"2.0", "id" : 99 ,"method":"m","unknown":[1, 2]}"#,
        ),
        (r#"{"id":"a","jsonrpc":"2.0","method":"m"}"#, r#"{"id":99,"jsonrpc":"2.0","method":"m"}"#),
        (
            r#"{"method":"m","params":{"id":5},"jsonrpc":"2.0","id":12345}"#,
            r#"{"method":"m","params":{"id":5},"jsonrpc":"2.0","id":99}"#,
        ),
    ];
    for (text, expected) in table {
        let Ok(Message::Request(request)) = one(text) else { panic!("refused {text}") };
        assert_eq!(request.splice_id("99").concat(), expected.as_bytes());
    }
    let Ok(Message::Response(response)) = one(r#"{"jsonrpc":"2.0","result":{},"id":99}"#) else { panic!() };
    assert_eq!(response.splice_id("1.0").concat(), br#"{"jsonrpc":"2.0","result":{},"id":1.0}"#);
}
