//! A house around the fixture, whose journal is kept in memory.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use failwell_audit::{Journal, Style};
use failwell_server::{House, Room, Settings, keep_panics_quiet};
use serde_json::Value;

/// The longest line and the largest body of every world.
pub(crate) const LARGEST: usize = 2 * 1024 * 1024;
/// How long a request may take in every world, so that hanging handlers do not hang the suite.
pub(crate) const DEADLINE: Duration = Duration::from_millis(1_500);

/// The house, and what its operator read.
pub(crate) struct World {
    pub(crate) house: Arc<House>,
    journal: Journal,
    lines: Buffer,
}

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("buffer").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The usual bounds.
pub(crate) fn settings() -> Settings {
    Settings { request_deadline: DEADLINE, largest_answer: LARGEST, ..Settings::default() }
}

impl World {
    pub(crate) fn new() -> World {
        World::with(settings())
    }

    pub(crate) fn with(settings: Settings) -> World {
        static ROOM: OnceLock<Arc<dyn Room>> = OnceLock::new();
        keep_panics_quiet_here();
        let room = ROOM.get_or_init(|| Arc::new(failwell_suite::fixture().expect("the fixture builds")));
        let lines = Buffer::default();
        let journal = Journal::to(Style::Json, lines.clone());
        let house = House::new(room.clone(), settings, journal.clone()).expect("the house builds");
        World { house, journal, lines }
    }

    /// Every line the journal has so far.
    pub(crate) fn journal(&self) -> Vec<Value> {
        self.journal.flush();
        assert_eq!(self.journal.lost(), 0, "the journal lost lines");
        let bytes = self.lines.0.lock().expect("buffer").clone();
        let text = String::from_utf8(bytes).expect("the journal is UTF-8");
        text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
    }
}

impl World {
    /// The reasons of every line so far.
    pub(crate) fn reasons(&self) -> Vec<String> {
        self.journal().iter().map(|line| line["reason"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// Handlers panic on purpose here; assertions of tests must still be heard.
fn keep_panics_quiet_here() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let loud = std::panic::take_hook();
        keep_panics_quiet();
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let of_a_tool = info.location().is_some_and(|place| place.file().ends_with("trouble.rs"));
            if of_a_tool { quiet(info) } else { loud(info) }
        }));
    });
}
