//! Valid JSON beyond the limits: depth, duplicate keys, width. The caller sets the limits.

#[path = "support/check.rs"]
mod check;

use check::{check, verdict};
use failwell_rpc::{Defect, Limits};

#[test]
fn depth_is_counted_exactly() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        for (depth, refused) in
            [(1, false), (127, false), (128, false), (129, true), (1_000, true), (100_000, true)]
        {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let found = verdict(text.as_bytes(), &Limits::default());
            assert_eq!(matches!(found, Some(Defect::Depth { limit: 128, .. })), refused, "{depth} {found:?}");
            assert_eq!(found.is_some(), refused);
        }
    }
    let half_open = "[".repeat(100_000);
    assert!(verdict(half_open.as_bytes(), &Limits::default()).is_some_and(Defect::is_hard));
    let crossed = format!("{}{}", "[{\"a\":".repeat(50_000), "]}".repeat(50_000));
    assert!(verdict(crossed.as_bytes(), &Limits::default()).is_some_and(Defect::is_hard));
}

/// An object of `count` keys. The last one repeats the key at `repeats`, and `key` may write it with escapes.
fn object(count: usize, repeats: Option<usize>, key: fn(usize) -> String) -> String {
    let mut keys: Vec<String> = (0..count).map(key).collect();
    keys.extend(repeats.map(key));
    let members: Vec<String> = keys.iter().map(|key| format!("\"{key}\":[]")).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn duplicates_are_found_at_every_width() {
    let plain: fn(usize) -> String = |index| format!("key{index}");
    let long: fn(usize) -> String =
        |index| format!("a long shared prefix, {index}, and a long shared suffix");
    let mixed: fn(usize) -> String =
        |index| if index % 2 == 0 { format!("\\u006bey{index}") } else { format!("key{index}") };
    for key in [plain, long, mixed] {
        for count in [1, 2, 3, 7, 15, 16, 17, 18, 19, 33, 100, 1_000, 9_999] {
            assert_eq!(verdict(object(count, None, key).as_bytes(), &Limits::default()), None, "{count}");
            for repeats in [0, count / 2, count - 1] {
                let text = object(count, Some(repeats), key);
                let offset = text.rfind(",\"").unwrap() + 1;
                let found = verdict(text.as_bytes(), &Limits::default());
                assert_eq!(found, Some(Defect::DuplicateKey { offset }), "{count} {repeats}");
            }
        }
    }
    assert_eq!(verdict(object(10_000, None, plain).as_bytes(), &Limits::default()), None);
    let over = verdict(object(10_001, None, plain).as_bytes(), &Limits::default());
    assert!(matches!(over, Some(Defect::TooManyKeys { limit: 10_000, .. })), "{over:?}");
}

#[test]
fn duplicates_are_compared_decoded() {
    for value in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"\u0061":1}"#,
        r#"{"\u0061":1,"a":1}"#,
        r#"{"/":1,"\/":1}"#,
        r#"{"":1,"":1}"#,
        r#"{"é":1,"\u00e9":1}"#,
        r#"{"😀":1,"\ud83d\uDE00":1}"#,
        r#"{"\n":1,"\u000a":1}"#,
        r#"{"\\":1,"\u005c":1}"#,
        r#"{"x":{"a":{},"b":{},"a":{}}}"#,
        r#"[[{"a":{"b":1},"b":2,"a":3}]]"#,
    ] {
        check(value, |found| matches!(found, Some(Defect::DuplicateKey { .. })));
    }
}

/// Keys with colliding fingerprints must not make the scan quadratic. A quadratic scan would take minutes
/// here.
#[test]
fn wide_objects_side_by_side_stay_cheap() {
    let wide = object(5_000, None, |index| format!("{index:08}"));
    let text = format!("[{}]", vec![wide.as_str(); 20].join(","));
    assert_eq!(verdict(text.as_bytes(), &Limits::default()), None);
}

#[test]
fn a_hard_defect_outranks_a_soft_one() {
    let found = verdict(br#"{"a":1,"a":2,"b":tru}"#, &Limits::default());
    assert!(found.is_some_and(Defect::is_hard), "{found:?}");
}

#[test]
fn limits_can_be_set() {
    let limits = Limits { max_depth: 2, max_keys: 2, max_number: 3, max_batch: 2 };
    let soft = |text: &str| verdict(text.as_bytes(), &limits);
    assert_eq!(soft(r#"{"a":[123]}"#), None);
    assert!(matches!(soft(r#"{"a":[[]]}"#), Some(Defect::Depth { limit: 2, .. })));
    assert!(matches!(soft(r#"{"a":1234}"#), Some(Defect::NumberRange { .. })));
    assert!(matches!(soft(r#"{"a":1,"b":2,"c":3}"#), Some(Defect::TooManyKeys { limit: 2, .. })));
    assert!(matches!(soft("[1,2,3]"), Some(Defect::TooManyMessages { limit: 2, offset: 5 })));
}
