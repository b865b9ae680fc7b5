//! A pipeline around the fixture, whose journal is kept in memory.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use failwell_controls::{Settings, build_pipeline};
use failwell_pipeline::{Pipeline, PipelineSettings, keep_panics_quiet};
use failwell_suite::MemoryJournal;
use failwell_toolbox::ToolServer;
use serde_json::Value;

/// The longest line and the largest body of every world.
pub(crate) const LARGEST: usize = 2 * 1024 * 1024;
/// The time limit of requests, so that hanging handlers do not hang the suite.
pub(crate) const DEADLINE: Duration = Duration::from_secs(4);

/// The pipeline and its journal.
pub(crate) struct World {
    pub(crate) pipeline: Arc<Pipeline>,
    written: MemoryJournal,
}

/// The usual limits.
pub(crate) fn bounds() -> PipelineSettings {
    PipelineSettings { request_deadline: DEADLINE, largest_answer: LARGEST, ..PipelineSettings::default() }
}

pub(crate) fn settings() -> Settings {
    Settings { bounds: bounds(), ..Settings::default() }
}

impl World {
    pub(crate) fn new() -> World {
        World::with(settings())
    }

    pub(crate) fn with(settings: Settings) -> World {
        static SERVER: OnceLock<Arc<dyn ToolServer>> = OnceLock::new();
        keep_panics_quiet_here();
        let server = SERVER.get_or_init(|| Arc::new(failwell_suite::fixture().expect("the fixture builds")));
        let written = MemoryJournal::default();
        let journal = written.journal().clone();
        let pipeline = build_pipeline(server.clone(), settings, journal).expect("the pipeline builds");
        World { pipeline, written }
    }

    /// Every line the journal has so far.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let text = self.written.text();
        assert_eq!(self.written.journal().lost(), 0, "the journal lost lines");
        text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
    }
}

impl World {
    /// Waits until this many requests are running.
    pub(crate) async fn works_on(&self, requests: usize) {
        let wanted = format!("failwell_requests_in_flight {requests}");
        let begun = async {
            while !self.pipeline.metrics().lines().any(|line| line == wanted) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            // A request is counted before its handler begins, so wait a moment longer.
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let begun = tokio::time::timeout(Duration::from_secs(30), begun).await;
        begun.unwrap_or_else(|_| panic!("never {requests} requests at once: {}", self.pipeline.metrics()));
    }

    /// The reasons of every line, once there is one.
    pub(crate) async fn reasons_soon(&self) -> Vec<String> {
        for _ in 0..3_000 {
            let reasons = self.reasons();
            if !reasons.is_empty() {
                return reasons;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Vec::new()
    }

    /// The reasons of every line so far.
    pub(crate) fn reasons(&self) -> Vec<String> {
        self.journal().iter().map(|line| line["reason"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// Silences the intended panics of handlers, but not those of test assertions.
fn keep_panics_quiet_here() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let loud = std::panic::take_hook();
        keep_panics_quiet();
        let quiet = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let of_a_tool = info.location().is_some_and(|place| place.file().ends_with("failing_tools.rs"));
            if of_a_tool { quiet(info) } else { loud(info) }
        }));
    });
}
