use jiff::tz::TimeZone;

use super::{DateContext, seconds, when};

/// Wednesday, 11 November 2026, 14:30 in Berlin.
fn context() -> DateContext {
    DateContext {
        now: "2026-11-11T13:30:00Z".parse().unwrap(),
        zone: TimeZone::get("Europe/Berlin").unwrap(),
        day_first: true,
    }
}

fn check(text: &str, expected: &str) {
    let context = context();
    let got = match when(text, &context) {
        None => "-".to_owned(),
        Some(when) if when.timed => context.zone.to_datetime(when.at).strftime("%Y-%m-%d %H:%M").to_string(),
        Some(when) => when.date(&context.zone).to_string(),
    };
    assert_eq!(got, expected, "{text}");
}

#[test]
fn days_and_moments() {
    for (text, expected) in [
        ("today", "2026-11-11"),
        ("tod", "2026-11-11"),
        ("Tomorrow", "2026-11-12"),
        ("tom", "2026-11-12"),
        ("yesterday", "2026-11-10"),
        ("friday", "2026-11-13"),
        ("wednesday", "2026-11-18"),
        ("this wednesday", "2026-11-11"),
        ("on mon", "2026-11-16"),
        ("tues", "2026-11-17"),
        ("next friday", "2026-11-20"),
        ("next monday", "2026-11-16"),
        ("next week", "2026-11-18"),
        ("next month", "2026-12-11"),
        ("end of month", "2026-11-30"),
        ("end of the week", "2026-11-15"),
        ("in 3 days", "2026-11-14"),
        ("2 weeks", "2026-11-25"),
        ("in a month", "2026-12-11"),
        ("1 year", "2027-11-11"),
        ("2027-02-03", "2027-02-03"),
        ("24/12", "2026-12-24"),
        ("1/2", "2027-02-01"),
        ("1/2/28", "2028-02-01"),
        ("24.12.2026", "2026-12-24"),
        ("24 dec", "2026-12-24"),
        ("dec 24th", "2026-12-24"),
        ("24th of December 2028", "2028-12-24"),
        ("may 5", "2027-05-05"),
        ("15th", "2026-11-15"),
        ("3rd", "2026-12-03"),
        ("29 feb", "2028-02-29"),
        ("now", "2026-11-11 14:30"),
        ("3pm", "2026-11-11 15:00"),
        ("9am", "2026-11-12 09:00"),
        ("at 16:45", "2026-11-11 16:45"),
        ("tomorrow at 9", "2026-11-12 09:00"),
        ("tomorrow 9:30", "2026-11-12 09:30"),
        ("9am tomorrow", "2026-11-12 09:00"),
        ("friday at 12 pm", "2026-11-13 12:00"),
        ("monday noon", "2026-11-16 12:00"),
        ("friday at midnight", "2026-11-13 00:00"),
        ("24 dec at 6.30pm", "2026-12-24 18:30"),
        ("in 2 hours", "2026-11-11 16:30"),
        ("90 minutes", "2026-11-11 16:00"),
        ("2026-12-01T08:00:00Z", "2026-12-01 09:00"),
        ("2026-12-01T08:00:00", "2026-12-01 08:00"),
        ("7 days ago", "-"),
        ("someday", "-"),
        ("tomorrow never", "-"),
        ("today tomorrow", "-"),
        ("31/2", "-"),
        ("25:00", "-"),
        ("", "-"),
    ] {
        check(text, expected);
    }
}

/// The hour that daylight saving skips is read as the one after it, and a day may begin at one o'clock.
#[test]
fn days_that_change_the_clock() {
    let berlin = DateContext { now: "2026-03-28T12:00:00Z".parse().unwrap(), ..context() };
    let skipped = when("tomorrow 2:30", &berlin).unwrap();
    assert_eq!(skipped.at.to_string(), "2026-03-29T01:30:00Z");
    let cairo = DateContext { zone: TimeZone::get("Africa/Cairo").unwrap(), ..berlin };
    let day = when("2026-04-24", &cairo).unwrap();
    assert_eq!(day.at.to_string(), "2026-04-23T22:00:00Z");
}

#[test]
fn lengths() {
    for (text, expected) in [
        ("30 min", Some(1_800.0)),
        ("1 hour", Some(3_600.0)),
        ("1.5h", Some(5_400.0)),
        ("1h30m", Some(5_400.0)),
        ("2 hours 15 minutes", Some(8_100.0)),
        ("PT1H30M", Some(5_400.0)),
        ("3 days", Some(259_200.0)),
        ("soon", None),
        ("5", None),
        ("", None),
    ] {
        assert_eq!(seconds(text), expected, "{text}");
    }
}
