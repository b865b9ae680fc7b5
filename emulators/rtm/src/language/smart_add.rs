//! Smart add: a whole task in one line. `^`due `~`start `!`priority `#`list or tag `@`place `*`repeat `=`estimate
//! `+`person, an address, and `//` a note.

use super::phrase;
use super::phrase::DateContext;
use crate::language::recurrence;
use crate::language::recurrence::Rule;
use crate::state::account::{Account, Id, Priority, TaskDate};

/// The task that a smart-add line describes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SmartAddTask {
    pub(crate) name: String,
    pub(crate) due: Option<TaskDate>,
    pub(crate) start: Option<TaskDate>,
    pub(crate) priority: Option<Priority>,
    pub(crate) list: Option<Id>,
    pub(crate) tags: Vec<String>,
    pub(crate) location: Option<Id>,
    pub(crate) rule: Option<Rule>,
    pub(crate) estimate: String,
    pub(crate) participants: Vec<Id>,
    pub(crate) url: String,
    pub(crate) note: Option<String>,
}

/// The marks that begin something else than the name.
const MARKS: &[char] = &['^', '~', '!', '#', '@', '*', '=', '+'];

pub(crate) fn read(line: &str, account: &Account, context: &DateContext) -> SmartAddTask {
    let (line, note) = cut_note(line);
    let mut added = SmartAddTask { note, ..SmartAddTask::default() };
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut name: Vec<&str> = vec![];
    let mut place = 0;
    while let Some(word) = words.get(place) {
        let end = words
            .iter()
            .skip(place + 1)
            .position(|word| begins(word))
            .map_or(words.len(), |at| place + 1 + at);
        let group = words.get(place..end).unwrap_or_default();
        let used = if is_address(word) && added.url.is_empty() {
            added.url = (*word).to_owned();
            1
        } else {
            take(group, &mut added, account, context)
        };
        if used == 0 {
            name.push(word);
        }
        place += used.max(1);
    }
    added.name = name.join(" ");
    added
}

/// `// note` at the end; the slashes of an address are none.
fn cut_note(line: &str) -> (&str, Option<String>) {
    let at = line.find(" //").filter(|at| line.get(at + 3..).is_some());
    match at.and_then(|at| Some((line.get(..at)?, line.get(at + 3..)?))) {
        Some((before, note)) if !note.trim().is_empty() => (before, Some(note.trim().to_owned())),
        _ => (line, None),
    }
}

fn begins(word: &str) -> bool {
    is_address(word) || (word.starts_with(MARKS) && word.chars().count() > 1)
}

fn is_address(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

/// Takes what the first word marks, and says how many words that were; none when it means nothing.
fn take(words: &[&str], added: &mut SmartAddTask, account: &Account, context: &DateContext) -> usize {
    let Some((mark, first)) = words.first().and_then(|word| {
        let mark = word.chars().next().filter(|mark| MARKS.contains(mark))?;
        Some((mark, word.get(mark.len_utf8()..)?))
    }) else {
        return 0;
    };
    if first.is_empty() {
        return 0;
    }
    let mut phrase = vec![first];
    phrase.extend(words.iter().skip(1));
    match mark {
        '^' => longest(&phrase, |text| phrase::when(text, context), &mut added.due),
        '~' => longest(&phrase, |text| phrase::when(text, context), &mut added.start),
        '*' => longest(&phrase, |text| recurrence::read(text, context), &mut added.rule),
        '@' => {
            longest(&phrase, |text| account.location_named(text).map(|found| found.id), &mut added.location)
        }
        '=' => {
            let mut estimate = None;
            let used = longest(&phrase, |text| phrase::seconds(text).map(|_| text.to_owned()), &mut estimate);
            added.estimate = estimate.unwrap_or_default();
            used
        }
        '!' => match first {
            "1" | "2" | "3" => {
                added.priority = Priority::read(first);
                1
            }
            _ => 0,
        },
        '+' => {
            let known =
                account.contacts.values().find(|contact| contact.username.eq_ignore_ascii_case(first));
            added.participants.extend(known.map(|contact| contact.id));
            usize::from(known.is_some())
        }
        _ => list_or_tag(&phrase, added, account),
    }
}

/// A list that is there wins over a tag; a tag is one word.
fn list_or_tag(phrase: &[&str], added: &mut SmartAddTask, account: &Account) -> usize {
    let find = |text: &str| account.list_named(text).filter(|list| list.holds_tasks()).map(|list| list.id);
    let mut list = None;
    let used = if added.list.is_none() { longest(phrase, find, &mut list) } else { 0 };
    if used > 0 {
        added.list = list;
        return used;
    }
    let tag = phrase.first().map(|tag| tag.to_lowercase()).unwrap_or_default();
    if !added.tags.contains(&tag) {
        added.tags.push(tag);
    }
    1
}

/// The longest beginning that means something, and how many words that were.
fn longest<T>(words: &[&str], meaning: impl Fn(&str) -> Option<T>, place: &mut Option<T>) -> usize {
    for used in (1..=words.len()).rev() {
        let text = words.get(..used).unwrap_or_default().join(" ");
        if let Some(found) = meaning(&text) {
            *place = Some(found);
            return used;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::phrase::DateContext;
    use super::{SmartAddTask, read};
    use crate::state::account::{Account, List, Location};

    fn account() -> Account {
        let mut account = Account::empty();
        account.lists.insert(7, List::named(7, "Work"));
        account.lists.insert(8, List::named(8, "Home Improvement"));
        account.lists.insert(9, List { filter: Some("tag:x".into()), ..List::named(9, "Clever") });
        let location = Location {
            id: 5,
            name: "Corner Shop".into(),
            longitude: 0.0,
            latitude: 0.0,
            address: String::new(),
        };
        account.locations.insert(5, location);
        account
    }

    fn parsed(line: &str) -> SmartAddTask {
        let account = account();
        let now: Timestamp = "2026-11-11T13:30:00Z".parse().unwrap();
        read(line, &account, &DateContext::new(&account, now))
    }

    /// The parsed task in one line.
    fn summary(line: &str) -> String {
        let added = parsed(line);
        let zone = account().zone();
        let mut out = vec![added.name];
        let day = |when: crate::state::account::TaskDate| {
            zone.to_datetime(when.at).strftime("%m-%d %H:%M").to_string()
        };
        out.extend(added.due.map(|due| format!("due {}", day(due))));
        out.extend(added.start.map(|start| format!("start {}", day(start))));
        out.extend(added.priority.map(|priority| format!("priority {}", priority.letter())));
        out.extend(added.list.map(|list| format!("list {list}")));
        out.extend(added.tags.iter().map(|tag| format!("tag {tag}")));
        out.extend(added.location.map(|location| format!("at {location}")));
        out.extend(added.rule.map(|rule| format!("{} {rule}", if rule.every { "every" } else { "after" })));
        out.extend((!added.estimate.is_empty()).then(|| format!("estimate {}", added.estimate)));
        out.extend((!added.url.is_empty()).then(|| format!("url {}", added.url)));
        out.extend(added.note.map(|note| format!("note {note}")));
        out.join(" | ")
    }

    #[test]
    fn lines() {
        for (line, expected) in [
            ("Buy milk", "Buy milk"),
            ("Buy milk ^tomorrow", "Buy milk | due 11-12 00:00"),
            ("Buy milk ^tomorrow at 9am !1", "Buy milk | due 11-12 09:00 | priority 1"),
            ("Buy ^friday bread", "Buy bread | due 11-13 00:00"),
            ("Buy ^in 3 days bread", "Buy bread | due 11-14 00:00"),
            ("Plan ~monday ^next friday", "Plan | due 11-20 00:00 | start 11-16 00:00"),
            ("Call #work", "Call | list 7"),
            ("Paint #home improvement #Red", "Paint | list 8 | tag red"),
            ("Paint #urgent now", "Paint now | tag urgent"),
            ("Think #clever", "Think | tag clever"),
            ("Both #work #home improvement", "Both improvement | list 7 | tag home"),
            ("Bread @corner shop", "Bread | at 5"),
            ("Bread @nowhere", "Bread @nowhere"),
            ("Water plants *after 3 days", "Water plants | after FREQ=DAILY;INTERVAL=3"),
            ("Bins *every monday !3", "Bins | priority 3 | every FREQ=WEEKLY;INTERVAL=1;BYDAY=MO;WKST=MO"),
            ("Read =1 hour 30 min", "Read | estimate 1 hour 30 min"),
            ("Read https://example.org/a#b", "Read | url https://example.org/a#b"),
            ("Read https://example.org ^today", "Read | due 11-11 00:00 | url https://example.org"),
            ("Ring Ana // ask about the garden", "Ring Ana | note ask about the garden"),
            ("Wow !4 and !", "Wow !4 and !"),
            ("Learn C# and 2*3=6", "Learn C# and 2*3=6"),
            ("Meet ^someday", "Meet ^someday"),
            ("Meet # nothing", "Meet # nothing"),
            ("^tomorrow", " | due 11-12 00:00"),
            ("Café ☕ ^today", "Café ☕ | due 11-11 00:00"),
        ] {
            assert_eq!(summary(line), expected, "{line}");
        }
    }
}
