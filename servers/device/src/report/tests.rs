use std::time::Duration;

use bytes::Bytes;

use super::html::MOST_PICTURES;
use super::{html, junit};
use crate::steps::{SessionHistory, Step, StepPicture, Verdict};

const NASTY: &str = "</pre><script>alert('x')</script>\"&\u{1b}[31m\u{202e}evil\u{0}]]>";

fn step(number: u64, verdict: Verdict) -> Step {
    let is_fine = verdict == Verdict::Passed;
    Step {
        number,
        tool: "tap",
        about: format!("log-in {number}"),
        at: Duration::from_millis(number * 1_500),
        took: Duration::from_millis(42),
        verdict,
        detail: if is_fine { String::new() } else { "the text is \"Out\"\nnot \"In\"".to_owned() },
        hint: (!is_fine).then(|| "look at the screen".to_owned()),
        reason: (verdict == Verdict::Broken).then_some("device/TIMEOUT"),
        picture: None,
    }
}

fn run(steps: Vec<Step>) -> SessionHistory {
    SessionHistory {
        title: "Login".to_owned(),
        device: "pixel".to_owned(),
        driver: "chromedriver".to_owned(),
        session: "s1".to_owned(),
        began: "2026-11-15T19:00:00.123Z".to_owned(),
        took: Duration::from_millis(4_321),
        steps,
        forgotten: 0,
    }
}

fn nasty() -> SessionHistory {
    let steps = vec![Step {
        about: NASTY.to_owned(),
        detail: NASTY.to_owned(),
        hint: Some(NASTY.to_owned()),
        picture: Some(StepPicture { uri: NASTY.to_owned(), png: None }),
        ..step(1, Verdict::Broken)
    }];
    SessionHistory {
        title: NASTY.to_owned(),
        device: NASTY.to_owned(),
        began: NASTY.to_owned(),
        ..run(steps)
    }
}

#[test]
fn junit_is_read_back_by_a_reader_of_xml() {
    let text =
        junit(&run(vec![step(1, Verdict::Passed), step(2, Verdict::Failed), step(3, Verdict::Broken)]));
    let file = roxmltree::Document::parse(&text).unwrap();
    let suites = file.root_element();
    let suite = suites.first_element_child().unwrap();
    for element in [suites, suite] {
        let counts = ["tests", "failures", "errors", "time"].map(|name| element.attribute(name).unwrap());
        assert_eq!(counts, ["3", "1", "1", "4.321"]);
    }
    assert_eq!(suite.attribute("timestamp"), Some("2026-11-15T19:00:00"));
    let cases: Vec<_> = suite.children().filter(|node| node.has_tag_name("testcase")).collect();
    assert_eq!(cases[0].attribute("name"), Some("1 tap log-in 1"));
    assert!(cases[0].first_element_child().is_none());
    let failure = cases[1].first_element_child().unwrap();
    assert_eq!(
        (failure.tag_name().name(), failure.attribute("message")),
        ("failure", Some("the text is \"Out\""))
    );
    assert_eq!(failure.text(), Some("the text is \"Out\"\nnot \"In\"\nhelp: look at the screen"));
    let error = cases[2].first_element_child().unwrap();
    assert_eq!((error.tag_name().name(), error.attribute("type")), ("error", Some("device/TIMEOUT")));
}

#[test]
fn what_an_app_says_is_never_markup() {
    let text = junit(&nasty());
    let file = roxmltree::Document::parse(&text).expect("it is still XML");
    let names: Vec<_> =
        file.descendants().filter(|node| node.is_element()).map(|node| node.tag_name().name()).collect();
    assert!(!names.contains(&"script"), "{names:?}");
    let page = html(&nasty());
    assert!(
        !page.contains("<script")
            && !page.contains('\u{1b}')
            && !page.contains('\u{202e}')
            && !page.contains('\0')
    );
    assert_eq!(page.matches("&lt;script&gt;").count(), 8, "each of them is still there to be read");
}

#[test]
fn the_page_stands_alone() {
    let picture = StepPicture {
        uri: "resource://screenshots/ab.png".to_owned(),
        png: Some(Bytes::from_static(b"PNG!")),
    };
    let shown = Step { picture: Some(picture), ..step(2, Verdict::Failed) };
    let page = html(&run(vec![step(1, Verdict::Passed), shown]));
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">"), "{page}");
    assert!(page.contains("<title>Failed: Login</title>"), "{page}");
    assert!(page.contains("Failed: 1 passed, 1 failed, 0 broken"), "{page}");
    assert!(
        page.contains("<details open>") && page.contains("src=\"data:image/png;base64,UE5HIQ==\""),
        "{page}"
    );
    assert!(page.contains("alt=\"The screen after step 2, tap\""), "{page}");
    assert!(page.contains("href=\"#step-2\"") && page.contains("id=\"step-2\""), "{page}");
    for forbidden in ["<script", "http://", "https://", "url(", "@import", "<link", " onerror", " onload"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn a_page_has_an_end() {
    let half = Bytes::from(vec![0; MOST_PICTURES / 2 + 1]);
    let with = |number| Step {
        picture: Some(StepPicture {
            uri: format!("resource://screenshots/{number}.png"),
            png: Some(half.clone()),
        }),
        ..step(number, Verdict::Passed)
    };
    let page = html(&run(vec![with(1), with(2)]));
    assert_eq!(page.matches("<img ").count(), 1);
    assert!(page.contains("kept as <code>resource://screenshots/2.png</code>"));
}

#[test]
fn a_run_without_steps() {
    let empty = SessionHistory { forgotten: 3, ..run(vec![]) };
    assert!(html(&empty).contains("Nothing was done") && html(&empty).contains("3 earlier steps"));
    let text = junit(&empty);
    let file = roxmltree::Document::parse(&text).unwrap();
    assert_eq!(file.root_element().attribute("tests"), Some("0"));
}
