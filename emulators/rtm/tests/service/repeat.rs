//! Completing repeating tasks.

use failwell_emulator_rtm::Seed;
use serde_json::Value;

use crate::support::{Client, path, start};

/// The due days of all tasks of this name that are open, in Berlin.
fn open(client: &Client, name: &str) -> Vec<String> {
    let zone = jiff::tz::TimeZone::get("Europe/Berlin").unwrap();
    let dump = client.control.dump();
    let series =
        dump["taskseries"].as_array().unwrap().clone().into_iter().filter(|series| series["name"] == name);
    let tasks = series.flat_map(|series| series["tasks"].as_array().unwrap().clone());
    let open = tasks.filter(|task| task["completed"].is_null() && task["deleted"].is_null());
    open.map(|task| {
        let at: jiff::Timestamp = task["due"]["at"].as_str().unwrap().parse().unwrap();
        let format = if task["due"]["timed"] == true { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d" };
        zone.to_datetime(at).strftime(format).to_string()
    })
    .collect()
}

/// Completes a task so often, and says on which days the next ones are.
async fn completed(line: &str, times: usize) -> Vec<String> {
    let client = start(Seed::empty()).await;
    let mut task = client.add(line).await;
    let name = line.split_once(' ').unwrap().0;
    let mut days = vec![];
    for _ in 0..times {
        let answer = client.on("rtm.tasks.complete", &task, &[]).await;
        let found = open(&client, name);
        assert!(found.len() <= 1, "{line}: {found:?}");
        days.push(found.first().cloned().unwrap_or_else(|| "-".to_owned()));
        if found.is_empty() {
            break;
        }
        task = next(&answer);
    }
    days
}

/// The ids of the task completing made: the second of the series, or of another one.
fn next(answer: &Value) -> [String; 3] {
    let [list, mut series, mut task] = path(answer);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    match answer["list"]["taskseries"].get(1) {
        Some(other) => {
            series = text(&other["id"]);
            task = text(&other["task"][0]["id"]);
        }
        None => task = answer["list"]["taskseries"][0]["task"].get(1).map_or(task, |task| text(&task["id"])),
    }
    [list, series, task]
}

/// It is Wednesday, 11 November 2026.
#[tokio::test]
async fn the_next_task() {
    for (line, expected) in [
        ("water ^today *every day", &["2026-11-12", "2026-11-13", "2026-11-14"][..]),
        ("bins ^friday *every 2 weeks", &["2026-11-27", "2026-12-11"]),
        ("gym ^today *every monday, friday", &["2026-11-13", "2026-11-16", "2026-11-20"]),
        ("rent ^1 dec *every month", &["2027-01-01", "2027-02-01"]),
        ("books ^30 nov *every month on the last day", &["2026-12-31", "2027-01-31", "2027-02-28"]),
        ("club ^4 dec *every 1st friday", &["2027-01-01", "2027-02-05"]),
        ("birthday ^24 dec *every year", &["2027-12-24"]),
        ("call ^today 6pm *every day", &["2026-11-12 18:00", "2026-11-13 18:00"]),
        ("overdue ^1/11/2026 *every week", &["2026-11-15"]),
        ("undated *every 3 days", &["2026-11-14"]),
        ("thrice ^today *every day for 3 times", &["2026-11-12", "2026-11-13", "-"]),
        ("until ^today *every day until 13/11/2026", &["2026-11-12", "2026-11-13", "-"]),
        ("plants ^1/11/2026 *after 3 days", &["2026-11-14", "2026-11-14"]),
        ("filter ^20/11/2026 *after 1 month", &["2026-12-11"]),
        ("twice ^today *after 1 day for 2 times", &["2026-11-12", "-"]),
        ("once ^today", &["-"]),
    ] {
        assert_eq!(completed(line, expected.len()).await, expected, "{line}");
    }
}

#[tokio::test]
async fn every_stays_in_its_series_and_after_makes_another() {
    let client = start(Seed::empty()).await;
    let every = client.add("every ^today ~yesterday !1 #tag =1 hour *every day").await;
    let answer = client.on("rtm.tasks.complete", &every, &[]).await;
    let series = &answer["list"]["taskseries"];
    assert_eq!(series.as_array().unwrap().len(), 1);
    let next = &series[0]["task"][1];
    assert_eq!((&next["priority"], &next["estimate"]), (&"1".into(), &"1 hour".into()));
    assert_eq!(next["due"], "2026-11-11T23:00:00Z");
    assert_eq!(next["start"], "2026-11-10T23:00:00Z", "the start keeps its distance");
    assert_eq!(next["completed"], "");

    let after = client.add("after ^today #tag *after 2 days").await;
    let answer = client.on("rtm.tasks.complete", &after, &[]).await;
    let series = answer["list"]["taskseries"].as_array().unwrap();
    assert_eq!(series.len(), 2);
    assert_eq!(series[1]["tags"], series[0]["tags"]);
    assert_eq!(series[1]["rrule"]["every"], "0");
    assert_ne!(series[1]["id"], series[0]["id"]);
}

#[tokio::test]
async fn completing_again_makes_nothing_twice() {
    let client = start(Seed::empty()).await;
    for line in ["every ^today *every day", "after ^today *after 1 day"] {
        let task = client.add(line).await;
        let name = line.split_once(' ').unwrap().0;
        client.on("rtm.tasks.complete", &task, &[]).await;
        client.on("rtm.tasks.complete", &task, &[]).await;
        assert_eq!(open(&client, name), ["2026-11-12"], "{line}");
        client.on("rtm.tasks.uncomplete", &task, &[]).await;
        client.on("rtm.tasks.complete", &task, &[]).await;
        assert_eq!(open(&client, name), ["2026-11-12"], "{line}");
    }
}

/// The clock goes back on 25 October and forward on 28 March; nine o'clock stays nine o'clock.
#[tokio::test]
async fn a_time_of_day_survives_the_change_of_clocks() {
    let client = start(Seed::empty()).await;
    client.control.set_clock("2027-03-26T12:00:00Z".parse().unwrap());
    let mut task = client.add("stand-up ^27/3/2027 9:00 *every day").await;
    for expected in ["2027-03-28 09:00", "2027-03-29 09:00"] {
        let answer = client.on("rtm.tasks.complete", &task, &[]).await;
        assert_eq!(open(&client, "stand-up"), [expected]);
        task = next(&answer);
    }
}
