//! The tool server: five tools, three resources, four prompts.

pub mod once;
mod prompts;
mod resources;
pub(crate) mod tools;

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault};
use failwell_sdk::{Context, Info, Json, Tool, ToolOutcome, Toolbox, with_state};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use self::tools::{AnalysisKind, ToolReport};
use crate::analyse::report::Proof;
use crate::engine::protocol::{AnalysisReport, Job};
use crate::queue::{AnalysisQueue, ProgressSender, Settings};
use crate::reason;

/// Builds the tool server.
pub fn symbolic(settings: Settings) -> Result<Toolbox, Fault> {
    let queue = Arc::new(AnalysisQueue::new(settings));
    let info = Info {
        name: "symbolic",
        title: "Symbolic execution of Python",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Analyses Python functions for every input at once. symbolic_check proves a contract or breaks it, find_path_to_exception finds inputs that raise, compare_functions proves two functions equal or tells them apart, analyze_branches finds dead code. Every finding was reproduced in CPython; `proof` says how far a verdict reaches.",
    };
    let toolbox = Toolbox::new(info)
        .tool(analysis_tool(&queue, AnalysisKind::Check, Job::Check, "Check a contract", "Proves that a function keeps its contract for every input, or gives inputs that break it. Contracts are docstring pre:/post:/raises: lines, asserts, icontract or deal decorators; without any, that no exception leaves the function.")?)
        .tool(analysis_tool(&queue, AnalysisKind::Exceptions, Job::Exceptions, "Find what raises", "Finds inputs that make a function raise an exception of a type, one for each place it comes from, or proves that there are none.")?)
        .tool(analysis_tool(&queue, AnalysisKind::Compare, Job::Compare, "Compare functions", "Proves that two functions do the same for every input (result, exception, changes to arguments), or gives an input on which they differ.")?)
        .tool(analysis_tool(&queue, AnalysisKind::Branches, Job::Branches, "Analyse branches", "Lists the branches of a function. With symbolic_reachability it also says which sides can be taken, with an example for each, and lists the unreachable lines.")?)
        .tool(health(&queue)?);
    let toolbox = resources::all().into_iter().fold(toolbox, Toolbox::resource);
    Ok(prompts::all().into_iter().fold(toolbox, Toolbox::prompt))
}

/// The tool of one analysis. `job` converts the tool's arguments to a job.
fn analysis_tool<A>(
    queue: &Arc<AnalysisQueue>,
    kind: AnalysisKind,
    job: fn(A) -> Job,
    title: &'static str,
    description: &'static str,
) -> Result<Tool, Fault>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
{
    let handler = move |queue: Arc<AnalysisQueue>, arguments: A, cx: Context| async move {
        analyse(&queue, kind, job(arguments), &cx).await
    };
    let tool = Tool::new(kind.tool_name(), description, with_state(queue, handler))?;
    let tool = tool.with_output_schema(kind.result_schema())?;
    let refused = move |fault: &Fault| {
        Json::of(&kind.failed_result("error", fault, Map::new(), Duration::ZERO, &Proof::default())).ok()
    };
    Ok(tool.titled(title).read_only().idempotent().closed_world().refusing(refused))
}

/// Runs one call, and converts its report or its fault to the tool's outcome.
async fn analyse(
    queue: &AnalysisQueue,
    kind: AnalysisKind,
    job: Job,
    cx: &Context,
) -> Result<ToolOutcome, Fault> {
    let began = Instant::now();
    let fault = match run(queue, &job, cx).await {
        Ok(report) => match tools::describe(&job, &report, began.elapsed()) {
            Some(described) => return described.outcome(),
            None => Fault::new(&reason::SYMBOLIC_FAILED),
        },
        Err(fault) if *fault.reason() == reason::SERVER_CANCELLED => return Err(fault),
        Err(fault) => fault,
    };
    let status = kind.failure_status(&fault);
    let members = tools::members_of_failure(&job);
    let object = kind.failed_result(status, &fault, members, began.elapsed(), &Proof::default());
    ToolReport { object, text: String::new(), fault: Some(fault) }.outcome()
}

async fn run(queue: &AnalysisQueue, job: &Job, cx: &Context) -> Result<AnalysisReport, Fault> {
    let progress = ProgressSender::default();
    let mut rounds = progress.subscribe();
    let mut analysis = pin!(queue.analyse(job.clone(), &progress));
    loop {
        tokio::select! {
            answer = &mut analysis => return answer,
            () = cx.cancelled() => return Err(Fault::new(&reason::SERVER_CANCELLED)),
            Ok(()) = rounds.changed() => {
                let (round, paths) = *rounds.borrow_and_update();
                let message = format!("round {round}: {paths} paths");
                cx.progress(f64::from(round), None, Some(&message)).await;
            }
        }
    }
}

fn health(queue: &Arc<AnalysisQueue>) -> Result<Tool, Fault> {
    let input = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = Tool::dynamic(
        "health_check",
        "Says whether the server works, with which Python and which solver, and what is missing.",
        input,
        None,
        with_state(queue, |queue: Arc<AnalysisQueue>, _: Value, _| async move {
            let object = tools::health(&queue).await;
            let text = serde_json::to_string(&object).or_fault(&reason::SERVER_BUG)?;
            Ok(ToolOutcome::text(text).structured(Json::of(&object).or_fault(&reason::SERVER_BUG)?))
        }),
    )?;
    Ok(tool.titled("Health").read_only().idempotent().closed_world())
}
