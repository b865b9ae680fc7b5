//! Revisions, own ids, owned JSON and replies.

use failwell_rpc::{Dialect, Era, ExpectedReply, Id, Json, Kind, Limits, ReplyTo, Revision};

#[test]
fn revisions_know_their_names_and_order() {
    for revision in Revision::ALL {
        assert_eq!(Revision::parse(revision.as_str()), Some(revision));
        assert_eq!(revision.era() == Era::Modern, revision == Revision::LATEST);
    }
    assert!(Revision::ALL.is_sorted());
    for unknown in ["", "2024-11-5", "2025-03-27", " 2025-03-26", "2026-07-28 ", "DRAFT-2026-v1"] {
        assert_eq!(Revision::parse(unknown), None);
    }
    assert_eq!(Revision::LATEST_SESSION.era(), Era::Session);
}

#[test]
fn revisions_differ_where_the_protocol_changed() {
    type Predicate = fn(Revision) -> bool;
    let table: [(Predicate, [u8; 5]); 9] = [
        (Revision::allows_batch, [0, 1, 0, 0, 0]),
        (Revision::null_id_when_unreadable, [1, 1, 1, 0, 0]),
        (Revision::has_structured_content, [0, 0, 1, 1, 1]),
        (Revision::has_resource_links, [0, 0, 1, 1, 1]),
        (Revision::has_tool_annotations, [0, 1, 1, 1, 1]),
        (Revision::has_version_header, [0, 0, 1, 1, 1]),
        (Revision::has_result_type, [0, 0, 0, 0, 1]),
        (Revision::has_resource_not_found_code, [1, 1, 1, 1, 0]),
        (Revision::has_ping, [1, 1, 1, 1, 0]),
    ];
    for (row, (predicate, expected)) in table.into_iter().enumerate() {
        assert_eq!(Revision::ALL.map(|revision| u8::from(predicate(revision))), expected, "row {row}");
    }
}

#[test]
fn ids_of_our_own_are_json() {
    assert_eq!(Id::from_number(u64::MAX).text(), "18446744073709551615");
    assert_eq!(Id::from_number(7).as_u64(), Some(7));
    assert_eq!(Id::from_string("a\"b\n").text(), r#""a\"b\n""#);
    assert_eq!(Id::from_string("7").as_u64(), None);
    assert_ne!(Id::from_string("7"), Id::from_number(7));
}

#[test]
fn owned_json_is_checked_or_written() {
    let read = |text| Json::read(text, &Limits::default());
    assert_eq!(read(" [1, 2] ").unwrap().text(), "[1, 2]");
    assert_eq!(read("[]").unwrap().raw().kind(), Kind::Array);
    for bad in ["", " ", "1,2", "],[", "1]", "[1", "{\"a\":1,\"a\":1}", "\"\\ud800\""] {
        assert!(read(bad).is_err(), "{bad}");
    }
    assert_eq!(read("tru").unwrap_err().offset(), 0);
    let json = Json::of(&("text\n", 1.5, [true])).unwrap();
    assert_eq!(json.text(), r#"["text\n",1.5,[true]]"#);
    let outer = Json::of(&[&json]).unwrap();
    assert_eq!(outer.text(), r#"[["text\n",1.5,[true]]]"#);
    assert_eq!(json.raw().parse::<(String, f64, [bool; 1])>().unwrap(), ("text\n".to_owned(), 1.5, [true]));
}

#[test]
fn numbers_are_whole_or_not() {
    let table = [
        ("1", Some(1), Some(1)),
        ("1.0", Some(1), Some(1)),
        ("-5.00", Some(-5), None),
        ("1.5", None, None),
        ("1e2", None, None),
        ("18446744073709551615", None, Some(u64::MAX)),
        ("\"1\"", None, None),
    ];
    for (text, signed, unsigned) in table {
        let json = Json::read(text, &Limits::default()).unwrap();
        assert_eq!((json.raw().as_i64(), json.raw().as_u64()), (signed, unsigned), "{text}");
    }
}

#[test]
fn replies_are_captured_once() {
    let dialect = Dialect::Mcp(Revision::LATEST);
    let request = ReplyTo::request(Id::from_number(1), dialect);
    assert_eq!((request.wants, request.id), (ExpectedReply::Answer, Some(Id::from_number(1))));
    let notification = ReplyTo::notification(dialect);
    assert_eq!((notification.wants, notification.id), (ExpectedReply::Silence, None));
    assert_ne!(request.reference, notification.reference);
    assert_eq!(ReplyTo::unreadable(None, dialect).wants, ExpectedReply::Answer);
}
