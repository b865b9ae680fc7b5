//! One analysis for the terminal: the tool's result, and a test that fails until the finding is fixed.

mod regression_test;

use std::time::{Duration, Instant};

use failwell_fault::Fault;
use serde_json::{Map, Value};

use super::tools::{self, AnalysisKind, CheckArguments};
use crate::analyse::report::{CheckReport, CheckVerdict};
use crate::engine::protocol::{AnalysisReport, Job};
use crate::queue::{AnalysisQueue, ProgressSender};
use crate::reason;

/// The result of checking one function.
#[derive(Debug)]
pub struct FunctionCheck {
    pub function: String,
    /// The tool's result.
    pub object: Map<String, Value>,
    /// The fault, if there is no verdict.
    pub fault: Option<Fault>,
    /// A failing test for each counterexample.
    pub tests: Vec<String>,
}

impl FunctionCheck {
    pub fn status(&self) -> &str {
        self.object.get("status").and_then(Value::as_str).unwrap_or("error")
    }
}

/// The functions of a module, in order; methods as `Class.method`. Fails if the code may not be analysed.
pub async fn functions(queue: &AnalysisQueue, code: &str) -> Result<Vec<String>, Fault> {
    match queue.analyse(Job::Functions { code: code.to_owned() }, &ProgressSender::default()).await? {
        AnalysisReport::Functions(names) => Ok(names),
        _ => Err(Fault::new(&reason::SYMBOLIC_FAILED)),
    }
}

/// Checks the contract of one function. A test imports it from `module`.
pub async fn check(
    queue: &AnalysisQueue,
    code: &str,
    function: &str,
    module: &str,
    seconds: u32,
) -> FunctionCheck {
    let began = Instant::now();
    let asked = CheckArguments {
        code: code.to_owned(),
        function_name: function.to_owned(),
        timeout_seconds: seconds.clamp(1, tools::LONGEST),
    };
    match perform(queue, &asked).await {
        Ok(report) => function_check(&asked, &report, module, began.elapsed()),
        Err(fault) => {
            let none = crate::analyse::report::Proof::default();
            let status = tools::status_of(&fault);
            let object =
                AnalysisKind::Check.failed_result(status, &fault, Map::new(), began.elapsed(), &none);
            FunctionCheck { function: function.to_owned(), object, fault: Some(fault), tests: Vec::new() }
        }
    }
}

async fn perform(queue: &AnalysisQueue, asked: &CheckArguments) -> Result<CheckReport, Fault> {
    match queue.analyse(Job::Check(asked.clone()), &ProgressSender::default()).await? {
        AnalysisReport::Check(report) => Ok(report),
        _ => Err(Fault::new(&reason::SYMBOLIC_FAILED)),
    }
}

fn function_check(
    asked: &CheckArguments,
    report: &CheckReport,
    module: &str,
    took: Duration,
) -> FunctionCheck {
    let described = asked.describe(report, took);
    let found = match &report.verdict {
        CheckVerdict::Counterexamples(found) => found.as_slice(),
        _ => &[],
    };
    let several = found.len() > 1;
    let test =
        |(place, one)| regression_test::test(&asked.function_name, module, one, several.then_some(place + 1));
    FunctionCheck {
        function: asked.function_name.clone(),
        object: described.object,
        fault: described.fault,
        tests: found.iter().enumerate().map(test).collect(),
    }
}
