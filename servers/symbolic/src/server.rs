//! The tool server: five tools, three resources, four prompts.

mod prompts;
mod resources;

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, reason};
use failwell_server::{Context, Info, Json, Tool, ToolOutcome, Toolbox, schema_of_arguments};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::engine::protocol::{Job, Report};
use crate::queue::{AnalysisQueue, Rounds, Settings};
use crate::report::Proof;
use crate::tools::{self, Branches, Check, Compare, Exceptions, Shape, Told};

/// The tool server.
pub fn symbolic(settings: Settings) -> Result<Toolbox, Fault> {
    let queue = Arc::new(AnalysisQueue::new(settings));
    let info = Info {
        name: "symbolic",
        title: "Symbolic execution of Python",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Analyses Python functions for every input at once. symbolic_check proves a contract or breaks it, find_path_to_exception finds inputs that raise, compare_functions proves two functions equal or tells them apart, analyze_branches finds dead code. Every finding was reproduced in CPython; `proof` says how far a verdict reaches.",
    };
    let toolbox = Toolbox::new(info)
        .tool(analysis::<Check>(&queue, "Check a contract", "Proves that a function keeps its contract for every input, or gives inputs that break it. Contracts are docstring pre:/post:/raises: lines, asserts, icontract or deal decorators; without any, that no exception leaves the function.")?)
        .tool(analysis::<Exceptions>(&queue, "Find what raises", "Finds inputs that make a function raise an exception of a type, one for each place it comes from, or proves that there are none.")?)
        .tool(analysis::<Compare>(&queue, "Compare functions", "Proves that two functions do the same for every input (result, exception, changes to arguments), or gives an input on which they differ.")?)
        .tool(analysis::<Branches>(&queue, "Analyse branches", "Lists the branches of a function; with symbolic_reachability also which sides can be taken, an example for each, and the lines nobody can reach.")?)
        .tool(health(&queue)?);
    let toolbox = resources::all().into_iter().fold(toolbox, Toolbox::resource);
    Ok(prompts::all().into_iter().fold(toolbox, Toolbox::prompt))
}

/// What the four analyses have in common.
trait Analysis: DeserializeOwned + JsonSchema + Clone + Send + Sync + 'static {
    const NAME: &'static str;
    const SHAPE: Shape;
    const STATUSES: &'static [&'static str];

    fn job(&self) -> Job;
    /// What is told of a report; nothing when it is the report of another analysis.
    fn tell(&self, report: &Report, took: Duration) -> Option<Told>;
    /// What a failure can tell beside the empty members.
    fn known(&self) -> Value {
        json!({})
    }
}

impl Analysis for Check {
    const NAME: &'static str = "symbolic_check";
    const SHAPE: Shape = Shape::Check;
    const STATUSES: &'static [&'static str] = &["verified", "counterexample", "timeout", "error"];

    fn job(&self) -> Job {
        Job::Check(self.clone())
    }

    fn tell(&self, report: &Report, took: Duration) -> Option<Told> {
        if let Report::Check(report) = report { Some(self.told(report, took)) } else { None }
    }
}

impl Analysis for Exceptions {
    const NAME: &'static str = "find_path_to_exception";
    const SHAPE: Shape = Shape::Exceptions;
    const STATUSES: &'static [&'static str] = &["found", "unreachable", "error"];

    fn job(&self) -> Job {
        Job::Exceptions(self.clone())
    }

    fn tell(&self, report: &Report, took: Duration) -> Option<Told> {
        if let Report::Exceptions(report) = report { Some(self.told(report, took)) } else { None }
    }
}

impl Analysis for Compare {
    const NAME: &'static str = "compare_functions";
    const SHAPE: Shape = Shape::Compare;
    const STATUSES: &'static [&'static str] = &["equivalent", "different", "error"];

    fn job(&self) -> Job {
        Job::Compare(self.clone())
    }

    fn tell(&self, report: &Report, took: Duration) -> Option<Told> {
        if let Report::Compare(report) = report { Some(self.told(report, took)) } else { None }
    }
}

impl Analysis for Branches {
    const NAME: &'static str = "analyze_branches";
    const SHAPE: Shape = Shape::Branches;
    const STATUSES: &'static [&'static str] = &["complete", "error"];

    fn job(&self) -> Job {
        Job::Branches(self.clone())
    }

    fn tell(&self, report: &Report, took: Duration) -> Option<Told> {
        if let Report::Branches(report) = report { Some(self.told(report, took)) } else { None }
    }

    fn known(&self) -> Value {
        json!({"analysis_mode": self.mode()})
    }
}

fn analysis<A: Analysis>(
    queue: &Arc<AnalysisQueue>,
    title: &'static str,
    description: &'static str,
) -> Result<Tool, Fault> {
    let queue = queue.clone();
    let output = A::SHAPE.schema(A::STATUSES);
    let tool =
        Tool::dynamic(A::NAME, description, schema_of_arguments::<A>()?, Some(output), move |given, cx| {
            let queue = queue.clone();
            async move {
                let asked: A = serde_json::from_value(given).or_fault(&reason::MCP_BAD_ARGUMENTS)?;
                analyse(&queue, asked, &cx).await
            }
        })?;
    let refused = |fault: &Fault| {
        Json::of(&A::SHAPE.failed("error", fault, Map::new(), Duration::ZERO, &Proof::default())).ok()
    };
    Ok(tool.titled(title).read_only().idempotent().closed_world().refusing(refused))
}

/// One call, from its arguments to what is told.
async fn analyse<A: Analysis>(queue: &AnalysisQueue, asked: A, cx: &Context) -> Result<ToolOutcome, Fault> {
    let began = Instant::now();
    let told = match run(queue, &asked, cx).await {
        Ok(report) => {
            let told = asked.tell(&report, began.elapsed());
            let another = || failed(&asked, Fault::new(&reason::SYMBOLIC_FAILED), began.elapsed());
            told.unwrap_or_else(another)
        }
        Err(fault) if *fault.reason() == reason::SERVER_CANCELLED => return Err(fault),
        Err(fault) => failed(&asked, fault, began.elapsed()),
    };
    told.outcome()
}

async fn run<A: Analysis>(queue: &AnalysisQueue, asked: &A, cx: &Context) -> Result<Report, Fault> {
    let rounds = Rounds::default();
    let mut progress = rounds.subscribe();
    let mut analysis = pin!(queue.analyse(asked.job(), &rounds));
    loop {
        tokio::select! {
            answer = &mut analysis => return answer,
            () = cx.cancelled() => return Err(Fault::new(&reason::SERVER_CANCELLED)),
            Ok(()) = progress.changed() => {
                let (round, paths) = *progress.borrow_and_update();
                let message = format!("round {round}: {paths} paths");
                cx.progress(f64::from(round), None, Some(&message)).await;
            }
        }
    }
}

fn failed<A: Analysis>(asked: &A, fault: Fault, took: Duration) -> Told {
    let status = if A::STATUSES.contains(&"timeout") { tools::status_of(&fault) } else { "error" };
    let known = asked.known().as_object().cloned().unwrap_or_default();
    let object = A::SHAPE.failed(status, &fault, known, took, &Proof::default());
    Told { object, text: String::new(), fault: Some(fault) }
}

fn health(queue: &Arc<AnalysisQueue>) -> Result<Tool, Fault> {
    let queue = queue.clone();
    let input = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = Tool::dynamic(
        "health_check",
        "Says whether the server works, with which Python and which solver, and what is missing.",
        input,
        None,
        move |_, _| {
            let queue = queue.clone();
            async move {
                let object = tools::health(&queue).await;
                let text = serde_json::to_string(&object).or_fault(&reason::SERVER_BUG)?;
                Ok(ToolOutcome::text(text).structured(Json::of(&object).or_fault(&reason::SERVER_BUG)?))
            }
        },
    )?;
    Ok(tool.titled("Health").read_only().idempotent().closed_world())
}
