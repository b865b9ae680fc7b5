//! The tools and their shared state.

mod discover;
mod execute;
mod run_queries;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, Ref};
use failwell_process::{Launcher, Sandbox};
use failwell_sdk::{Context, Info, Resource, Tool, ToolOutcome, Toolbox, with_state};
use serde_json::{Map, Value};

use crate::arguments::{RunArguments, choose};
use crate::interpreter::{self, Interpreter};
use crate::project::Project;
use crate::reason;
use crate::report::failure::{FailureContext, StartFailure};
use crate::report::render;
use crate::report::schema;
use crate::report::scrubber::Scrubber;
use crate::report::store::{RunStore, StoredRun};
use crate::run::bootstrap;
use crate::run::classify::{ProcessEnd, RunVerdict, classify};
use crate::run::environment::environment;
use crate::run::folder::RunFolder;
use crate::run::plan;
use crate::run::sandbox::{self, SandboxSettings};
use crate::run::warm::WorkerPool;
use crate::run::{ActiveRun, RunOutcome, RunRequest, watch};

/// The operator's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The project to test.
    pub project: PathBuf,
    /// The interpreter. By default it is searched.
    pub python: Option<PathBuf>,
    /// Variables that the tests inherit in addition to the usual ones.
    pub pass: Vec<String>,
    /// The maximum time limit of a run, in seconds, that a caller may set.
    pub most_seconds: u64,
    pub sandbox: SandboxSettings,
    /// Starts child processes.
    pub launcher: Launcher,
}

impl Settings {
    /// Default settings for a project.
    pub fn new(project: PathBuf, launcher: Launcher) -> Settings {
        Settings {
            project,
            python: None,
            pass: Vec::new(),
            most_seconds: 3_600,
            sandbox: SandboxSettings::default(),
            launcher,
        }
    }
}

/// Builds the tool server for one project.
pub fn pytest(settings: Settings) -> Result<Toolbox, Fault> {
    let state = Arc::new(PytestState::new(settings)?);
    let info = Info {
        name: "pytest",
        title: "pytest",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Runs a Python project's tests. execute_tests runs them (all, or node_ids), discover_tests lists them, get_failure shows one failure in full, list_runs the last runs. Failing tests are results, not errors.",
    };
    Ok(Toolbox::new(info)
        .tool(Tool::new("execute_tests", "Runs tests and returns their outcomes, with failures grouped by root cause first. Failing tests are an ordinary result.", with_state(&state, execute::execute))?.titled("Run tests").with_output_schema(schema::executed())?)
        .tool(Tool::new("discover_tests", "Lists the tests of the project without running them; works also when some files do not collect.", with_state(&state, discover::discover))?.titled("List tests").with_output_schema(schema::discovered())?.idempotent())
        .tool(Tool::new("get_failure", "Shows one test of an earlier run in full: message, traceback, captured output.", with_state(&state, run_queries::get_failure))?.titled("Show a failure").read_only())
        .tool(Tool::new("list_runs", "Lists the last runs, newest first.", with_state(&state, run_queries::list_runs))?.titled("List runs").read_only())
        .resource(Resource::new(
            "pytest://runs/{run}/log",
            "run log",
            "The whole output of a run, as far as it was kept.",
            "text/plain",
            move |address, cx| {
                let state = state.clone();
                async move { run_queries::log(&state, &address, &cx) }
            },
        )))
}

/// The state that all calls share.
pub(crate) struct PytestState {
    settings: Settings,
    project: Project,
    pool: WorkerPool,
    store: RunStore,
    scrubber: Scrubber,
    folder: RunFolder,
    inside: PathBuf,
    sandbox: Sandbox,
    sandbox_note: &'static str,
}

impl PytestState {
    fn new(settings: Settings) -> Result<PytestState, Fault> {
        let project = Project::open(&settings.project).or_fault(&reason::CONFIG_INVALID)?;
        let folder = RunFolder::make().or_fault(&reason::CONFIG_INVALID)?;
        let pool = WorkerPool::new(settings.launcher.clone(), folder.path().to_owned());
        let inside = bootstrap::lay_out(folder.path()).or_fault(&reason::CONFIG_INVALID)?;
        let sandbox = settings.sandbox.around(&project);
        let sandbox_note = sandbox::describe(&sandbox);
        let scrubber = Scrubber::of_environment().and(folder.path().display().to_string(), "[private]");
        Ok(PytestState {
            project,
            pool,
            store: RunStore::default(),
            scrubber,
            folder,
            inside,
            sandbox,
            sandbox_note,
            settings,
        })
    }

    /// The project and the interpreter of a run, or the answer of a run that cannot start.
    async fn prepare(
        &self,
        given: &impl RunArguments,
    ) -> Result<(Project, Interpreter), Result<ToolOutcome, Fault>> {
        let project = choose(&self.project, given.project()).map_err(Err)?;
        given.check(&project, self.settings.most_seconds).map_err(Err)?;
        let interpreter = self.interpreter(&project).await;
        let interpreter = interpreter.map_err(|missing| self.not_started(missing))?;
        Ok((project, interpreter))
    }

    /// The interpreter of a project, or the reason why there is none.
    async fn interpreter(&self, project: &Project) -> Result<Interpreter, StartFailure> {
        if !project.root().is_dir() {
            return Err(StartFailure::RunFolder);
        }
        let found =
            interpreter::find(&self.settings.launcher, project, self.settings.python.as_deref()).await;
        found.ok_or(StartFailure::Interpreter)
    }

    fn request(
        &self,
        project: &Project,
        interpreter: &Interpreter,
        arguments: Vec<String>,
        more: impl IntoIterator<Item = (&'static str, Value)>,
        limit: Duration,
    ) -> RunRequest {
        let mut settings: Map<String, Value> = plan::settings(project, self.folder.path());
        settings.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
        RunRequest {
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

    /// One run: a fork of a warm worker if there is one, otherwise a new process.
    async fn perform(
        &self,
        request: &RunRequest,
        warmth: WorkerUse,
        cx: &Context,
    ) -> Result<RunOutcome, Fault> {
        if warmth == WorkerUse::Any
            && let Some((fork, events)) = self.pool.fork(request).await
        {
            let outcome = watch(ActiveRun::Warm(fork), events, request, &self.scrubber, cx).await;
            if outcome.lost {
                self.pool.discard(request);
            }
            // A fork that died before it received its request has run no test.
            if outcome.report.python.is_some() || outcome.end == ProcessEnd::TimeLimit {
                return Ok(outcome);
            }
        }
        let (running, events) = ActiveRun::cold(&self.settings.launcher, request).await?;
        let outcome = watch(running, events, request, &self.scrubber, cx).await;
        if warmth == WorkerUse::Any && outcome.report.pytest.is_some() {
            self.pool.prepare(request);
        }
        Ok(outcome)
    }

    /// Classifies a run and stores it.
    fn keep(
        &self,
        outcome: RunOutcome,
        request: &RunRequest,
        cx: &Context,
    ) -> (Arc<StoredRun>, RunVerdict, Duration) {
        let verdict = classify(&outcome.report, outcome.end);
        let status = match verdict {
            RunVerdict::Completed { exit_code } => render::status(&outcome.report, exit_code),
            other => crate::report::failure::error_type(other),
        };
        let run = self.store.keep(StoredRun {
            id: Ref::fresh().to_string(),
            caller: cx.client().caller.to_string(),
            project: request.project.root().to_owned(),
            ended: std::time::Instant::now(),
            took: outcome.took,
            mode: outcome.mode,
            sandbox_note: self.sandbox_note,
            status,
            report: outcome.report,
            stdout: outcome.stdout,
            stderr: outcome.stderr,
        });
        (run, verdict, outcome.limit)
    }

    /// The answer for a failed run.
    fn failure(
        &self,
        (run, verdict, limit): &(Arc<StoredRun>, RunVerdict, Duration),
        request: &RunRequest,
        characters: usize,
    ) -> Result<ToolOutcome, Fault> {
        let command = plan::command(&request.interpreter.path, &request.arguments);
        let missing = match &run.report.no_pytest {
            Some((_, true)) => StartFailure::Pytest,
            Some((_, false)) => StartFailure::BrokenPytest,
            None => StartFailure::Launch,
        };
        let around = FailureContext {
            duration: Some(run.took),
            command: &command,
            stdout: &run.stdout,
            stderr: &run.stderr,
            partial: Value::Null,
            limit_s: limit.as_secs_f64(),
            most_s: self.settings.most_seconds,
            missing,
        };
        render::failed(run, *verdict, around, characters)
    }

    /// The answer if no process was started.
    fn not_started(&self, missing: StartFailure) -> Result<ToolOutcome, Fault> {
        let around = FailureContext {
            duration: None,
            command: &[],
            stdout: "",
            stderr: "",
            partial: Value::Null,
            limit_s: 0.0,
            most_s: self.settings.most_seconds,
            missing,
        };
        let fault = crate::report::failure::fault(RunVerdict::NotStarted, &around);
        let object = crate::report::failure::object(RunVerdict::NotStarted, &fault, &around);
        let object = failwell_sdk::Json::of(&object).or_fault(&reason::SERVER_BUG)?;
        Ok(ToolOutcome::default().structured(object).failed(fault))
    }

    /// Reports a child that could not be started as a failure of pytest, not of the server.
    fn launch_failed(&self, fault: Fault, project: &Project) -> Result<ToolOutcome, Fault> {
        if *fault.reason() != reason::PROCESS_SPAWN {
            return Err(fault);
        }
        self.not_started(if project.root().is_dir() { StartFailure::Launch } else { StartFailure::RunFolder })
    }
}

/// Whether a run may be a fork of a warm worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WorkerUse {
    Any,
    Cold,
}
