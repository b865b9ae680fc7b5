//! Several steps in one call, without other callers in between.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;

use failwell_fault::{Effect, Fault, Name};
use failwell_sdk::{Content, Context, FailureSummary, Schema, Tool, Toolbox, TypedOutcome, with_state};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::commands::{self, CommandEntry, CommandFailure, CommandOutput};
use crate::evidence::Evidence;
use crate::reason;
use crate::sessions::DeviceSessions;
use crate::sessions::lease::DeviceLease;
use crate::sessions::log::RecordedStep;
use crate::steps::Verdict;

pub(super) fn add(toolbox: Toolbox, devices: &Arc<DeviceSessions>) -> Result<Toolbox, Fault> {
    Ok(toolbox.tool(Tool::typed_outcome("run_steps", "Runs several steps in order; no other call uses the device in between. All steps are validated before the first one runs. Stops at the first step that cannot be executed, unless keep_going is set. An assertion that does not hold is a finding, and stops the run only with stop_on_finding.", with_state(devices, run))?.titled("Several steps")))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunSteps {
    /// The session. Optional while you have only one.
    #[schemars(length(min = 1, max = 64))]
    session: Option<String>,
    /// The operations, in order.
    #[schemars(length(min = 1, max = 100))]
    steps: Vec<RecordedStep>,
    /// Continue after a step that cannot be performed.
    #[serde(default)]
    keep_going: bool,
    /// Stop at an assertion that does not hold.
    #[serde(default)]
    stop_on_finding: bool,
}

/// The conditions that stop a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct StopRule {
    pub(super) keep_going: bool,
    pub(super) stop_on_finding: bool,
}

/// The results of the steps.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BatchResult {
    pub(super) steps: Vec<StepOutcome>,
    pub(super) passed: usize,
    /// Assertions that do not hold.
    pub(super) failed: usize,
    /// Steps that could not be performed.
    pub(super) broken: usize,
    /// Steps that were not tried, because an earlier one failed.
    pub(super) skipped: usize,
}

/// The result of one step.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Outcome")]
pub(super) struct StepOutcome {
    /// Counted from one.
    number: usize,
    tool: String,
    /// passed, failed (an assertion that does not hold) or broken (it could not be performed).
    verdict: &'static str,
    /// The tool's own answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<StepFailure>,
}

/// Why one could not be done.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Trouble")]
struct StepFailure {
    #[serde(flatten)]
    summary: FailureSummary,
    #[serde(flatten)]
    evidence: Evidence,
}

/// Checked steps with their commands.
pub(super) struct StepPlan(Vec<(CommandEntry, Value)>);

/// Checks every step before the first one runs.
pub(super) fn read(steps: &[RecordedStep]) -> Result<StepPlan, Fault> {
    let mut checks = HashMap::new();
    let mut plan = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let refuse = |why: &'static str| {
            Fault::new(&reason::DEVICE_BAD_RECORDING).fact("number", index + 1).fact("why", why)
        };
        let entry = commands::all().into_iter().find(|entry| entry.name == step.tool);
        let Some(entry) = entry else {
            let names = commands::all();
            let near = failwell_sdk::nearest(&step.tool, names.iter().map(|entry| entry.name));
            return Err(refuse("there is no such tool").nearest(near));
        };
        if step.arguments.contains_key("session") {
            return Err(refuse("a step has no session of its own"));
        }
        let arguments = Value::Object(step.arguments.clone());
        let check = match checks.entry(entry.name) {
            Slot::Occupied(known) => known.into_mut(),
            Slot::Vacant(new) => new.insert(Schema::new((entry.arguments)()?)?),
        };
        if let Err(fault) = check.check(&arguments) {
            let refused = refuse("its arguments do not fit the tool");
            return Err(fault.violations().iter().cloned().fold(refused, Fault::violation));
        }
        plan.push((entry, arguments));
    }
    Ok(StepPlan(plan))
}

async fn run(
    devices: Arc<DeviceSessions>,
    given: RunSteps,
    cx: Context,
) -> Result<TypedOutcome<BatchResult>, Fault> {
    let plan = read(&given.steps)?;
    let session = devices.session(given.session.as_deref(), &cx)?;
    let lease = DeviceLease::enter(devices, session).await?;
    let rule = StopRule { keep_going: given.keep_going, stop_on_finding: given.stop_on_finding };
    Ok(play(&lease, plan, rule, &cx).await)
}

/// Runs the steps.
pub(super) async fn play(
    lease: &DeviceLease,
    plan: StepPlan,
    rule: StopRule,
    cx: &Context,
) -> TypedOutcome<BatchResult> {
    let total = plan.0.len();
    let (mut steps, mut lines, mut blocks, mut first) = (Vec::new(), Vec::new(), Vec::new(), None);
    for (index, (entry, arguments)) in plan.0.into_iter().enumerate() {
        let number = index + 1;
        cx.progress(index as f64, Some(total as f64), Some(entry.name)).await;
        let made = (entry.perform)(lease, arguments, cx).await;
        let (verdict, outcome, line) = report_step(number, entry.name, made, &mut blocks, &mut first);
        steps.push(outcome);
        lines.push(line);
        let stops = match verdict {
            Verdict::Passed => false,
            Verdict::Failed => rule.stop_on_finding,
            Verdict::Broken => !rule.keep_going || lease.session.device().is_err(),
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
    let results = BatchResult { steps, passed, failed, broken, skipped };
    let outcome = TypedOutcome::new(results, lines.join("\n"));
    let outcome = blocks.into_iter().fold(outcome, TypedOutcome::with);
    match failure {
        None => outcome,
        Some(fault) => outcome.failed(fault),
    }
}

/// The fault of the batch. The steps before the failed one were performed.
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

fn report_step(
    number: usize,
    tool: &'static str,
    made: Result<CommandOutput, CommandFailure>,
    blocks: &mut Vec<Content>,
    first: &mut Option<(usize, Fault)>,
) -> (Verdict, StepOutcome, String) {
    let tool_name = tool.to_owned();
    match made {
        Ok(output) => {
            let verdict = output.verdict;
            // Pictures are linked only, because a batch may have a hundred.
            let links =
                output.blocks.into_iter().filter(|block| matches!(block, Content::ResourceLink { .. }));
            blocks.extend(links);
            let says = output.text.lines().next().unwrap_or_default();
            let line = format!("{number}. {tool}: {} ({says})", verdict.as_str());
            let result = Some(output.object);
            (
                verdict,
                StepOutcome { number, tool: tool_name, verdict: verdict.as_str(), result, error: None },
                line,
            )
        }
        Err(CommandFailure { fault, evidence }) => {
            blocks.extend(evidence.blocks());
            let summary = FailureSummary::from(&fault);
            let line = format!("{number}. {tool}: broken: {}", summary.line());
            let error = StepFailure { summary, evidence };
            first.get_or_insert((number, fault));
            let verdict = Verdict::Broken.as_str();
            let outcome = StepOutcome { number, tool: tool_name, verdict, result: None, error: Some(error) };
            (Verdict::Broken, outcome, line)
        }
    }
}
