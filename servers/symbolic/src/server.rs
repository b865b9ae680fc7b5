//! The tool server: five tools, three resources, four prompts.

mod prompts;
mod resources;

use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, reason};
use failwell_server::{Context, Info, Json, Tool, ToolOutcome, Toolbox};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::desk::{Bench, Desk, Settings};
use crate::report::Proof;
use crate::tools::{self, Branches, Check, Compare, Exceptions, Shape, Told};

/// The tool server.
pub fn symbolic(settings: Settings) -> Result<Toolbox, Fault> {
    let desk = Arc::new(Desk::new(settings));
    let info = Info {
        name: "symbolic",
        title: "Symbolic execution of Python",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Analyses Python functions for every input at once. symbolic_check proves a contract or breaks it, find_path_to_exception finds inputs that raise, compare_functions proves two functions equal or tells them apart, analyze_branches finds dead code. Every finding was reproduced in CPython; `proof` says how far a verdict reaches.",
    };
    let toolbox = Toolbox::new(info)
        .tool(analysis::<Check>(&desk, "Check a contract", "Proves that a function keeps its contract for every input, or gives inputs that break it. Contracts are docstring pre:/post:/raises: lines, asserts, icontract or deal decorators; without any, that no exception leaves the function.")?)
        .tool(analysis::<Exceptions>(&desk, "Find what raises", "Finds inputs that make a function raise an exception of a type, one for each place it comes from, or proves that there are none.")?)
        .tool(analysis::<Compare>(&desk, "Compare functions", "Proves that two functions do the same for every input (result, exception, changes to arguments), or gives an input on which they differ.")?)
        .tool(analysis::<Branches>(&desk, "Analyse branches", "Lists the branches of a function; with symbolic_reachability also which sides can be taken, an example for each, and the lines nobody can reach.")?)
        .tool(health(&desk)?);
    let toolbox = resources::all().into_iter().fold(toolbox, Toolbox::resource);
    Ok(prompts::all().into_iter().fold(toolbox, Toolbox::prompt))
}

/// What the four analyses have in common.
trait Analysis: DeserializeOwned + JsonSchema + Clone + Send + Sync + 'static {
    const NAME: &'static str;
    const SHAPE: Shape;
    const STATUSES: &'static [&'static str];
    type Report: Send + 'static;

    fn code(&self) -> &str;
    fn functions(&self) -> Vec<String>;
    fn seconds(&self) -> u32;
    fn perform(&self, bench: &Bench<'_>) -> Self::Report;
    fn tell(&self, report: &Self::Report, took: Duration) -> Told;
    /// What a failure can tell beside the empty members.
    fn known(&self) -> Value;
}

macro_rules! analysis {
    ($type:ty, $name:literal, $shape:ident, $report:ty, $work:path, [$($status:literal),*], |$asked:ident| $functions:expr, $known:expr) => {
        #[allow(unused_variables, reason = "most failures have nothing of the arguments to tell")]
        impl Analysis for $type {
            const NAME: &'static str = $name;
            const SHAPE: Shape = Shape::$shape;
            const STATUSES: &'static [&'static str] = &[$($status),*];
            type Report = $report;

            fn code(&self) -> &str {
                &self.code
            }

            fn functions(&self) -> Vec<String> {
                let $asked = self;
                $functions
            }

            fn seconds(&self) -> u32 {
                self.timeout_seconds
            }

            fn perform(&self, bench: &Bench<'_>) -> $report {
                $work(bench, self)
            }

            fn known(&self) -> Value {
                let $asked = self;
                $known
            }

            fn tell(&self, report: &$report, took: Duration) -> Told {
                self.told(report, took)
            }
        }
    };
}

analysis!(
    Check,
    "symbolic_check",
    Check,
    crate::report::CheckReport,
    tools::check,
    ["verified", "counterexample", "timeout", "error"],
    |asked| vec![asked.function_name.clone()],
    json!({})
);
analysis!(
    Exceptions,
    "find_path_to_exception",
    Exceptions,
    crate::report::ExceptionReport,
    tools::exceptions,
    ["found", "unreachable", "error"],
    |asked| vec![asked.function_name.clone()],
    json!({})
);
analysis!(
    Compare,
    "compare_functions",
    Compare,
    crate::report::CompareReport,
    tools::compare,
    ["equivalent", "different", "error"],
    |asked| vec![asked.function_a.clone(), asked.function_b.clone()],
    json!({})
);
analysis!(
    Branches,
    "analyze_branches",
    Branches,
    crate::report::BranchReport,
    tools::branches,
    ["complete", "error"],
    |asked| vec![asked.function_name.clone()],
    json!({"analysis_mode": asked.mode()})
);

fn analysis<A: Analysis>(
    desk: &Arc<Desk>,
    title: &'static str,
    description: &'static str,
) -> Result<Tool, Fault> {
    let desk = desk.clone();
    let output = A::SHAPE.schema(A::STATUSES);
    let tool = Tool::dynamic(A::NAME, description, schema_of::<A>()?, Some(output), move |given, cx| {
        let desk = desk.clone();
        async move {
            let asked: A = serde_json::from_value(given).or_fault(&reason::MCP_BAD_ARGUMENTS)?;
            analyse(&desk, asked, &cx).await
        }
    })?;
    let refused = |fault: &Fault| {
        Json::of(&A::SHAPE.failed("error", fault, Map::new(), Duration::ZERO, &Proof::default())).ok()
    };
    Ok(tool.titled(title).read_only().idempotent().closed_world().refusing(refused))
}

/// One call, from its arguments to what is told.
async fn analyse<A: Analysis>(desk: &Desk, asked: A, cx: &Context) -> Result<ToolOutcome, Fault> {
    let began = Instant::now();
    let told = match run(desk, &asked, cx).await {
        Ok(report) => asked.tell(&report, began.elapsed()),
        Err(fault) if *fault.reason() == reason::SERVER_CANCELLED => return Err(fault),
        Err(fault) => failed(&asked, fault, began.elapsed()),
    };
    told.outcome()
}

async fn run<A: Analysis>(desk: &Desk, asked: &A, cx: &Context) -> Result<A::Report, Fault> {
    let work = asked.clone();
    let mut running =
        desk.start(asked.code().to_owned(), asked.functions(), asked.seconds(), move |bench| {
            work.perform(bench)
        })?;
    let mut rounds = running.rounds.clone();
    loop {
        tokio::select! {
            answer = running.wait() => return answer,
            () = cx.cancelled() => return Err(Fault::new(&reason::SERVER_CANCELLED)),
            Ok(()) = rounds.changed() => {
                let (round, paths) = *rounds.borrow_and_update();
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

fn health(desk: &Arc<Desk>) -> Result<Tool, Fault> {
    let desk = desk.clone();
    let input = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = Tool::dynamic(
        "health_check",
        "Says whether the server works, with which Python and which solver, and what is missing.",
        input,
        None,
        move |_, _| {
            let desk = desk.clone();
            async move {
                let object = tools::health(&desk).await;
                let text = serde_json::to_string(&object).or_fault(&reason::SERVER_BUG)?;
                Ok(ToolOutcome::text(text).structured(Json::of(&object).or_fault(&reason::SERVER_BUG)?))
            }
        },
    )?;
    Ok(tool.titled("Health").read_only().idempotent().closed_world())
}

fn schema_of<T: JsonSchema>() -> Result<Value, Fault> {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    let object = schema.ensure_object();
    object.entry("type").or_insert_with(|| json!("object"));
    object.remove("title");
    serde_json::to_value(schema).or_fault(&reason::SERVER_BUG)
}
