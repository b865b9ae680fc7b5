//! The grammar, case by case: accepted, refused although JSON, or not JSON.

#[path = "support/check.rs"]
mod check;

use check::{check, verdict};
use failwell_rpc::{Defect, Limits};

fn accepted(values: &[&str]) {
    values.iter().for_each(|value| check(value, |found| found.is_none()));
}

fn not_json(values: &[&str]) {
    values.iter().for_each(|value| check(value, |found| matches!(found, Some(Defect::Syntax { .. }))));
}

#[test]
fn numbers() {
    accepted(&[
        "0",
        "-0",
        "1",
        "-1",
        "9",
        "10",
        "1234567890",
        "0.0",
        "-0.0",
        "0.1",
        "1.5",
        "123.456",
        "1e0",
        "1E0",
        "1e+1",
        "1e-1",
        "1E+10",
        "1E-10",
        "0e0",
        "0e400",
        "0.0e999",
        "-0e99999",
        "1e308",
        "-1e308",
        "1.7976931348623157e308",
        "1e-400",
        "5e-324",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "0.10e1",
        "123456789012345678901234567890.5",
        "1e00001",
        "10e-01",
    ]);
    not_json(&[
        "-",
        "+1",
        "01",
        "-01",
        "00",
        "0x10",
        "1.",
        ".5",
        "-.5",
        "1.e1",
        "1e",
        "1e+",
        "1E-",
        "1e1.5",
        "1..2",
        "1.2.3",
        "1ee1",
        "--1",
        "1-",
        "1+1",
        "Infinity",
        "-Infinity",
        "NaN",
        "inf",
        "1_000",
        "1f",
        "0b1",
        "１",
        "1e５",
        "2.0 0",
        "- 1",
        "1 .5",
        "0.",
        "0e",
        "0e+-1",
    ]);
    let range = |found| matches!(found, Some(Defect::NumberRange { .. }));
    for value in ["1e309", "-1e309", "1e400", "1e99999999999", "1.8e308", "0.1e310", "-123e400"] {
        check(value, range);
    }
    check(&"9".repeat(309), range);
    check(&"9".repeat(1_001), range);
    check(&format!("0.{}", "0".repeat(999)), range);
    check(&format!("0.{}", "0".repeat(998)), |found| found.is_none());
    check(&"9".repeat(308), |found| found.is_none());
}

#[test]
fn literals() {
    accepted(&["true", "false", "null"]);
    not_json(&[
        "True",
        "TRUE",
        "tru",
        "truee",
        "fals",
        "nul",
        "nulll",
        "None",
        "undefined",
        "t",
        "n",
        "f",
        "true false",
        "nu ll",
    ]);
}

#[test]
fn strings() {
    accepted(&[
        r#""""#,
        r#""a""#,
        r#"" ""#,
        r#""é""#,
        r#""日本語""#,
        r#""😀""#,
        r#""\"""#,
        r#""\\""#,
        r#""\/""#,
        r#""/""#,
        r#""\b\f\n\r\t""#,
        r#""\u0000""#,
        r#""\u001f""#,
        r#""\u00e9""#,
        r#""\uD834\uDD1E""#,
        r#""\ud83d\ude00""#,
        r#""\uDBFF\uDFFF""#,
        r#""\uFFFE\uFFFF""#,
        r#""\ufeff""#,
        r#""\\ud800""#,
        r#""\\\\""#,
        r#""a\\""#,
        "\"\u{7f}\"",
        "\"\u{80}\"",
        "\"\u{2028}\u{2029}\"",
        "\"\u{feff}\"",
        r#""abcdefg\"hijklmnop""#,
        r#""1234567\n""#,
        r#""12345678\n12345678""#,
        r#""[{,:}]""#,
        r#""\ud7ff\ue000""#,
    ]);
    not_json(&[
        "\"",
        "\"a",
        r#""\""#,
        r#""\"#,
        r#""\x41""#,
        r#""\a""#,
        r#""\'""#,
        r#""\0""#,
        r#""\v""#,
        r#""\U0041""#,
        r#""\u""#,
        r#""\u0""#,
        r#""\u00""#,
        r#""\u004""#,
        r#""\u00g0""#,
        r#""\u{41}""#,
        r#""\u+041""#,
        r#""\ud800\u""#,
        r#""\ud800\u12""#,
        r#""\ud800\x""#,
        "'a'",
        "a",
        "\"\n\"",
        "\"\t\"",
        "\"\0\"",
        "\"\u{1f}\"",
        "\"12345678\u{1}\"",
        "\"1234567\u{1f}12345678\"",
        "\"a\"\"b\"",
        "\"a\"b",
        "`a`",
        "“a”",
        r#"\"a\""#,
        r#""\ u0041""#,
    ]);
}

#[test]
fn lone_surrogates() {
    for value in [
        r#""\ud800""#,
        r#""\udbff""#,
        r#""\udc00""#,
        r#""\udfff""#,
        r#""\uD800x""#,
        r#""\ud800\n""#,
        r#""\ud800\u0041""#,
        r#""\ud800\ud800""#,
        r#""\udc00\ud800""#,
        r#""\ud83d\ude00\ud83d""#,
        r#""\ud83d \ude00""#,
        r#""\\\ud800""#,
        r#""\ud800\ud83d\ude00""#,
        r#"{"\ud800":1}"#,
    ] {
        check(value, |found| matches!(found, Some(Defect::LoneSurrogate { .. })));
    }
}

#[test]
fn containers() {
    accepted(&[
        "[]",
        "{}",
        "[ ]",
        "{ }",
        "[\n]",
        "[[]]",
        "[{}]",
        "[[],[]]",
        "[1,2]",
        r#"{"a":1}"#,
        r#"{"":0}"#,
        r#"{"a":{"a":{"a":1}}}"#,
        r#"[{"a":1},{"a":1}]"#,
        r#"{"a":[],"b":{}}"#,
        "[\t1\r\n,\n2 ]",
        r#"{"a" : 1 , "b" : 2}"#,
        r#"{"a":1,"A":2}"#,
        r#"{"é":1,"e":2}"#,
        r#"{"a":1,"a ":2}"#,
        r#"{"\\u0061":1,"a":2}"#,
        "[                                          1                ]",
    ]);
    not_json(&[
        "[",
        "]",
        "{",
        "}",
        "[1",
        "[1,",
        "[,",
        "[,]",
        "[1,]",
        "[1,,2]",
        "[1 2]",
        "[1:2]",
        "{,}",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":}",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{\"a\",1}",
        "{\"a\"::1}",
        "{1:1}",
        "{a:1}",
        "{'a':1}",
        "{null:1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":1;\"b\":2}",
        "[}",
        "{]",
        "[1}",
        "{\"a\":1]",
        "[[]",
        "[]]",
        "{}}",
        "{{}}",
        "[{]}",
        "{[]:1}",
        "{\"a\":1}{",
        "[](",
        "[/**/]",
        "[//\n]",
        "[#\n]",
        "{\"a\":[}",
        "\u{a0}1",
        "1\u{a0}",
        "\u{c}1",
        "1\u{b}",
        "\u{feff}1",
        "1\u{feff}",
        "\u{2028}1",
        "1\0",
        "\0",
    ]);
}

#[test]
fn whole_inputs() {
    let syntax = |bytes: &[u8]| matches!(verdict(bytes, &Limits::default()), Some(Defect::Syntax { .. }));
    for text in [
        "",
        " ",
        "\n\n",
        "1 2",
        "1,2",
        "{}{}",
        "[][]",
        "{} x",
        "\u{feff}{}",
        "[1],",
        ",",
        ":",
        "[1]\0",
        "null,",
    ] {
        assert!(syntax(text.as_bytes()), "{text:?}");
    }
    for text in [" 1", "1 ", "\r\n\t {} \t\r\n", "[1]\n", "\n[\n]\n"] {
        assert_eq!(verdict(text.as_bytes(), &Limits::default()), None, "{text:?}");
    }
}

#[test]
fn encodings() {
    let bad: [&[u8]; 12] = [
        b"\"\xff\"",
        b"\"\xc3\"",
        b"\"\xc3(\"",
        b"\"\xc0\x80\"",
        b"\"\xe0\x80\x80\"",
        b"\"\xed\xa0\x80\"",
        b"\"\x80\"",
        b"\"\xf5\x80\x80\x80\"",
        b"\"\xf4\x90\x80\x80\"",
        b"\"\xf0\x9f\x98\"",
        b"\xff\xfe{\0}\0",
        b"{\"\xe9\":1}",
    ];
    for bytes in bad {
        let found = verdict(bytes, &Limits::default());
        assert!(matches!(found, Some(Defect::Utf8 { .. })), "{bytes:?} gave {found:?}");
    }
    let utf16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(verdict(&utf16, &Limits::default()).is_some_and(Defect::is_hard));
}

#[test]
fn every_truncation_is_not_json() {
    let whole = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1.5e3,true,null,"é\n\ud83d\ude00"]}}"#;
    for end in 0..whole.len() {
        let found = verdict(&whole.as_bytes()[..end], &Limits::default());
        assert!(found.is_some_and(Defect::is_hard), "{end} gave {found:?}");
    }
}
