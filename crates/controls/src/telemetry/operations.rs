//! Recent and running operations for developers: the headers of ledger records, and the progress of calls.
//! The ledger's thread fills them, so that no request waits.

use std::collections::VecDeque;
use std::sync::Arc;

use failwell_audit::{LedgerRecord, Sink};
use failwell_fault::{Fault, reason};
use failwell_pipeline::ProgressObserver;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};

/// The maximum number of remembered exchanges.
const MOST: usize = 1_000;
/// The maximum number of events queued for a slow listener. A listener that falls behind gets the number of
/// missed events.
const LONGEST_QUEUE: usize = 256;
/// The maximum number of listeners.
const MOST_LISTENERS: usize = 64;
/// A record larger than this, in bytes, is shortened before it is stored.
const LONG: usize = 4 * 1024;

/// The visible members of a record. Cause chains, bodies and guard findings stay with the operator.
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

/// The operations of one program. Clones are cheap.
#[derive(Debug, Clone)]
pub struct Operations(Arc<OperationsState>);

#[derive(Debug)]
struct OperationsState {
    /// Identifies this run of the program.
    run: String,
    recent: Mutex<RecentOperations>,
    sender: broadcast::Sender<Arc<OperationEvent>>,
    listeners: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct RecentOperations {
    /// The number of the latest record.
    last: u64,
    /// Records as written, or shortened if long; oldest first.
    recent: VecDeque<(u64, Box<str>)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OperationEvent {
    /// The number of an event that can be replayed.
    pub number: Option<u64>,
    /// The event type: `system`, `operation`, `progress`.
    pub event: &'static str,
    pub data: Value,
}

impl Default for Operations {
    fn default() -> Operations {
        let run = failwell_fault::Ref::fresh().to_string();
        let (recent, sender) = (Mutex::default(), broadcast::Sender::new(LONGEST_QUEUE));
        Operations(Arc::new(OperationsState {
            run,
            recent,
            sender,
            listeners: Arc::new(Semaphore::new(MOST_LISTENERS)),
        }))
    }
}

impl Operations {
    /// Returns up to `limit` operations that match the filter, latest first.
    pub(crate) fn recent(&self, limit: usize, wanted: OperationFilter) -> Vec<Value> {
        let all: Vec<Box<str>> =
            self.0.recent.lock().recent.iter().rev().map(|(_, text)| text.clone()).collect();
        let shown = all.iter().filter_map(|text| shown(text));
        shown
            .filter(|record| wanted == OperationFilter::All || record.get("reason").is_some())
            .take(limit)
            .collect()
    }

    /// Returns the sink that adds records, on the ledger's thread.
    pub fn sink(&self) -> impl Sink + use<> {
        OperationsSink(self.clone())
    }

    fn remember(&self, body: &str) {
        if body.contains(OF_THE_LEDGER) {
            return;
        }
        let shortened = (body.len() > LONG).then(|| shown(body)).flatten().map(|record| record.to_string());
        let text: Box<str> = shortened.as_deref().unwrap_or(body).into();
        let number = {
            let mut recent = self.0.recent.lock();
            recent.last += 1;
            let number = recent.last;
            recent.recent.push_back((number, text));
            if recent.recent.len() > MOST {
                recent.recent.pop_front();
            }
            number
        };
        if self.has_listeners()
            && let Some(data) = shown(body)
        {
            self.tell(OperationEvent { number: Some(number), event: "operation", data });
        }
    }

    fn has_listeners(&self) -> bool {
        self.0.sender.receiver_count() > 0
    }

    /// Sends an event to all listeners.
    fn tell(&self, happening: OperationEvent) {
        // An error means that the last listener has just disconnected.
        let _ = self.0.sender.send(Arc::new(happening));
    }

    /// Starts to listen. A listener that reconnects passes its last event id, and gets the remembered events
    /// since.
    pub fn listen(&self, last: Option<&str>) -> Result<OperationListener, Fault> {
        let full = || Fault::new(&reason::HTTP_TOO_MANY_LISTENERS).fact("limit", MOST_LISTENERS);
        let place = self.0.listeners.clone().try_acquire_owned().map_err(|_| full())?;
        // The subscription comes before the replay: events in between are received, and sent once.
        let events = self.0.sender.subscribe();
        let missed = last.map(|last| self.missed(last)).unwrap_or_default();
        let seen = missed.back().and_then(|happening| happening.number).unwrap_or(0);
        let hello = json!({"type": "connection_established", "run": self.0.run});
        let mut waiting = missed;
        waiting.push_front(OperationEvent { number: None, event: "system", data: hello });
        Ok(OperationListener { run: self.0.run.clone(), events, waiting, seen, _place: place })
    }

    /// The remembered events after this one. After a restart of the program, all remembered events.
    fn missed(&self, last: &str) -> VecDeque<OperationEvent> {
        let after =
            last.strip_prefix(&self.0.run).and_then(|rest| rest.strip_prefix('-')?.parse::<u64>().ok());
        let after = after.unwrap_or(0);
        let recent: Vec<(u64, Box<str>)> =
            self.0.recent.lock().recent.iter().filter(|(number, _)| *number > after).cloned().collect();
        let happening = |(number, text): (u64, Box<str>)| {
            shown(&text).map(|data| OperationEvent { number: Some(number), event: "operation", data })
        };
        recent.into_iter().filter_map(happening).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationFilter {
    All,
    Failed,
}

/// Marks the ledger's own events, which are not exchanges. Inside a string the quotes would be escaped.
const OF_THE_LEDGER: &str = r#""outcome":"event""#;

/// Returns the visible members of a record.
fn shown(body: &str) -> Option<Value> {
    let record: Map<String, Value> = serde_json::from_str(body).ok()?;
    Some(record.into_iter().filter(|(name, _)| SHOWN.contains(&name.as_str())).collect::<Map<_, _>>().into())
}

impl ProgressObserver for Operations {
    fn is_watched(&self) -> bool {
        self.has_listeners()
    }

    fn progress(&self, report: Map<String, Value>) {
        self.tell(OperationEvent { number: None, event: "progress", data: report.into() });
    }
}

struct OperationsSink(Operations);

impl Sink for OperationsSink {
    fn name(&self) -> &'static str {
        "operations"
    }

    fn write(&mut self, written: &[LedgerRecord]) -> Result<(), Fault> {
        written.iter().for_each(|record| self.0.remember(&record.body));
        Ok(())
    }
}

#[derive(Debug)]
pub struct OperationListener {
    run: String,
    events: broadcast::Receiver<Arc<OperationEvent>>,
    waiting: VecDeque<OperationEvent>,
    /// The number of the last event that was sent.
    seen: u64,
    _place: OwnedSemaphorePermit,
}

impl OperationListener {
    /// The next event; `None` after the end.
    pub async fn next(&mut self) -> Option<OperationEvent> {
        if let Some(waiting) = self.waiting.pop_front() {
            return Some(waiting);
        }
        loop {
            match self.events.recv().await {
                Ok(happening) if happening.number.is_some_and(|number| number <= self.seen) => {}
                Ok(happening) => return Some(OperationEvent::clone(&happening)),
                Err(broadcast::error::RecvError::Lagged(count)) => {
                    let data = json!({"type": "events_missed", "count": count});
                    return Some(OperationEvent { number: None, event: "system", data });
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// The event id with which a listener resumes after this event.
    pub fn id_of(&self, happening: &OperationEvent) -> Option<String> {
        happening.number.map(|number| format!("{}-{number}", self.run))
    }
}

#[cfg(test)]
mod tests {
    use super::{OperationFilter, Operations};
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
        let recent = operations.recent(3, OperationFilter::All);
        assert_eq!(recent.len(), 3);
        assert_eq!(recent.first().map(|first| &first["ref"]), Some(&json!("r1499")));
        assert!(!recent.iter().any(|record| record.to_string().contains("secret")));
        assert_eq!(operations.recent(5_000, OperationFilter::Failed).len(), 500);
        let long = json!({"ref": "long", "outcome": "ok", "bodies": "x".repeat(10_000)}).to_string();
        operations.remember(&long);
        assert!(operations.0.recent.lock().recent.back().is_some_and(|(_, text)| text.len() < 100));
    }

    #[tokio::test]
    async fn who_comes_back_hears_what_it_missed() {
        let operations = Operations::default();
        let mut first = operations.listen(None).expect("room");
        let hello = first.next().await.expect("hello");
        assert_eq!((hello.event, &hello.data["type"]), ("system", &json!("connection_established")));
        operations.remember(&record(1));
        let event = first.next().await.expect("an operation");
        assert_eq!((event.event, &event.data["ref"]), ("operation", &json!("r1")));
        let id = first.id_of(&event).expect("a number");
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
