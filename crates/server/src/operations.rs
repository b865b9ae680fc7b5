//! What happened lately and what happens now, for developers who watch: the heads of records as the ledger has them, and
//! how far calls are. Filled on the ledger's own thread, so that no request waits for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use failwell_audit::{Sink, Written};
use failwell_fault::{Fault, reason};
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};

/// How many exchanges are remembered.
const MOST: usize = 1_000;
/// How many events wait for a listener that is slow; one that falls behind is told how many it missed.
const LONGEST_QUEUE: usize = 256;
/// How many may listen.
const MOST_LISTENERS: usize = 64;
/// A record longer than this is shortened before it is remembered.
const LONG: usize = 4 * 1024;

/// What of a record is shown. Stories, bodies and what guards found stay with the operator.
const SHOWN: &[&str] = &[
    "timestamp",
    "ref",
    "outcome",
    "service",
    "transport",
    "face",
    "era",
    "caller",
    "method",
    "target",
    "server",
    "duration_us",
    "bytes_in",
    "bytes_out",
    "reason",
    "kind",
    "code",
    "effect",
    "retry",
    "origin",
    "trace_id",
];

/// The exchanges of one program. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Operations(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Tells this run of the program from others.
    run: String,
    kept: Mutex<Kept>,
    told: broadcast::Sender<Arc<Happening>>,
    listeners: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The number of the last one.
    last: u64,
    /// Records as they were written, or what is left of long ones, the oldest first.
    recent: VecDeque<(u64, Box<str>)>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// Its number among those that can be asked for again.
    pub number: Option<u64>,
    /// What sort of thing: `system`, `operation`, `progress`.
    pub event: &'static str,
    /// All about it.
    pub data: Value,
}

impl Default for Operations {
    fn default() -> Operations {
        let run = failwell_fault::Ref::fresh().to_string();
        let (kept, told) = (Mutex::default(), broadcast::Sender::new(LONGEST_QUEUE));
        Operations(Arc::new(Inner { run, kept, told, listeners: Arc::new(Semaphore::new(MOST_LISTENERS)) }))
    }
}

impl Operations {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latest first, so many at the most; of those that failed alone, if that is wanted.
    pub(crate) fn recent(&self, limit: usize, wanted: Wanted) -> Vec<Value> {
        let all: Vec<Box<str>> = self.kept().recent.iter().rev().map(|(_, text)| text.clone()).collect();
        let shown = all.iter().filter_map(|text| shown(text));
        shown.filter(|record| wanted == Wanted::All || record.get("reason").is_some()).take(limit).collect()
    }

    /// What puts records here, on the ledger's thread.
    pub fn sink(&self) -> impl Sink + use<> {
        Feed(self.clone())
    }

    fn remember(&self, body: &str) {
        if body.contains(OF_THE_LEDGER) {
            return;
        }
        let shortened = (body.len() > LONG).then(|| shown(body)).flatten().map(|record| record.to_string());
        let text: Box<str> = shortened.as_deref().unwrap_or(body).into();
        let number = {
            let mut kept = self.kept();
            kept.last += 1;
            let number = kept.last;
            kept.recent.push_back((number, text));
            if kept.recent.len() > MOST {
                kept.recent.pop_front();
            }
            number
        };
        if self.has_listeners()
            && let Some(data) = shown(body)
        {
            self.tell(Happening { number: Some(number), event: "operation", data });
        }
    }

    /// Whether anybody would hear it.
    pub(crate) fn has_listeners(&self) -> bool {
        self.0.told.receiver_count() > 0
    }

    /// Tells everybody who listens.
    pub(crate) fn tell(&self, happening: Happening) {
        // An error means that the last one has just hung up.
        let _ = self.0.told.send(Arc::new(happening));
    }

    /// Listens from now on. Somebody who was here before says which event was the last, and hears what it missed, as
    /// far as that is remembered.
    pub fn listen(&self, last: Option<&str>) -> Result<Listening, Fault> {
        let full = || Fault::new(&reason::HTTP_TOO_MANY_LISTENERS).fact("limit", MOST_LISTENERS);
        let place = self.0.listeners.clone().try_acquire_owned().map_err(|_| full())?;
        // Before the look at what is remembered: what happens in between is heard, and told once.
        let heard = self.0.told.subscribe();
        let missed = last.map(|last| self.missed(last)).unwrap_or_default();
        let seen = missed.back().and_then(|happening| happening.number).unwrap_or(0);
        let hello = json!({"type": "connection_established", "run": self.0.run});
        let mut waiting = missed;
        waiting.push_front(Happening { number: None, event: "system", data: hello });
        Ok(Listening { run: self.0.run.clone(), heard, waiting, seen, _place: place })
    }

    /// Everything remembered behind an event; all of it when the event was of an earlier run.
    fn missed(&self, last: &str) -> VecDeque<Happening> {
        let after =
            last.strip_prefix(&self.0.run).and_then(|rest| rest.strip_prefix('-')?.parse::<u64>().ok());
        let after = after.unwrap_or(0);
        let kept: Vec<(u64, Box<str>)> =
            self.kept().recent.iter().filter(|(number, _)| *number > after).cloned().collect();
        let happening = |(number, text): (u64, Box<str>)| {
            shown(&text).map(|data| Happening { number: Some(number), event: "operation", data })
        };
        kept.into_iter().filter_map(happening).collect()
    }
}

/// Which exchanges somebody wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All of them.
    All,
    /// Those that failed.
    Failed,
}

/// What the ledger says of itself is no exchange. Within a text the quotes would be escaped.
const OF_THE_LEDGER: &str = r#""outcome":"event""#;

/// The head of a record.
fn shown(body: &str) -> Option<Value> {
    let record: Map<String, Value> = serde_json::from_str(body).ok()?;
    Some(record.into_iter().filter(|(name, _)| SHOWN.contains(&name.as_str())).collect::<Map<_, _>>().into())
}

struct Feed(Operations);

impl Sink for Feed {
    fn name(&self) -> &'static str {
        "operations"
    }

    fn write(&mut self, written: &[Written]) -> Result<(), Fault> {
        written.iter().for_each(|record| self.0.remember(&record.body));
        Ok(())
    }
}

/// Somebody who listens.
#[derive(Debug)]
pub struct Listening {
    run: String,
    heard: broadcast::Receiver<Arc<Happening>>,
    waiting: VecDeque<Happening>,
    /// The number of the last one that was told.
    seen: u64,
    _place: OwnedSemaphorePermit,
}

impl Listening {
    /// The next thing that happens; `None` when nothing will any more.
    pub async fn next(&mut self) -> Option<Happening> {
        if let Some(waiting) = self.waiting.pop_front() {
            return Some(waiting);
        }
        loop {
            match self.heard.recv().await {
                Ok(happening) if happening.number.is_some_and(|number| number <= self.seen) => {}
                Ok(happening) => return Some(Happening::clone(&happening)),
                Err(broadcast::error::RecvError::Lagged(count)) => {
                    let data = json!({"type": "events_missed", "count": count});
                    return Some(Happening { number: None, event: "system", data });
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// What somebody says when coming back after this one.
    pub fn id_of(&self, happening: &Happening) -> Option<String> {
        happening.number.map(|number| format!("{}-{number}", self.run))
    }
}

#[cfg(test)]
mod tests {
    use super::{Operations, Wanted};
    use serde_json::json;

    fn record(number: u64) -> String {
        let mut record = json!({"ref": format!("r{number}"), "outcome": "ok", "story": {"secret": 1}});
        if number.is_multiple_of(2) {
            record["reason"] = json!("mcp/UNKNOWN_TOOL");
        }
        record.to_string()
    }

    #[tokio::test]
    async fn the_latest_come_first_and_the_oldest_are_forgotten() {
        let operations = Operations::default();
        (0..1_500).for_each(|number| operations.remember(&record(number)));
        operations.remember(r#"{"outcome":"event","event":{}}"#);
        let recent = operations.recent(3, Wanted::All);
        assert_eq!(recent.len(), 3);
        assert_eq!(recent.first().map(|first| &first["ref"]), Some(&json!("r1499")));
        assert!(!recent.iter().any(|record| record.to_string().contains("secret")));
        assert_eq!(operations.recent(5_000, Wanted::Failed).len(), 500);
        let long = json!({"ref": "long", "outcome": "ok", "bodies": "x".repeat(10_000)}).to_string();
        operations.remember(&long);
        assert!(operations.kept().recent.back().is_some_and(|(_, text)| text.len() < 100));
    }

    #[tokio::test]
    async fn who_comes_back_hears_what_it_missed() {
        let operations = Operations::default();
        let mut first = operations.listen(None).expect("room");
        let hello = first.next().await.expect("hello");
        assert_eq!((hello.event, &hello.data["type"]), ("system", &json!("connection_established")));
        operations.remember(&record(1));
        let heard = first.next().await.expect("an operation");
        assert_eq!((heard.event, &heard.data["ref"]), ("operation", &json!("r1")));
        let id = first.id_of(&heard).expect("a number");
        drop(first);
        operations.remember(&record(2));
        let mut again = operations.listen(Some(&id)).expect("room");
        assert_eq!(again.next().await.expect("hello").event, "system");
        assert_eq!(again.next().await.expect("missed").data["ref"], "r2");
        operations.remember(&record(3));
        assert_eq!(again.next().await.expect("live").data["ref"], "r3");
        let mut other = operations.listen(Some("another-7")).expect("room");
        other.next().await;
        assert_eq!(other.next().await.expect("all of it").data["ref"], "r1");
        (0..400).for_each(|number| operations.remember(&record(number)));
        assert_eq!(again.next().await.expect("told").data["type"], "events_missed");
        let more: Vec<_> = (0..70).map_while(|_| operations.listen(None).ok()).collect();
        assert_eq!(more.len(), 62);
    }
}
