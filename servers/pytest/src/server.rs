//! The tools, and what they share.

mod discover;
mod execute;
mod look;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, Ref, reason};
use failwell_process::{Launcher, Sandbox};
use failwell_server::{Context, Info, Resource, Tool, ToolOutcome, Toolbox, schema_of_arguments};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arguments::{Discover, Execute, GetFailure, ListRuns};
use crate::classify::{End, Verdict, classify};
use crate::environment::environment;
use crate::failure::{Circumstances, Missing};
use crate::folder::Folder;
use crate::interpreter::{self, Interpreter};
use crate::place::Project;
use crate::run::{Order, Ran, Running, watch};
use crate::scrub::Scrub;
use crate::store::{Run, Store};
use crate::walls::{self, Walls};
use crate::warm::Pool;
use crate::{inside, plan, schema, tell};

/// What the operator decides.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The project whose tests are run.
    pub project: PathBuf,
    /// The interpreter to use, instead of looking for one.
    pub python: Option<PathBuf>,
    /// Variables the tests inherit beside the usual ones.
    pub pass: Vec<String>,
    /// The most seconds a caller may allow a run.
    pub most_seconds: u64,
    /// What the tests may touch.
    pub walls: Walls,
    /// What starts children.
    pub launcher: Launcher,
}

impl Settings {
    /// A project as it is, with the usual bounds.
    pub fn of(project: PathBuf, launcher: Launcher) -> Settings {
        Settings {
            project,
            python: None,
            pass: Vec::new(),
            most_seconds: 3_600,
            walls: Walls::default(),
            launcher,
        }
    }
}

/// The tool server for one project.
pub fn pytest(settings: Settings) -> Result<Toolbox, Fault> {
    let desk = Arc::new(Desk::new(settings)?);
    let info = Info {
        name: "pytest",
        title: "pytest",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Runs a Python project's tests. execute_tests runs them (all, or node_ids), discover_tests lists them, get_failure shows one failure in full, list_runs the last runs. Failing tests are results, not errors.",
    };
    Ok(Toolbox::new(info)
        .tool(tool::<Execute, _, _>(
            &desk,
            ("execute_tests", "Run tests", "Runs tests and gives their outcomes, failures grouped by root cause first. Failing tests are an ordinary result."),
            Some(schema::executed()),
            execute::execute,
        )?)
        .tool(tool::<Discover, _, _>(
            &desk,
            ("discover_tests", "List tests", "Lists the tests of the project without running them; works also when some files do not collect."),
            Some(schema::discovered()),
            discover::discover,
        )?.idempotent())
        .tool(tool::<GetFailure, _, _>(
            &desk,
            ("get_failure", "Show a failure", "Shows one test of an earlier run in full: message, traceback, captured output."),
            None,
            look::get_failure,
        )?.read_only())
        .tool(tool::<ListRuns, _, _>(
            &desk,
            ("list_runs", "List runs", "Lists the last runs, newest first."),
            None,
            look::list_runs,
        )?.read_only())
        .resource(Resource::new(
            "pytest://runs/{run}/log",
            "run log",
            "The whole output of a run, as far as it was kept.",
            "text/plain",
            move |address, cx| {
                let desk = desk.clone();
                async move { look::log(&desk, &address, &cx) }
            },
        )))
}

fn tool<A, F, W>(
    desk: &Arc<Desk>,
    (name, title, description): (&'static str, &'static str, &'static str),
    output: Option<Value>,
    handler: F,
) -> Result<Tool, Fault>
where
    A: DeserializeOwned + schemars::JsonSchema + Send + 'static,
    F: Fn(Arc<Desk>, A, Context) -> W + Send + Sync + Copy + 'static,
    W: Future<Output = Result<ToolOutcome, Fault>> + Send + 'static,
{
    let desk = desk.clone();
    let tool = Tool::dynamic(name, description, schema_of_arguments::<A>()?, output, move |given, cx| {
        let desk = desk.clone();
        async move { handler(desk, serde_json::from_value(given).or_fault(&reason::MCP_BAD_ARGUMENTS)?, cx).await }
    })?;
    Ok(tool.titled(title))
}

/// What all calls share.
pub(crate) struct Desk {
    settings: Settings,
    project: Project,
    pool: Pool,
    store: Store,
    scrub: Scrub,
    folder: Folder,
    inside: PathBuf,
    sandbox: Sandbox,
    walls: &'static str,
}

impl Desk {
    fn new(settings: Settings) -> Result<Desk, Fault> {
        let project = Project::open(&settings.project).or_fault(&reason::CONFIG_INVALID)?;
        let folder = Folder::make().or_fault(&reason::CONFIG_INVALID)?;
        let pool = Pool::new(settings.launcher.clone(), folder.path().to_owned());
        let inside = inside::lay_out(folder.path()).or_fault(&reason::CONFIG_INVALID)?;
        let sandbox = settings.walls.around(&project);
        let walls = walls::described(&sandbox);
        let scrub = Scrub::of_environment().and(folder.path().display().to_string(), "[private]");
        Ok(Desk { project, pool, store: Store::default(), scrub, folder, inside, sandbox, walls, settings })
    }

    /// The interpreter for a project, or the failure that says there is none.
    async fn interpreter(&self, project: &Project) -> Result<Interpreter, Missing> {
        if !project.root().is_dir() {
            return Err(Missing::Folder);
        }
        let found =
            interpreter::find(&self.settings.launcher, project, self.settings.python.as_deref()).await;
        found.ok_or(Missing::Interpreter)
    }

    fn order(
        &self,
        project: &Project,
        interpreter: &Interpreter,
        arguments: Vec<String>,
        more: impl IntoIterator<Item = (&'static str, Value)>,
        limit: Duration,
    ) -> Order {
        let mut settings: Map<String, Value> = plan::settings(project, self.folder.path());
        settings.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
        Order {
            project: project.clone(),
            interpreter: interpreter.clone(),
            arguments,
            settings: Value::Object(settings),
            environment: environment(&self.settings.pass),
            inside: self.inside.clone(),
            sandbox: self.sandbox.clone(),
            limit,
            per_test: None,
        }
    }

    /// One run: a fork of a warm worker where there is one, else a process of its own.
    async fn perform(&self, order: &Order, warmth: Warmth, cx: &Context) -> Result<Ran, Fault> {
        if warmth == Warmth::Any
            && let Some((fork, events)) = self.pool.fork(order).await
        {
            let ran = watch(Running::Warm(fork), events, order, &self.scrub, cx).await;
            if ran.lost {
                self.pool.discard(order);
            }
            // A fork that died before its errand has run nothing.
            if ran.report.python.is_some() || ran.end == End::TimeLimit {
                return Ok(ran);
            }
        }
        let (running, events) = Running::cold(&self.settings.launcher, order).await?;
        let ran = watch(running, events, order, &self.scrub, cx).await;
        if warmth == Warmth::Any && ran.report.pytest.is_some() {
            self.pool.prepare(order);
        }
        Ok(ran)
    }

    /// Gives a run its verdict and keeps it.
    fn keep(&self, ran: Ran, order: &Order, cx: &Context) -> (Arc<Run>, Verdict, Duration) {
        let verdict = classify(&ran.report, ran.end);
        let status = match verdict {
            Verdict::Ordinary { exit_code } => tell::status(&ran.report, exit_code),
            other => crate::failure::error_type(other),
        };
        let run = self.store.keep(Run {
            id: Ref::fresh().to_string(),
            caller: cx.client().caller.to_string(),
            project: order.project.root().to_owned(),
            ended: std::time::Instant::now(),
            took: ran.took,
            mode: ran.mode,
            walls: self.walls,
            status,
            report: ran.report,
            stdout: ran.stdout,
            stderr: ran.stderr,
        });
        (run, verdict, ran.limit)
    }

    /// The answer for a run that failed.
    fn failure(
        &self,
        (run, verdict, limit): &(Arc<Run>, Verdict, Duration),
        order: &Order,
        characters: usize,
    ) -> Result<ToolOutcome, Fault> {
        let command = plan::command(&order.interpreter.path, &order.arguments);
        let missing = match &run.report.no_pytest {
            Some((_, true)) => Missing::Pytest,
            Some((_, false)) => Missing::BrokenPytest,
            None => Missing::Launch,
        };
        let around = Circumstances {
            duration: Some(run.took),
            command: &command,
            stdout: &run.stdout,
            stderr: &run.stderr,
            partial: Value::Null,
            limit_s: limit.as_secs_f64(),
            most_s: self.settings.most_seconds,
            missing,
        };
        tell::failed(run, *verdict, around, characters)
    }

    /// The answer when nothing was started.
    fn not_started(&self, missing: Missing) -> Result<ToolOutcome, Fault> {
        let around = Circumstances {
            duration: None,
            command: &[],
            stdout: "",
            stderr: "",
            partial: Value::Null,
            limit_s: 0.0,
            most_s: self.settings.most_seconds,
            missing,
        };
        let fault = crate::failure::fault(Verdict::NotStarted, &around);
        let object = crate::failure::object(Verdict::NotStarted, &fault, &around);
        let object = failwell_server::Json::of(&object).or_fault(&reason::SERVER_BUG)?;
        Ok(ToolOutcome::default().structured(object).failed(fault))
    }

    /// A child that could not be started is a matter of pytest's, not of the workshop's.
    fn launch_failed(&self, fault: Fault, project: &Project) -> Result<ToolOutcome, Fault> {
        if *fault.reason() != reason::PROCESS_SPAWN {
            return Err(fault);
        }
        self.not_started(if project.root().is_dir() { Missing::Launch } else { Missing::Folder })
    }
}

/// Whether a run may be a fork of a warm worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Warmth {
    Any,
    Cold,
}
