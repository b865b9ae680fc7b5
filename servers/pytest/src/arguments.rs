//! The arguments of the tools. The schemas are generated from these types. Rules that a schema cannot express
//! are checked here, before anything starts.

use std::time::Duration;

use failwell_fault::{Fault, Pointer, Rule, Violation};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::expression::{ExpressionKind, is_sound};
use crate::project::{Project, is_data};
use crate::reason;

/// The default time limit of a run, in seconds.
const DEFAULT_TIMEOUT: u64 = 120;

/// Runs tests.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Execute {
    /// Tests, files or folders to run, such as tests/test_a.py::test_one. All tests when left out.
    #[schemars(length(max = 10_000))]
    pub(crate) node_ids: Option<Vec<String>>,
    /// Only tests with these markers: names with and, or, not and brackets.
    #[schemars(length(min = 1, max = 2_000))]
    pub(crate) markers: Option<String>,
    /// Only tests whose names match: names with and, or, not and brackets.
    #[schemars(length(min = 1, max = 2_000))]
    pub(crate) keywords: Option<String>,
    /// How much pytest itself prints, from -2 to 2.
    #[schemars(range(min = -2, max = 2))]
    pub(crate) verbosity: Option<i64>,
    /// Stop at the first failure. Not together with maxfail.
    pub(crate) failfast: Option<bool>,
    /// Stop after this many failures. Not together with failfast.
    #[schemars(range(min = 1))]
    pub(crate) maxfail: Option<u64>,
    /// Whether pytest's text shows the captured output of failing tests.
    pub(crate) show_capture: Option<bool>,
    /// Seconds the whole run may take; 120 when left out.
    #[schemars(range(min = 1))]
    pub(crate) timeout: Option<u64>,
    /// How much of the results to give: summary (counts and causes), failures (those first, the rest as it fits),
    /// full (everything).
    pub(crate) detail: Option<Detail>,
    /// Characters the answer may have; 8000 when left out, 400000 for full.
    #[schemars(range(min = 1_000, max = 4_000_000))]
    pub(crate) budget: Option<u64>,
    /// Only tests that failed in the last run here; all when none did.
    pub(crate) last_failed: Option<bool>,
    /// Only test files that a change since this git revision can affect; all when that cannot be told.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) changed_since: Option<String>,
    /// Seconds any one test may take. A test that takes longer fails, and the run goes on.
    #[schemars(range(min = 0.1, max = 86_400.0))]
    pub(crate) per_test_timeout: Option<f64>,
    /// How many of the slowest tests to list.
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) durations: Option<u64>,
    /// Measure line coverage, with pytest-cov where it is installed.
    pub(crate) coverage: Option<bool>,
    /// Run this many times, each in a fresh process, and say which tests are flaky.
    #[schemars(range(min = 2, max = 50))]
    pub(crate) repeat: Option<u64>,
    /// Run in a fresh process even when a warm one is ready.
    pub(crate) cold: Option<bool>,
    /// A folder inside the served project to run in.
    #[schemars(length(min = 1, max = 4_096))]
    pub(crate) project: Option<String>,
    /// How many processes to spread the tests over, with pytest-xdist where it is installed.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) workers: Option<u64>,
}

/// How much of the results to give.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Detail {
    /// Counts and causes.
    Summary,
    /// Failures first, the rest as it fits.
    #[default]
    Failures,
    /// Everything.
    Full,
}

/// Lists tests without running them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Discover {
    /// A file or folder inside the project to look in.
    #[schemars(length(min = 1, max = 4_096))]
    pub(crate) path: Option<String>,
    /// Which files hold tests, such as check_*.py; the project's own setting when left out.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) pattern: Option<String>,
    /// Seconds it may take; 120 when left out.
    #[schemars(range(min = 1))]
    pub(crate) timeout: Option<u64>,
    /// Characters the answer may have; 100000 when left out.
    #[schemars(range(min = 1_000, max = 4_000_000))]
    pub(crate) budget: Option<u64>,
    /// Use a fresh process even when a warm one is ready.
    pub(crate) cold: Option<bool>,
    /// A folder inside the served project to look in.
    #[schemars(length(min = 1, max = 4_096))]
    pub(crate) project: Option<String>,
}

/// Shows one failure in full.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetFailure {
    /// The run, from its answer or from list_runs.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) run_id: String,
    /// The test, exactly as the run's answer names it.
    #[schemars(length(min = 1, max = 16_384))]
    pub(crate) node_id: String,
}

/// Lists the last runs.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListRuns {}

/// All violations of a call.
#[derive(Debug, Default)]
pub(crate) struct Violations(Vec<Violation>);

impl Violations {
    pub(crate) fn add(&mut self, place: &[&str], rule: Rule, limit: impl Into<failwell_fault::Fact>) {
        let pointer = place.iter().fold(Pointer::root(), |pointer, segment| pointer.then(segment));
        self.0.push(Violation::new(pointer, rule).limit(limit));
    }

    pub(crate) fn into_result(self) -> Result<(), Fault> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(self.0.into_iter().fold(Fault::new(&reason::MCP_BAD_ARGUMENTS), Fault::violation))
    }
}

const A_TEST: &str = "of a path inside the project, such as tests/test_a.py::test_one";
const AN_EXPRESSION: &str = "of names joined by and, or, not and brackets";
const A_PATTERN: &str = "of file names with * and ?, such as check_*.py";
const A_REVISION: &str = "of a git revision, such as HEAD~1 or main";
const A_FOLDER: &str = "of a folder inside the project";

/// The arguments of a tool that starts a run.
pub(crate) trait RunArguments {
    /// The folder to run in, if it is not the served project.
    fn project(&self) -> Option<&str>;

    /// Checks the rules that the schema cannot express.
    fn check(&self, project: &Project, most_seconds: u64) -> Result<(), Fault>;
}

impl RunArguments for Execute {
    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn check(&self, project: &Project, most_seconds: u64) -> Result<(), Fault> {
        let mut wrong = Violations::default();
        for (index, id) in self.node_ids.iter().flatten().enumerate() {
            if !project.has_test(id) {
                wrong.add(&["node_ids", &index.to_string()], Rule::Format, A_TEST);
            }
        }
        for (name, text, option) in [
            ("markers", &self.markers, ExpressionKind::Markers),
            ("keywords", &self.keywords, ExpressionKind::Keywords),
        ] {
            if text.as_deref().is_some_and(|text| !is_sound(text, option)) {
                wrong.add(&[name], Rule::Format, AN_EXPRESSION);
            }
        }
        if self.failfast == Some(true) && self.maxfail.is_some() {
            wrong.add(&["maxfail"], Rule::Combination, "(not together with failfast)");
        }
        if self.changed_since.as_deref().is_some_and(|revision| !is_revision(revision)) {
            wrong.add(&["changed_since"], Rule::Format, A_REVISION);
        }
        check_timeout(self.timeout, most_seconds, &mut wrong);
        wrong.into_result()
    }
}

impl RunArguments for Discover {
    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn check(&self, project: &Project, most_seconds: u64) -> Result<(), Fault> {
        let mut wrong = Violations::default();
        if self.path.as_deref().is_some_and(|path| !project.has_path(path)) {
            wrong.add(&["path"], Rule::Format, A_FOLDER);
        }
        if self.pattern.as_deref().is_some_and(|pattern| !is_pattern(pattern)) {
            wrong.add(&["pattern"], Rule::Format, A_PATTERN);
        }
        check_timeout(self.timeout, most_seconds, &mut wrong);
        wrong.into_result()
    }
}

fn check_timeout(timeout: Option<u64>, most: u64, wrong: &mut Violations) {
    if timeout.is_some_and(|seconds| seconds > most) {
        wrong.add(&["timeout"], Rule::Maximum, most);
    }
}

/// The time limit of a run.
pub(crate) fn time_limit(seconds: Option<u64>, most: u64) -> Duration {
    Duration::from_secs(seconds.unwrap_or(DEFAULT_TIMEOUT.min(most)))
}

/// The project that a call names, or the served one.
pub(crate) fn choose(served: &Project, named: Option<&str>) -> Result<Project, Fault> {
    let Some(name) = named else { return Ok(served.clone()) };
    served.within(name).ok_or_else(|| {
        let mut wrong = Violations::default();
        wrong.add(&["project"], Rule::Format, A_FOLDER);
        wrong.into_result().err().unwrap_or_else(|| Fault::new(&reason::SERVER_BUG))
    })
}

fn is_revision(text: &str) -> bool {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-' | '~' | '^' | '@' | '{' | '}')
    };
    is_data(text) && text.chars().all(plain) && !text.contains("..")
}

fn is_pattern(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '*' | '?' | '[' | ']');
    is_data(text) && text.chars().all(plain) && !text.contains("..")
}

#[cfg(test)]
mod tests {
    use super::{is_pattern, is_revision};

    #[test]
    fn revisions_and_patterns_are_plain() {
        for good in ["HEAD", "HEAD~3", "main", "feature/x", "v1.0", "HEAD^", "main@{1}", "deadbeef"] {
            assert!(is_revision(good), "{good}");
        }
        for bad in ["", "-p", "--output=x", "a b", "a..b", "@{u}", "a;b", "a\0", "$(x)", "HEAD:file"] {
            assert!(!is_revision(bad), "{bad:?}");
        }
        for good in ["test_*.py", "check_?.py", "*_spec.py", "[ab]*.py"] {
            assert!(is_pattern(good), "{good}");
        }
        for bad in ["", "-p", "../*.py", "a/b.py", "a b", "@x", "x\n"] {
            assert!(!is_pattern(bad), "{bad:?}");
        }
    }
}
