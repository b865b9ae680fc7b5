//! One analysis from a terminal: the same as the tool's, and a test that fails as long as what was found is there.

mod paste;

use std::time::{Duration, Instant};

use failwell_fault::{Fault, reason};
use serde_json::{Map, Value};

use crate::engine::protocol::{Job, Report};
use crate::queue::{AnalysisQueue, Rounds};
use crate::report::{CheckReport, CheckVerdict};
use crate::tools::{self, Check};

/// What came of checking one function.
#[derive(Debug)]
pub struct Checked {
    /// The function.
    pub function: String,
    /// The tool's result.
    pub object: Map<String, Value>,
    /// Why there is no verdict.
    pub fault: Option<Fault>,
    /// A test that fails, for each counterexample.
    pub tests: Vec<String>,
}

impl Checked {
    /// The status of the result.
    pub fn status(&self) -> &str {
        self.object.get("status").and_then(Value::as_str).unwrap_or("error")
    }
}

/// The functions of a module, in order; methods as `Class.method`. Fails when the code may not be analysed.
pub async fn functions(queue: &AnalysisQueue, code: &str) -> Result<Vec<String>, Fault> {
    match queue.analyse(Job::Functions { code: code.to_owned() }, &Rounds::default()).await? {
        Report::Functions(names) => Ok(names),
        _ => Err(Fault::new(&reason::SYMBOLIC_FAILED)),
    }
}

/// Checks one function's contract. `module` is what a test imports it from.
pub async fn check(queue: &AnalysisQueue, code: &str, function: &str, module: &str, seconds: u32) -> Checked {
    let began = Instant::now();
    let asked = Check {
        code: code.to_owned(),
        function_name: function.to_owned(),
        timeout_seconds: seconds.clamp(1, tools::LONGEST),
    };
    match perform(queue, &asked).await {
        Ok(report) => told(&asked, &report, module, began.elapsed()),
        Err(fault) => {
            let none = crate::report::Proof::default();
            let status = tools::status_of(&fault);
            let object = tools::Shape::Check.failed(status, &fault, Map::new(), began.elapsed(), &none);
            Checked { function: function.to_owned(), object, fault: Some(fault), tests: Vec::new() }
        }
    }
}

async fn perform(queue: &AnalysisQueue, asked: &Check) -> Result<CheckReport, Fault> {
    match queue.analyse(Job::Check(asked.clone()), &Rounds::default()).await? {
        Report::Check(report) => Ok(report),
        _ => Err(Fault::new(&reason::SYMBOLIC_FAILED)),
    }
}

fn told(asked: &Check, report: &CheckReport, module: &str, took: Duration) -> Checked {
    let told = asked.told(report, took);
    let found = match &report.verdict {
        CheckVerdict::Counterexamples(found) => found.as_slice(),
        _ => &[],
    };
    let several = found.len() > 1;
    let test = |(place, one)| paste::test(&asked.function_name, module, one, several.then_some(place + 1));
    Checked {
        function: asked.function_name.clone(),
        object: told.object,
        fault: told.fault,
        tests: found.iter().enumerate().map(test).collect(),
    }
}
