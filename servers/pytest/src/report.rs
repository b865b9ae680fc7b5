//! The report of a run, built from its events.

pub(crate) mod answer;
pub(crate) mod coverage;
pub(crate) mod failure;
pub(crate) mod group;
pub(crate) mod render;
pub(crate) mod schema;
pub(crate) mod scrubber;
pub(crate) mod store;

use std::collections::BTreeMap;

use crate::project::Project;
use crate::report::scrubber::Scrubber;
use crate::run::event::{Event, Outcome, TestEvent};

/// Maximum number of stored tests, errors or items. Further ones are counted.
const MOST_KEPT: usize = 200_000;
/// Maximum size of a stored stack dump, in bytes.
const LONGEST_DUMP: usize = 64 * 1024;

#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub(crate) id: String,
    pub(crate) outcome: Outcome,
    pub(crate) duration: f64,
    /// Details of a test that did not simply pass.
    pub(crate) story: Option<Box<TestDetails>>,
}

/// Details of a test that did not simply pass.
#[derive(Debug, Clone, Default)]
pub(crate) struct TestDetails {
    pub(crate) phase: String,
    pub(crate) message: String,
    pub(crate) traceback: String,
    pub(crate) also: Option<String>,
    /// `path:line`, relative to the project if it is inside.
    pub(crate) place: Option<String>,
    pub(crate) sections: Vec<(String, String)>,
    pub(crate) subtests: u64,
    pub(crate) subfailed: u64,
}

/// An error during collection.
#[derive(Debug, Clone)]
pub(crate) struct CollectionError {
    pub(crate) file: String,
    pub(crate) error_type: String,
    pub(crate) message: String,
    pub(crate) line: Option<u64>,
    pub(crate) traceback: String,
}

/// One collected test.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Item {
    pub(crate) node_id: String,
    pub(crate) module: String,
    pub(crate) class: Option<String>,
    pub(crate) function: String,
    pub(crate) file: String,
    pub(crate) line: Option<u64>,
}

/// All data of a run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) python: Option<(String, String)>,
    pub(crate) pytest: Option<String>,
    pub(crate) no_pytest: Option<(String, bool)>,
    pub(crate) lacks: Vec<String>,
    pub(crate) collected: Option<u64>,
    pub(crate) deselected: u64,
    pub(crate) items: Vec<Item>,
    pub(crate) tests: Vec<Test>,
    pub(crate) collection_errors: Vec<CollectionError>,
    pub(crate) interrupt: Option<(String, String)>,
    pub(crate) internal: Option<(String, String)>,
    pub(crate) finish: Option<i32>,
    pub(crate) exit: Option<i32>,
    pub(crate) trouble: Vec<String>,
    pub(crate) dump: String,
    running: BTreeMap<String, u64>,
    started: u64,
    held: Option<String>,
}

/// The counts of a run. The four outcomes add up to the total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    pub(crate) errors: usize,
    pub(crate) xfailed: usize,
    pub(crate) xpassed: usize,
}

impl Counts {
    /// All finished tests.
    pub(crate) fn total(&self) -> usize {
        self.passed + self.failed + self.skipped + self.errors
    }
}

impl Report {
    /// Handles one line of the plugin. A line that is not an event is part of a stack dump.
    pub(crate) fn take_line(&mut self, line: &str, scrubber: &Scrubber, project: &Project) {
        match serde_json::from_str(line) {
            Ok(event) => self.take(event, scrubber, project),
            Err(_) if self.dump.len() < LONGEST_DUMP => {
                self.dump.push_str(&scrubber.clean(line));
                self.dump.push('\n');
            }
            Err(_) => {}
        }
    }

    fn take(&mut self, event: Event, scrubber: &Scrubber, project: &Project) {
        match event {
            Event::Python { version, executable } => self.python = Some((version, executable)),
            Event::NoPytest { msg, missing } => self.no_pytest = Some((scrubber.clean(&msg), missing)),
            Event::Lacks { what } => self.lacks.push(what),
            Event::Hello { pytest } => self.pytest = Some(pytest),
            Event::CollectError { id, path, kind, msg, line, tb } => {
                if self.collection_errors.len() < MOST_KEPT {
                    let file = path.as_deref().or(id.split("::").next()).unwrap_or_default();
                    self.collection_errors.push(CollectionError {
                        file: project.relative(file).to_owned(),
                        error_type: kind,
                        message: scrubber.clean(&msg),
                        line,
                        traceback: scrubber.clean(&tb),
                    });
                }
            }
            Event::Collected { n, deselected } => {
                self.collected = Some(n);
                self.deselected = deselected;
            }
            Event::Item { id, module, class, function, file, line } => {
                if self.items.len() < MOST_KEPT {
                    self.items.push(Item { node_id: id, module, class, function, file, line });
                }
            }
            Event::Start { id } => {
                self.started += 1;
                self.running.insert(id, self.started);
            }
            Event::Test(event) => self.finish_test(event, scrubber, project),
            Event::Interrupt { kind, msg } => self.interrupt = Some((kind, scrubber.clean(&msg))),
            Event::Internal { kind, text } => self.internal = Some((kind, scrubber.clean(&text))),
            Event::Finish { code } => self.finish = Some(code),
            Event::Exit { code } => self.exit = Some(code),
            Event::Trouble { hook, problem } => {
                if self.trouble.len() < 10 {
                    self.trouble.push(format!("{hook}: {}", scrubber.clean(&problem)));
                }
            }
        }
    }

    fn finish_test(&mut self, event: TestEvent, scrubber: &Scrubber, project: &Project) {
        self.running.remove(&event.id);
        if self.tests.len() >= MOST_KEPT {
            return;
        }
        let simple = event.outcome == Outcome::Passed && event.subtests == 0;
        let story = (!simple).then(|| Box::new(story(&event, scrubber, project)));
        self.tests.push(Test { id: event.id, outcome: event.outcome, duration: event.duration, story });
    }

    /// Remembers the running test, because it may still finish after the signal to stop.
    pub(crate) fn hold(&mut self) {
        self.held = self.running().map(str::to_owned);
    }

    /// The last test that started and did not finish, or had not finished at the time limit.
    pub(crate) fn running(&self) -> Option<&str> {
        if let Some(held) = &self.held {
            return Some(held);
        }
        self.running.iter().max_by_key(|(_, request)| **request).map(|(id, _)| id.as_str())
    }

    /// Whether collected tests have no outcome. A run that only lists tests is not short.
    pub(crate) fn is_short(&self) -> bool {
        let ended = u64::try_from(self.tests.len()).unwrap_or(u64::MAX);
        self.items.is_empty() && self.tests.len() < MOST_KEPT && self.collected.is_some_and(|all| ended < all)
    }

    /// The number of started tests.
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for test in &self.tests {
            match test.outcome {
                Outcome::Passed => counts.passed += 1,
                Outcome::Failed => counts.failed += 1,
                Outcome::Error => counts.errors += 1,
                Outcome::Skipped => counts.skipped += 1,
                Outcome::Xfailed => {
                    counts.skipped += 1;
                    counts.xfailed += 1;
                }
                Outcome::Xpassed => {
                    counts.passed += 1;
                    counts.xpassed += 1;
                }
            }
        }
        counts
    }
}

fn story(event: &TestEvent, scrubber: &Scrubber, project: &Project) -> TestDetails {
    let clean = |text: &Option<String>| text.as_deref().map(|text| scrubber.clean(text));
    let place = event.path.as_deref().map(|path| match event.line {
        Some(line) => format!("{}:{line}", project.relative(path)),
        None => project.relative(path).to_owned(),
    });
    TestDetails {
        phase: event.phase.clone().unwrap_or_default(),
        message: clean(&event.msg).unwrap_or_default(),
        traceback: clean(&event.tb).unwrap_or_default(),
        also: clean(&event.also),
        place,
        sections: event.sections.iter().map(|(name, text)| (name.clone(), scrubber.clean(text))).collect(),
        subtests: event.subtests,
        subfailed: event.subfailed,
    }
}
