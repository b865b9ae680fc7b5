//! The log of a session: steps for a report, and the current recording.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::steps::{SessionHistory, Step};

/// Maximum number of stored steps. The oldest are evicted first.
const MOST_STEPS: usize = 1_000;
/// Maximum number of steps of a recording.
pub(crate) const MOST_RECORDED: usize = 500;

/// One step of a batch or a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Written")]
pub(crate) struct RecordedStep {
    /// A tool of this server that works in a session.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) tool: String,
    /// Its arguments, without session.
    #[serde(default)]
    pub(crate) arguments: Map<String, Value>,
}

#[derive(Debug)]
pub(crate) struct SessionLog {
    device: String,
    driver: &'static str,
    began: Instant,
    began_at: String,
    steps: VecDeque<Step>,
    made: u64,
    recording: Option<Vec<RecordedStep>>,
}

impl SessionLog {
    pub(crate) fn new(device: &str, driver: &'static str) -> SessionLog {
        SessionLog {
            device: device.to_owned(),
            driver,
            began: Instant::now(),
            began_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            steps: VecDeque::new(),
            made: 0,
            recording: None,
        }
    }

    /// Adds a step with the next number.
    pub(crate) fn write(&mut self, step: Step) {
        self.made += 1;
        self.steps.push_back(Step { number: self.made, ..step });
        if self.steps.len() > MOST_STEPS {
            self.steps.pop_front();
        }
    }

    /// The time since the start of the session.
    pub(crate) fn at(&self) -> Duration {
        self.began.elapsed()
    }

    /// The number of steps so far.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    pub(crate) fn start_recording(&mut self) {
        self.recording = Some(Vec::new());
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Adds a step to the recording, if there is one and it is not full.
    pub(crate) fn record(&mut self, step: RecordedStep) {
        if let Some(recording) = self.recording.as_mut().filter(|steps| steps.len() < MOST_RECORDED) {
            recording.push(step);
        }
    }

    pub(crate) fn stop_recording(&mut self) -> Option<Vec<RecordedStep>> {
        self.recording.take()
    }

    /// The whole history, for a report.
    pub(crate) fn run(&self, title: String, session: &str) -> SessionHistory {
        let last = self.steps.back().map_or(Duration::ZERO, |step| step.at + step.took);
        let first = self.steps.front().map_or(Duration::ZERO, |step| step.at);
        SessionHistory {
            title,
            device: self.device.clone(),
            driver: self.driver.to_owned(),
            session: session.to_owned(),
            began: self.began_at.clone(),
            took: last.saturating_sub(first),
            steps: self.steps.iter().cloned().collect(),
            forgotten: self.made.saturating_sub(u64::try_from(self.steps.len()).unwrap_or(u64::MAX)),
        }
    }
}
