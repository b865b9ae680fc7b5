//! Random requests always get a response and leave the account consistent.

use failwell_emulator_rtm::Seed;

use crate::support::start;

/// Fragments of valid and invalid input.
const PIECES: &[&str] = &[
    "today",
    "tomorrow",
    "next",
    "friday",
    "every",
    "after",
    "until",
    "for",
    "times",
    "9999",
    "0",
    "-1",
    "1st",
    "31st",
    "in",
    "years",
    "months",
    "days",
    "weeks",
    "of",
    "the",
    "month",
    "last",
    "ago",
    "at",
    "9:99",
    "25:00",
    "12pm",
    "29 feb",
    "31/2/2027",
    "99999999999999999999",
    "9999-12-31",
    "2027-02-30T25:00:00Z",
    "^",
    "~",
    "!",
    "#",
    "@",
    "*",
    "=",
    "//",
    "https://",
    "due:",
    "dueWithin:",
    "\"9999 years of today\"",
    "priority:",
    "NOT",
    "AND",
    "OR",
    "(",
    ")",
    "\"",
    ":",
    "::",
    "timeEstimate:\"> ",
    "postponed:\">",
    "locationWithin:\"1 mile of ",
    "é",
    "\u{202e}",
    "\u{0}",
    "\n",
    "🥛",
    "PT",
    "1e309h",
    "FREQ=",
    "FREQ=DAILY;INTERVAL=999999999999",
    "FREQ=MONTHLY;BYDAY=9MO,-9SU;BYMONTHDAY=-31",
    "COUNT=0",
];

/// A pseudo-random generator with a fixed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn phrase(&mut self) -> String {
        let separator = if self.roll(4) == 0 { "" } else { " " };
        let count = 1 + self.roll(6);
        (0..count).map(|_| PIECES[self.roll(PIECES.len())]).collect::<Vec<_>>().join(separator)
    }
}

#[tokio::test]
async fn every_call_is_answered() {
    let client = start(Seed::demo()).await;
    let path = client.add("target").await;
    let mut dice = Dice(7);
    for round in 0..800 {
        let text = dice.phrase();
        let (method, name) = [
            ("rtm.tasks.setDueDate", "due"),
            ("rtm.tasks.setStartDate", "start"),
            ("rtm.tasks.setRecurrence", "repeat"),
            ("rtm.tasks.setEstimate", "estimate"),
            ("rtm.tasks.setTags", "tags"),
            ("rtm.tasks.add", "name"),
            ("rtm.tasks.getList", "filter"),
            ("rtm.tasks.getList", "last_sync"),
            ("rtm.time.parse", "text"),
            ("rtm.tasks.complete", "nothing"),
            ("rtm.tasks.uncomplete", "nothing"),
            ("rtm.tasks.postpone", "nothing"),
        ][dice.roll(12)];
        let [list, series, task] = &path;
        let mut arguments = vec![(name, text.as_str()), ("taskseries_id", series), ("task_id", task)];
        if method != "rtm.tasks.getList" {
            arguments.push(("list_id", list));
        }
        if dice.roll(3) > 0 {
            arguments.push(("parse", "1"));
        }
        let answer = client.call(method, &arguments).await;
        assert!(
            answer["stat"] == "ok" || answer["err"]["code"].is_string(),
            "round {round}, {method} {text:?}: {answer}"
        );
    }
    client.on("rtm.tasks.setName", &path, &[("name", "still there")]).await;
}
