//! Commands of a session. Each command is a tool, a possible step of a batch, and a possible step of a
//! recording.

/// Implements [`Command::session`] for arguments with a `session`, their own or that of their `target`.
macro_rules! in_session {
    ($($part:ident)?) => {
        fn session(&self) -> Option<&str> {
            self$(.$part)?.session.as_deref()
        }
    };
}

/// Implements the methods of a [`Command`] that follow from its `target`.
macro_rules! aimed {
    () => {
        in_session!(target);

        fn describe(&self) -> String {
            self.target.describe()
        }

        fn selector(&self) -> Option<&str> {
            self.target.selector.as_deref()
        }
    };
}

mod apps;
mod assertions;
mod compare;
mod device;
mod gestures;
mod inspect;
mod navigation;
mod screenshot;
mod target;
mod text_input;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use failwell_fault::{Fault, OrFault};
use failwell_sdk::{
    Content, Context, Json, Tool, ToolOutcome, parse_arguments, schema_of_arguments, schema_of_result,
    with_state,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::evidence::{self, Evidence};
use crate::reason;
use crate::sessions::DeviceSessions;
use crate::sessions::lease::DeviceLease;
use crate::sessions::log::RecordedStep;
use crate::steps::{Step, StepPicture, Verdict};

/// The effect of a command on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandKind {
    /// Reads for the caller only.
    Reads,
    /// Checks a condition. A recording includes it.
    Checks,
    /// Changes something.
    Acts,
    /// Can destroy data.
    Destroys,
}

/// A command of a session.
pub(crate) trait Command: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    const ABOUT: &'static str;
    const KIND: CommandKind;
    type Answer: Serialize + JsonSchema + Send + 'static;

    /// The session that the caller names.
    fn session(&self) -> Option<&str>;

    /// The subject in a few words; empty for a command without one.
    fn describe(&self) -> String {
        String::new()
    }

    /// The selector of the target element, if there is one.
    fn selector(&self) -> Option<&str> {
        None
    }

    /// The arguments for a recording.
    fn written(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The outcome, if these arguments need no session.
    fn without_session(
        &self,
        _devices: &Arc<DeviceSessions>,
        _cx: &Context,
    ) -> impl Future<Output = Option<Result<CommandOutput, Fault>>> + Send {
        std::future::ready(None)
    }

    fn perform(
        &self,
        lease: &DeviceLease,
        cx: &Context,
    ) -> impl Future<Output = Result<TypedOutput<Self::Answer>, Fault>> + Send;
}

pub(crate) struct TypedOutput<A> {
    pub(crate) answer: A,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Content>,
    pub(crate) verdict: Verdict,
    /// The URI of its screenshot.
    pub(crate) picture: Option<String>,
}

impl<A> TypedOutput<A> {
    pub(crate) fn new(answer: A, text: impl Into<String>) -> TypedOutput<A> {
        TypedOutput { answer, text: text.into(), blocks: Vec::new(), verdict: Verdict::Passed, picture: None }
    }

    pub(crate) fn with(mut self, block: Content) -> TypedOutput<A> {
        self.blocks.push(block);
        self
    }
}

/// The output of any command, with its answer serialized.
pub(crate) struct CommandOutput {
    pub(crate) object: Value,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Content>,
    pub(crate) verdict: Verdict,
    pub(crate) picture: Option<String>,
}

pub(crate) fn erase<A: Serialize>(done: TypedOutput<A>) -> Result<CommandOutput, Fault> {
    let object = serde_json::to_value(&done.answer).or_fault(&reason::SERVER_BUG)?;
    let TypedOutput { text, blocks, verdict, picture, .. } = done;
    Ok(CommandOutput { object, text, blocks, verdict, picture })
}

impl CommandOutput {
    pub(crate) fn outcome(self) -> Result<ToolOutcome, Fault> {
        let object = Json::of(&self.object).or_fault(&reason::SERVER_BUG)?;
        let outcome = ToolOutcome::text(self.text).structured(object);
        Ok(self.blocks.into_iter().fold(outcome, ToolOutcome::with))
    }
}

/// The fault of a command, with evidence from the screen.
pub(crate) struct CommandFailure {
    pub(crate) fault: Fault,
    pub(crate) evidence: Evidence,
}

impl From<Fault> for CommandFailure {
    fn from(fault: Fault) -> CommandFailure {
        CommandFailure { fault, evidence: Evidence::default() }
    }
}

impl CommandFailure {
    fn outcome(self) -> Result<ToolOutcome, Fault> {
        let CommandFailure { fault, evidence } = self;
        if evidence.is_empty() {
            return Err(fault);
        }
        let mut object = json!({"error": fault.reason().id});
        if let (Some(object), Value::Object(more)) = (object.as_object_mut(), json!(evidence)) {
            object.extend(more);
        }
        let object = Json::of(&object).or_fault(&reason::SERVER_BUG)?;
        let outcome = ToolOutcome::default().structured(object);
        Ok(evidence.blocks().into_iter().fold(outcome, ToolOutcome::with).failed(fault))
    }
}

type PerformFuture<'a> = Pin<Box<dyn Future<Output = Result<CommandOutput, CommandFailure>> + Send + 'a>>;

/// One row of the command table.
pub(crate) struct CommandEntry {
    pub(crate) name: &'static str,
    pub(crate) tool: fn(&Arc<DeviceSessions>) -> Result<Tool, Fault>,
    pub(crate) arguments: fn() -> Result<Value, Fault>,
    pub(crate) perform: for<'a> fn(&'a DeviceLease, Value, &'a Context) -> PerformFuture<'a>,
}

pub(crate) fn all() -> Vec<CommandEntry> {
    let mut all = Vec::new();
    apps::add(&mut all);
    inspect::add(&mut all);
    gestures::add(&mut all);
    text_input::add(&mut all);
    navigation::add(&mut all);
    assertions::add(&mut all);
    device::add(&mut all);
    screenshot::add(&mut all);
    compare::add(&mut all);
    all
}

fn entry<C: Command>() -> CommandEntry {
    CommandEntry {
        name: C::NAME,
        tool: tool::<C>,
        arguments: schema_of_arguments::<C>,
        perform: |lease, arguments, cx| {
            Box::pin(async move {
                let command: C = parse_arguments(arguments)?;
                perform(&command, lease, cx).await
            })
        },
    }
}

fn tool<C: Command>(devices: &Arc<DeviceSessions>) -> Result<Tool, Fault> {
    let tool = Tool::new(C::NAME, C::ABOUT, with_state(devices, call::<C>))?;
    let tool = tool.titled(C::TITLE).with_output_schema(schema_of_result::<C::Answer>()?)?;
    Ok(match C::KIND {
        CommandKind::Reads | CommandKind::Checks => tool.read_only(),
        CommandKind::Acts => tool,
        CommandKind::Destroys => tool.destructive(),
    })
}

async fn call<C: Command>(
    devices: Arc<DeviceSessions>,
    command: C,
    cx: Context,
) -> Result<ToolOutcome, Fault> {
    if let Some(output) = command.without_session(&devices, &cx).await {
        return output?.outcome();
    }
    let session = devices.session(command.session(), &cx)?;
    let lease = DeviceLease::enter(devices, session).await?;
    match perform(&command, &lease, &cx).await {
        Ok(output) => output.outcome(),
        Err(stop) => stop.outcome(),
    }
}

/// Performs a command and logs it. On failure, gathers evidence from the screen.
async fn perform<C: Command>(
    command: &C,
    lease: &DeviceLease,
    cx: &Context,
) -> Result<CommandOutput, CommandFailure> {
    let (at, began) = (lease.session.log().at(), Instant::now());
    let done = command.perform(lease, cx).await;
    let took = began.elapsed();
    let step = |verdict, detail: String, picture: Option<String>| Step {
        number: 0,
        tool: C::NAME,
        about: command.describe(),
        at,
        took,
        verdict,
        detail,
        hint: None,
        reason: None,
        picture: picture.map(|uri| StepPicture { uri, png: None }),
    };
    match done {
        Ok(done) => {
            let done = erase(done)?;
            let first = done.text.lines().next().unwrap_or_default().to_owned();
            let mut log = lease.session.log();
            log.write(step(done.verdict, first, done.picture.clone()));
            if C::KIND != CommandKind::Reads && log.is_recording() {
                log.record(written(command, lease));
            }
            Ok(done)
        }
        Err(fault) => {
            let evidence = evidence::gather(lease, &fault, command.selector()).await;
            let picture = evidence.screenshot.as_ref().map(|link| link.uri.clone());
            let mut step = step(Verdict::Broken, fault.detail(), picture);
            step.hint = Some(fault.hint());
            step.reason = Some(fault.reason().id);
            lease.session.log().write(step);
            Err(CommandFailure { fault, evidence })
        }
    }
}

/// A command for a recording. References are valid in one session only, so the element's locator is stored
/// instead.
fn written<C: Command>(command: &C, lease: &DeviceLease) -> RecordedStep {
    let mut arguments: Map<String, Value> = command.written().as_object().cloned().unwrap_or_default();
    arguments.remove("session");
    arguments.retain(|_, value| !value.is_null());
    if arguments.remove("ref").is_some()
        && let Some(locator) = lease.target()
    {
        arguments.insert("selector".to_owned(), json!(locator.value));
        arguments.insert("strategy".to_owned(), json!(locator.strategy));
    }
    RecordedStep { tool: C::NAME.to_owned(), arguments }
}
