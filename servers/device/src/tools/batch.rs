//! Several steps at once, under one turn at the device.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;

use failwell_fault::{Effect, Fault, Name, reason};
use failwell_server::{Content, Context, Toolbox, argument_check};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Said, tool};
use crate::commands::{self, Entry, Happened, Stop};
use crate::evidence::Evidence;
use crate::log::Written;
use crate::sessions::Desk;
use crate::stage::Stage;
use crate::steps::Verdict;

pub(super) fn add(toolbox: Toolbox, desk: &Arc<Desk>) -> Result<Toolbox, Fault> {
    Ok(toolbox.tool(tool(desk, ("run_steps", "Several steps", "Makes several steps in order, with nobody else in between. All are read before the first is made. Stops at the first that cannot be done, unless keep_going; an assertion that does not hold is a finding, and stops only with stop_on_finding."), run)?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunSteps {
    /// The session; may be left out while you have one.
    #[schemars(length(min = 1, max = 64))]
    session: Option<String>,
    /// What to do, in this order.
    #[schemars(length(min = 1, max = 100))]
    steps: Vec<Written>,
    /// Go on after a step that could not be done.
    #[serde(default)]
    keep_going: bool,
    /// Stop at an assertion that does not hold.
    #[serde(default)]
    stop_on_finding: bool,
}

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    pub(super) keep_going: bool,
    pub(super) stop_on_finding: bool,
}

/// What became of the steps.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Results {
    pub(super) steps: Vec<Outcome>,
    pub(super) passed: usize,
    /// Assertions that do not hold.
    pub(super) failed: usize,
    /// Steps that could not be done.
    pub(super) broken: usize,
    /// Not tried, because of an earlier one.
    pub(super) skipped: usize,
}

/// What became of one step.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Outcome {
    /// Counted from one.
    number: usize,
    tool: String,
    /// passed, failed (an assertion that does not hold) or broken (it could not be done).
    verdict: &'static str,
    /// The tool's own answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Trouble>,
}

/// Why one could not be done.
#[derive(Debug, Serialize, JsonSchema)]
struct Trouble {
    reason: &'static str,
    detail: String,
    hint: String,
    effect: &'static str,
    #[serde(flatten)]
    evidence: Evidence,
}

/// Steps that can be made, each with what makes it.
pub(super) struct Script(Vec<(Entry, Value)>);

/// Reads every step before the first is made.
pub(super) fn read(steps: &[Written]) -> Result<Script, Fault> {
    let mut checks = HashMap::new();
    let mut script = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let refuse = |why: &'static str| {
            Fault::new(&reason::DEVICE_BAD_RECORDING).fact("number", index + 1).fact("why", why)
        };
        let entry = commands::all().into_iter().find(|entry| entry.name == step.tool);
        let Some(entry) = entry else {
            let names = commands::all();
            let near = failwell_server::nearest(&step.tool, names.iter().map(|entry| entry.name));
            return Err(refuse("there is no such tool").nearest(near));
        };
        if step.arguments.contains_key("session") {
            return Err(refuse("a step has no session of its own"));
        }
        let arguments = Value::Object(step.arguments.clone());
        let check = match checks.entry(entry.name) {
            Slot::Occupied(known) => known.into_mut(),
            Slot::Vacant(new) => new.insert(argument_check((entry.arguments)()?)?),
        };
        if let Err(fault) = check.check(&arguments.to_string()) {
            let refused = refuse("its arguments do not fit the tool");
            return Err(fault.violations().iter().cloned().fold(refused, Fault::violation));
        }
        script.push((entry, arguments));
    }
    Ok(Script(script))
}

async fn run(desk: Arc<Desk>, given: RunSteps, cx: Context) -> Result<Said<Results>, Fault> {
    let script = read(&given.steps)?;
    let session = desk.session(given.session.as_deref(), &cx)?;
    let stage = Stage::enter(desk, session).await?;
    let manner = Manner { keep_going: given.keep_going, stop_on_finding: given.stop_on_finding };
    Ok(play(&stage, script, manner, &cx).await)
}

/// Makes the steps.
pub(super) async fn play(stage: &Stage, script: Script, manner: Manner, cx: &Context) -> Said<Results> {
    let total = script.0.len();
    let (mut steps, mut lines, mut blocks, mut first) = (Vec::new(), Vec::new(), Vec::new(), None);
    for (index, (entry, arguments)) in script.0.into_iter().enumerate() {
        let number = index + 1;
        cx.progress(index as f64, Some(total as f64), Some(entry.name)).await;
        let made = (entry.perform)(stage, arguments, cx).await;
        let (verdict, outcome, line) = told(number, entry.name, made, &mut blocks, &mut first);
        steps.push(outcome);
        lines.push(line);
        let stops = match verdict {
            Verdict::Passed => false,
            Verdict::Failed => manner.stop_on_finding,
            Verdict::Broken => !manner.keep_going || stage.session.device().is_err(),
        };
        if stops {
            break;
        }
    }
    let count = |word: &str| steps.iter().filter(|step| step.verdict == word).count();
    let (passed, failed, broken) = (count("passed"), count("failed"), count("broken"));
    let skipped = total - steps.len();
    lines.push(format!("{passed} passed, {failed} failed, {broken} broken, {skipped} not tried"));
    let failure = first.map(|(number, fault): (usize, Fault)| whole(number, total, &fault, passed + failed));
    let results = Results { steps, passed, failed, broken, skipped };
    Said { object: results, text: lines.join("\n"), blocks, failure }
}

/// The fault of all steps together. What came before the failed one was made.
fn whole(number: usize, total: usize, fault: &Fault, made: usize) -> Fault {
    let effect = match fault.effect() {
        Effect::None if made > 0 => Effect::Partial,
        effect => effect,
    };
    let whole = Fault::new(&reason::DEVICE_STEP_FAILED).fact("number", number).fact("count", total);
    let whole = match Name::parse(fault.reason().id) {
        Some(name) => whole.fact("code", name),
        None => whole,
    };
    whole.with_effect(effect).retry_as(fault.retry()).note("step", fault.operator().to_string())
}

fn told(
    number: usize,
    tool: &'static str,
    made: Result<Happened, Stop>,
    blocks: &mut Vec<Content>,
    first: &mut Option<(usize, Fault)>,
) -> (Verdict, Outcome, String) {
    let tool_name = tool.to_owned();
    match made {
        Ok(happened) => {
            let verdict = happened.verdict;
            // Pictures stay behind their links: a batch may take a hundred.
            let links =
                happened.blocks.into_iter().filter(|block| matches!(block, Content::ResourceLink { .. }));
            blocks.extend(links);
            let says = happened.text.lines().next().unwrap_or_default();
            let line = format!("{number}. {tool}: {} ({says})", verdict.as_str());
            let result = Some(happened.object);
            (
                verdict,
                Outcome { number, tool: tool_name, verdict: verdict.as_str(), result, error: None },
                line,
            )
        }
        Err(Stop { fault, evidence }) => {
            blocks.extend(evidence.blocks());
            let line = format!("{number}. {tool}: broken: {} [{}]", fault.detail(), fault.reason().id);
            let error = Trouble {
                reason: fault.reason().id,
                detail: fault.detail(),
                hint: fault.hint(),
                effect: fault.effect().as_str(),
                evidence,
            };
            first.get_or_insert((number, fault));
            let verdict = Verdict::Broken.as_str();
            let outcome = Outcome { number, tool: tool_name, verdict, result: None, error: Some(error) };
            (Verdict::Broken, outcome, line)
        }
    }
}
