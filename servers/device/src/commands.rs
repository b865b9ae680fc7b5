//! What can be done in a session. A command is a tool of its own, a step of a batch, and a line of a recording.

/// What a [`Command`] says of itself when its `aim` says it all.
macro_rules! aimed {
    () => {
        fn session(&self) -> Option<&str> {
            self.aim.session.as_deref()
        }

        fn words(&self) -> String {
            self.aim.words()
        }

        fn selector(&self) -> Option<&str> {
            self.aim.selector.as_deref()
        }
    };
}

mod act;
mod aim;
mod apps;
mod check;
mod compare;
mod device;
mod keys;
mod look;
mod pictures;
mod ways;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use failwell_fault::{Fault, OrFault, Pointer, Rule, Violation, reason};
use failwell_server::{Content, Context, Json, Tool, ToolOutcome, schema_of_arguments, schema_of_result};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::evidence::{self, Evidence};
use crate::log::Written;
use crate::sessions::Desk;
use crate::stage::Stage;
use crate::steps::{Picture, Step, Verdict};

/// What a command does to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// It only looks, for the caller.
    Looks,
    /// It looks whether something holds, which a recording wants to know too.
    Checks,
    /// It does something.
    Acts,
    /// It may destroy something.
    Destroys,
}

/// Something that can be done in a session.
pub(crate) trait Command: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    const NAME: &'static str;
    const TITLE: &'static str;
    const ABOUT: &'static str;
    const NATURE: Nature;
    type Answer: Serialize + JsonSchema + Send + 'static;

    /// The session the caller names.
    fn session(&self) -> Option<&str>;

    /// What it is about, in a few words.
    fn words(&self) -> String;

    /// What is looked for, if something is.
    fn selector(&self) -> Option<&str> {
        None
    }

    /// The arguments as a recording keeps them.
    fn written(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// What can be done without a session is done without one.
    fn without_session(
        &self,
        _desk: &Arc<Desk>,
    ) -> impl Future<Output = Option<Result<Happened, Fault>>> + Send {
        std::future::ready(None)
    }

    fn perform(
        &self,
        stage: &Stage,
        cx: &Context,
    ) -> impl Future<Output = Result<Done<Self::Answer>, Fault>> + Send;
}

/// What came of a command.
pub(crate) struct Done<A> {
    pub(crate) answer: A,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Content>,
    pub(crate) verdict: Verdict,
    /// Where a picture of it is kept.
    pub(crate) picture: Option<String>,
}

impl<A> Done<A> {
    pub(crate) fn new(answer: A, text: impl Into<String>) -> Done<A> {
        Done { answer, text: text.into(), blocks: Vec::new(), verdict: Verdict::Passed, picture: None }
    }

    pub(crate) fn with(mut self, block: Content) -> Done<A> {
        self.blocks.push(block);
        self
    }
}

/// What came of a command, whichever it was.
pub(crate) struct Happened {
    pub(crate) object: Value,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Content>,
    pub(crate) verdict: Verdict,
    pub(crate) picture: Option<String>,
}

/// An answer as the caller gets it.
pub(crate) fn happened<A: Serialize>(done: Done<A>) -> Result<Happened, Fault> {
    let object = serde_json::to_value(&done.answer).or_fault(&reason::SERVER_BUG)?;
    let Done { text, blocks, verdict, picture, .. } = done;
    Ok(Happened { object, text, blocks, verdict, picture })
}

impl Happened {
    pub(crate) fn outcome(self) -> Result<ToolOutcome, Fault> {
        let object = Json::of(&self.object).or_fault(&reason::SERVER_BUG)?;
        let outcome = ToolOutcome::text(self.text).structured(object);
        Ok(self.blocks.into_iter().fold(outcome, ToolOutcome::with))
    }
}

/// Why a command stops, and what there is to see.
pub(crate) struct Stop {
    pub(crate) fault: Fault,
    pub(crate) evidence: Evidence,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop { fault, evidence: Evidence::default() }
    }
}

impl Stop {
    /// What the caller gets.
    fn outcome(self) -> Result<ToolOutcome, Fault> {
        let Stop { fault, evidence } = self;
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

type Performing<'a> = Pin<Box<dyn Future<Output = Result<Happened, Stop>> + Send + 'a>>;

/// A command among the others.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) tool: fn(&Arc<Desk>) -> Result<Tool, Fault>,
    pub(crate) arguments: fn() -> Result<Value, Fault>,
    pub(crate) perform: for<'a> fn(&'a Stage, Value, &'a Context) -> Performing<'a>,
}

/// All of them.
pub(crate) fn all() -> Vec<Entry> {
    let mut all = Vec::new();
    apps::add(&mut all);
    look::add(&mut all);
    act::add(&mut all);
    keys::add(&mut all);
    ways::add(&mut all);
    check::add(&mut all);
    device::add(&mut all);
    pictures::add(&mut all);
    compare::add(&mut all);
    all
}

fn entry<C: Command>() -> Entry {
    Entry {
        name: C::NAME,
        tool: tool::<C>,
        arguments: schema_of_arguments::<C>,
        perform: |stage, arguments, cx| {
            Box::pin(async move {
                let command: C = parse(arguments)?;
                perform(&command, stage, cx).await
            })
        },
    }
}

fn tool<C: Command>(desk: &Arc<Desk>) -> Result<Tool, Fault> {
    let desk = desk.clone();
    let output = Some(schema_of_result::<C::Answer>()?);
    let tool = Tool::dynamic(C::NAME, C::ABOUT, schema_of_arguments::<C>()?, output, move |given, cx| {
        let desk = desk.clone();
        async move {
            let command: C = parse(given)?;
            if let Some(happened) = command.without_session(&desk).await {
                return happened?.outcome();
            }
            let session = desk.session(command.session(), &cx)?;
            let stage = Stage::enter(desk, session).await?;
            match perform(&command, &stage, &cx).await {
                Ok(happened) => happened.outcome(),
                Err(stop) => stop.outcome(),
            }
        }
    })?;
    let tool = tool.titled(C::TITLE);
    Ok(match C::NATURE {
        Nature::Looks | Nature::Checks => tool.read_only(),
        Nature::Acts => tool,
        Nature::Destroys => tool.destructive(),
    })
}

/// The schema let it through, so what the type still refuses is told as one more violation of it.
pub(crate) fn parse<A: DeserializeOwned>(given: Value) -> Result<A, Fault> {
    serde_json::from_value(given).map_err(|error| {
        let whole = Violation::new(Pointer::root(), Rule::Schema);
        Fault::new(&reason::MCP_BAD_ARGUMENTS).violation(whole).because(error)
    })
}

/// Does it, writes it down, and on failure looks at the screen.
async fn perform<C: Command>(command: &C, stage: &Stage, cx: &Context) -> Result<Happened, Stop> {
    let (at, began) = (stage.session.log().at(), Instant::now());
    let done = command.perform(stage, cx).await;
    let took = began.elapsed();
    let step = |verdict, detail: String, picture: Option<String>| Step {
        number: 0,
        tool: C::NAME,
        about: command.words(),
        at,
        took,
        verdict,
        detail,
        hint: None,
        reason: None,
        picture: picture.map(|uri| Picture { uri, png: None }),
    };
    match done {
        Ok(done) => {
            let done = happened(done)?;
            let first = done.text.lines().next().unwrap_or_default().to_owned();
            let mut log = stage.session.log();
            log.write(step(done.verdict, first, done.picture.clone()));
            if C::NATURE != Nature::Looks && log.is_recording() {
                log.record(written(command, stage));
            }
            Ok(done)
        }
        Err(fault) => {
            let evidence = evidence::gather(stage, &fault, command.selector()).await;
            let picture = evidence.screenshot.as_ref().map(|link| link.uri.clone());
            let mut step = step(Verdict::Broken, fault.detail(), picture);
            step.hint = Some(fault.hint());
            step.reason = Some(fault.reason().id);
            stage.session.log().write(step);
            Err(Stop { fault, evidence })
        }
    }
}

/// A command as a recording keeps it: references mean nothing on another day, so what they led to is written.
fn written<C: Command>(command: &C, stage: &Stage) -> Written {
    let mut arguments: Map<String, Value> = command.written().as_object().cloned().unwrap_or_default();
    arguments.remove("session");
    arguments.retain(|_, value| !value.is_null());
    if arguments.remove("ref").is_some()
        && let Some(locator) = stage.aimed()
    {
        arguments.insert("selector".to_owned(), json!(locator.value));
        arguments.insert("strategy".to_owned(), json!(locator.strategy));
    }
    Written { tool: C::NAME.to_owned(), arguments }
}
