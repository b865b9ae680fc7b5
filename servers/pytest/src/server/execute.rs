use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, Ref};
use failwell_sdk::{Context, ToolOutcome};
use serde_json::{Map, Value, json};

use super::{PytestState, WorkerUse};
use crate::affected::{AffectedTests, affected_tests};
use crate::arguments::{Execute, time_limit};
use crate::interpreter::Interpreter;
use crate::project::Project;
use crate::report::Report;
use crate::report::answer;
use crate::report::coverage;
use crate::report::render;
use crate::report::store::StoredRun;
use crate::run::RunRequest;
use crate::run::classify::RunVerdict;
use crate::run::plan;

/// Maximum number of listed flaky tests.
const MOST_FLAKY: usize = 100;

pub(super) async fn execute(
    state: Arc<PytestState>,
    given: Execute,
    cx: Context,
) -> Result<ToolOutcome, Fault> {
    let (project, interpreter) = match state.prepare(&given).await {
        Ok(prepared) => prepared,
        Err(answer) => return answer,
    };
    let call = ExecuteCall { state: &state, given: &given, project, interpreter, cx: &cx };
    match call.select().await {
        Selection::Nothing(note) => call.nothing(note),
        Selection::These(ids, notes) => call.run(&ids, notes).await,
    }
}

/// One call of the tool.
struct ExecuteCall<'a> {
    state: &'a PytestState,
    given: &'a Execute,
    project: Project,
    interpreter: Interpreter,
    cx: &'a Context,
}

/// The tests to run. An empty list of ids means all.
enum Selection {
    These(Vec<String>, Vec<String>),
    Nothing(&'static str),
}

impl ExecuteCall<'_> {
    async fn select(&self) -> Selection {
        let named = self.given.node_ids.clone().unwrap_or_default();
        let mut notes = Vec::new();
        let within =
            |id: &String| named.is_empty() || named.iter().any(|selection| plan::covers(selection, id));
        let mut ids = named.clone();
        if self.given.last_failed == Some(true) {
            let failed: Vec<String> = self.last_failed().into_iter().filter(within).collect();
            if failed.is_empty() {
                notes.push("no failure of an earlier run is known here, so everything was run".to_owned());
            } else {
                ids = failed;
            }
        }
        if let Some(revision) = &self.given.changed_since {
            match affected_tests(&self.state.settings.launcher, self.project.root(), revision).await {
                AffectedTests::All(why) => notes.push(format!("everything was run: {why}")),
                AffectedTests::Files(files) => {
                    let reached: Vec<String> = if ids.is_empty() {
                        files
                    } else {
                        let hit = |id: &String| files.iter().any(|file| plan::covers(file, id));
                        let inner =
                            files.iter().filter(|file| ids.iter().any(|id| plan::covers(id, file))).cloned();
                        inner.chain(ids.iter().filter(|id| hit(id)).cloned()).collect()
                    };
                    if reached.is_empty() {
                        return Selection::Nothing("no test file is affected by the change");
                    }
                    notes.push(format!("{} test files or tests are affected by the change", reached.len()));
                    ids = reached;
                }
            }
        }
        Selection::These(ids, notes)
    }

    /// The failed tests of this caller's last run in this project that ran any tests.
    fn last_failed(&self) -> Vec<String> {
        let caller = self.cx.client().caller.to_string();
        let runs = self.state.store.by_caller(&caller);
        let last = runs.iter().find(|run| run.project == self.project.root() && !run.report.tests.is_empty());
        let failed =
            last.into_iter().flat_map(|run| run.report.tests.iter().filter(|test| test.outcome.is_bad()));
        failed.map(|test| test.id.clone()).filter(|id| self.project.has_test(id)).collect()
    }

    fn request(&self, ids: &[String], limit: Duration) -> RunRequest {
        let arguments = plan::execute(self.given, ids, &self.project, self.state.folder.path());
        let measured = (self.given.coverage == Some(true))
            .then(|| self.state.folder.path().join(format!("coverage-{}.json", Ref::fresh())));
        let more = [
            ("per_test_timeout", json!(self.given.per_test_timeout)),
            ("workers", json!(self.given.workers)),
            ("coverage", json!(measured)),
        ];
        let mut request = self.state.request(&self.project, &self.interpreter, arguments, more, limit);
        request.per_test = self.given.per_test_timeout.map(Duration::from_secs_f64);
        request
    }

    async fn run(&self, ids: &[String], notes: Vec<String>) -> Result<ToolOutcome, Fault> {
        let limit = time_limit(self.given.timeout, self.state.settings.most_seconds);
        let times = self.given.repeat.unwrap_or(1);
        let warmth =
            if times > 1 || self.given.cold == Some(true) { WorkerUse::Cold } else { WorkerUse::Any };
        let detail = self.given.detail.unwrap_or_default();
        let characters = render::budget(self.given.budget, detail);
        let began = Instant::now();
        let mut tally = OutcomeTally::default();
        let mut runs_left = times;
        loop {
            let request = self.request(ids, limit.saturating_sub(began.elapsed()));
            let outcome = match self.state.perform(&request, warmth, self.cx).await {
                Ok(outcome) => outcome,
                Err(fault) => return self.state.launch_failed(fault, &self.project),
            };
            let mut outcome = self.state.keep(outcome, &request, self.cx);
            let RunVerdict::Completed { exit_code } = outcome.1 else {
                if outcome.2 == request.limit {
                    outcome.2 = limit;
                }
                return self.state.failure(&outcome, &request, characters);
            };
            tally.count(&outcome.0.report);
            runs_left -= 1;
            if runs_left > 0 {
                continue;
            }
            let extra = self.extra(&outcome.0, &request, notes, (times > 1).then_some((times, &tally)));
            return render::completed(&outcome.0, exit_code, &self.interpreter, detail, characters, extra);
        }
    }

    fn extra(
        &self,
        run: &StoredRun,
        request: &RunRequest,
        notes: Vec<String>,
        tally: Option<(u64, &OutcomeTally)>,
    ) -> Map<String, Value> {
        let mut extra = Map::new();
        let notes = render::notes(run, notes);
        if !notes.is_empty() {
            extra.insert("notes".to_owned(), json!(notes));
        }
        if let Some(count) = self.given.durations {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            extra.insert("durations".to_owned(), answer::slowest(&run.report, count));
        }
        if let Some(path) = request.settings.get("coverage").and_then(Value::as_str) {
            let path = std::path::Path::new(path);
            if let Some(measured) = coverage::read(path) {
                extra.insert("coverage".to_owned(), measured);
            }
            let _ = std::fs::remove_file(path);
        }
        if let Some((times, tally)) = tally {
            extra.insert("repeat".to_owned(), tally.verdict(times));
        }
        extra
    }

    /// An empty selection is a result too.
    fn nothing(&self, note: &'static str) -> Result<ToolOutcome, Fault> {
        let run = StoredRun {
            id: Ref::fresh().to_string(),
            caller: String::new(),
            project: self.project.root().to_owned(),
            ended: Instant::now(),
            took: Duration::ZERO,
            mode: "none",
            sandbox_note: self.state.sandbox_note,
            status: "no_tests",
            report: Report::default(),
            stdout: String::new(),
            stderr: String::new(),
        };
        let extra = Map::from_iter([("notes".to_owned(), json!([note]))]);
        let detail = self.given.detail.unwrap_or_default();
        render::completed(
            &run,
            5,
            &self.interpreter,
            detail,
            render::budget(self.given.budget, detail),
            extra,
        )
    }
}

/// The number of outcomes of each test over several runs.
#[derive(Debug, Default)]
struct OutcomeTally(BTreeMap<String, BTreeMap<&'static str, u64>>);

impl OutcomeTally {
    fn count(&mut self, report: &Report) {
        for test in &report.tests {
            *self.0.entry(test.id.clone()).or_default().entry(test.outcome.word()).or_default() += 1;
        }
    }

    fn verdict(&self, times: u64) -> Value {
        let flaky: Vec<Value> = self
            .0
            .iter()
            .filter(|(_, outcomes)| outcomes.len() > 1 || outcomes.values().sum::<u64>() != times)
            .map(|(id, outcomes)| json!({"node_id": id, "outcomes": outcomes}))
            .collect();
        let verdict = if flaky.is_empty() { "stable" } else { "flaky" };
        let shown: Vec<&Value> = flaky.iter().take(MOST_FLAKY).collect();
        json!({"runs": times, "verdict": verdict, "flaky_count": flaky.len(), "flaky": shown})
    }
}
