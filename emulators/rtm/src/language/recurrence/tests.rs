use jiff::tz::TimeZone;

use super::{Rule, next, read};
use crate::language::phrase::DateContext;

fn context() -> DateContext {
    DateContext {
        now: "2026-11-11T13:30:00Z".parse().unwrap(),
        zone: TimeZone::get("Europe/Berlin").unwrap(),
        day_first: true,
    }
}

#[test]
fn rules_in_words() {
    for (text, every, expected) in [
        ("every day", true, "FREQ=DAILY;INTERVAL=1"),
        ("daily", true, "FREQ=DAILY;INTERVAL=1"),
        ("every 3 days", true, "FREQ=DAILY;INTERVAL=3"),
        ("every other day", true, "FREQ=DAILY;INTERVAL=2"),
        ("every week", true, "FREQ=WEEKLY;INTERVAL=1;WKST=MO"),
        ("weekly", true, "FREQ=WEEKLY;INTERVAL=1;WKST=MO"),
        ("every 2 weeks", true, "FREQ=WEEKLY;INTERVAL=2;WKST=MO"),
        ("biweekly", true, "FREQ=WEEKLY;INTERVAL=2;WKST=MO"),
        ("every monday", true, "FREQ=WEEKLY;INTERVAL=1;BYDAY=MO;WKST=MO"),
        ("every monday, wednesday and friday", true, "FREQ=WEEKLY;INTERVAL=1;BYDAY=MO,WE,FR;WKST=MO"),
        ("every 2 weeks on tue", true, "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;WKST=MO"),
        ("every weekday", true, "FREQ=WEEKLY;INTERVAL=1;BYDAY=MO,TU,WE,TH,FR;WKST=MO"),
        ("every month", true, "FREQ=MONTHLY;INTERVAL=1"),
        ("every month on the 4th", true, "FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=4"),
        ("every 3 months on the 1st", true, "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1"),
        ("every 1st friday", true, "FREQ=MONTHLY;INTERVAL=1;BYDAY=1FR"),
        ("every last monday of the month", true, "FREQ=MONTHLY;INTERVAL=1;BYDAY=-1MO"),
        ("every month on the last day", true, "FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=-1"),
        ("every year", true, "FREQ=YEARLY;INTERVAL=1"),
        ("every day until 24/12/2026", true, "FREQ=DAILY;INTERVAL=1;UNTIL=20261224T000000"),
        ("every week for 10 times", true, "FREQ=WEEKLY;INTERVAL=1;WKST=MO;COUNT=10"),
        ("after 1 week", false, "FREQ=WEEKLY;INTERVAL=1;WKST=MO"),
        ("after 3 days", false, "FREQ=DAILY;INTERVAL=3"),
        ("after a month", false, "FREQ=MONTHLY;INTERVAL=1"),
        ("FREQ=MONTHLY;INTERVAL=2;BYDAY=2TU", true, "FREQ=MONTHLY;INTERVAL=2;BYDAY=2TU"),
    ] {
        let rule = read(text, &context()).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((rule.to_string().as_str(), rule.every), (expected, every), "{text}");
        let again = Rule { every, ..Rule::parse(expected).unwrap() };
        assert_eq!(again, rule, "{text}");
    }
    for text in
        ["", "every", "sometimes", "every blue moon", "every 0 days", "FREQ=HOURLY", "every day until"]
    {
        assert!(read(text, &context()).is_none(), "{text}");
    }
}

#[test]
fn the_days_that_follow() {
    for (rule, from, expected) in [
        ("every day", "2026-11-11", "2026-11-12 2026-11-13"),
        ("every 3 days", "2026-11-29", "2026-12-02 2026-12-05"),
        ("every week", "2026-11-11", "2026-11-18 2026-11-25"),
        ("every monday, friday", "2026-11-11", "2026-11-13 2026-11-16 2026-11-20"),
        ("every 2 weeks on mon, thu", "2026-11-12", "2026-11-23 2026-11-26 2026-12-07"),
        ("every weekday", "2026-11-13", "2026-11-16 2026-11-17"),
        ("every month", "2026-11-11", "2026-12-11 2027-01-11"),
        ("every month on the 31st", "2026-10-31", "2026-11-30 2026-12-31"),
        ("every month on the last day", "2027-01-31", "2027-02-28 2027-03-31"),
        ("every 1st friday", "2026-11-06", "2026-12-04 2027-01-01"),
        ("every last monday", "2026-11-30", "2026-12-28 2027-01-25"),
        ("every 5th friday", "2026-10-30", "2027-01-29 2027-04-30"),
        ("every 2 months on the 1st", "2026-11-01", "2027-01-01 2027-03-01"),
        ("every year", "2028-02-29", "2029-02-28 2030-02-28"),
        ("every day until 13/11/2026", "2026-11-11", "2026-11-12 2026-11-13 -"),
    ] {
        let rule = read(rule, &context()).unwrap();
        let mut date = Some(from.parse().unwrap());
        for expected in expected.split(' ') {
            date = date.and_then(|date| next(&rule, date));
            let got = date.map_or("-".to_owned(), |date| date.to_string());
            assert_eq!(got, expected, "{rule} after {from}");
        }
    }
}
