use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::check::{counterexample, in_words};
use super::failure::{Asked, fault};
use super::{Shape, Told, usual_seconds};
use crate::analyse;
use crate::engine::Workbench;
use crate::report::{Counterexample, ExceptionReport, ExceptionVerdict, Failure};

/// What `find_path_to_exception` takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exceptions {
    /// Python source with the function and what it uses; at most 64 KB.
    pub(crate) code: String,
    /// The function to look into, at the top level of the code, or a method as Class.method.
    pub(crate) function_name: String,
    /// A built-in exception, or a class of the code; its subclasses count too.
    pub(crate) exception_type: String,
    /// Seconds until the answer has to be there.
    #[serde(default = "usual_seconds")]
    #[schemars(range(min = 1, max = 300))]
    pub(crate) timeout_seconds: u32,
}

/// Does it.
pub(crate) fn exceptions(bench: &Workbench<'_>, asked: &Exceptions) -> ExceptionReport {
    analyse::find_exception(
        bench.program,
        &asked.function_name,
        &asked.exception_type,
        &bench.budget,
        bench.outside,
        bench.outside,
    )
}

impl Exceptions {
    /// Tells what came of it.
    pub(crate) fn told(&self, report: &ExceptionReport, took: Duration) -> Told {
        let mut members = Map::new();
        members.insert("paths_to_exception".to_owned(), json!(report.paths_to_exception));
        members.insert("total_paths_explored".to_owned(), json!(report.total_paths_explored));
        match &report.verdict {
            ExceptionVerdict::Found(found) => {
                let all: Vec<Value> = found.iter().map(|one| self.trigger(one)).collect();
                members.insert("triggering_inputs".to_owned(), json!(all));
                let object = Shape::Exceptions.filled("found", members, took, &report.proof);
                Told { object, text: in_words(&self.function_name, found), fault: None }
            }
            ExceptionVerdict::Unreachable if report.proof.exhaustive => {
                let object = Shape::Exceptions.filled("unreachable", members, took, &report.proof);
                let text = format!("unreachable: no input raises it, on any of {} paths", report.proof.paths);
                Told { object, text, fault: None }
            }
            ExceptionVerdict::Unreachable => self.failed(
                &Failure::Bug("unreachable without an exhaustive proof".to_owned()),
                members,
                report,
                took,
            ),
            ExceptionVerdict::Failed(failure) => self.failed(failure, members, report, took),
        }
    }

    fn failed(
        &self,
        failure: &Failure,
        members: Map<String, Value>,
        report: &ExceptionReport,
        took: Duration,
    ) -> Told {
        let asked = Asked {
            function: &self.function_name,
            exception: &self.exception_type,
            seconds: self.timeout_seconds,
        };
        let fault = fault(failure, &asked);
        let object = Shape::Exceptions.failed("error", &fault, members, took, &report.proof);
        Told { object, text: String::new(), fault: Some(fault) }
    }

    fn trigger(&self, found: &Counterexample) -> Value {
        let mut told = counterexample(&self.function_name, found);
        if let Some(members) = told.as_object_mut() {
            members.insert("stack_trace".to_owned(), json!(found.stack_trace));
        }
        told
    }
}
