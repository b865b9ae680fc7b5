use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use failwell_controls::{Settings, StoredFiles};
use failwell_pipeline::{Pipeline, PipelineSettings, ToolFailures};
use failwell_policy::Limits;
use failwell_process::Launcher;
use failwell_pytest::{SandboxSettings, Strictness};

use super::{serve, stdio, up};
use crate::cli::{
    Device, EngineOptions, Pytest, SandboxChoice, Serve, ServeOptions, Server, Symbolic, Tasks,
    ToolFailureStyle,
};
use crate::commands::backends::shared::SharedBackends;
use crate::commands::servers::{device, tasks};
use crate::commands::{config_file, runtime};
use crate::complaint::Complaint;
use crate::config::Config;

/// Timeout of a call to the tasks server. A batch has up to fifty changes, and each waits for the rate
/// limiter.
const LONGEST_CALL: Duration = Duration::from_secs(300);
/// Timeout of a call to the device server. A batch has up to a hundred steps, and each may wait.
const LONGEST_BATCH: Duration = Duration::from_secs(1_800);
/// Time that a request has beyond its run, to clean up and answer.
const CLEARING_UP: Duration = Duration::from_secs(30);

/// The maximum timeout that a caller may set for an analysis.
const LONGEST_ANALYSIS: Duration = Duration::from_secs(300);

/// Serves one tool server until its client disconnects or a signal arrives.
pub(in crate::commands) fn run(arguments: Serve) -> Result<ExitCode, Complaint> {
    match arguments.server {
        Server::Pytest(arguments) => {
            serve_over(ListenOptions::of(&arguments.serving), move || pytest(arguments))
        }
        Server::Symbolic(arguments) => {
            serve_over(ListenOptions::of(&arguments.serving), move || symbolic(arguments))
        }
        Server::Device(arguments) => {
            serve_over(ListenOptions::of(&arguments.serving), move || device(&arguments))
        }
        Server::Tasks(arguments) => {
            serve_over(ListenOptions::of(&arguments.serving), move || tasks(&arguments))
        }
    }
}

fn symbolic(arguments: Symbolic) -> Result<Arc<Pipeline>, Complaint> {
    let settings = settings(&arguments.serving, LONGEST_ANALYSIS + CLEARING_UP);
    serve::build(failwell_symbolic::symbolic(analysis_settings(arguments.engine)?), settings)
}

/// A caller's code runs in the sandbox or not at all, unless the command line says otherwise.
pub(in crate::commands) fn analysis_settings(
    options: EngineOptions,
) -> Result<failwell_symbolic::Settings, Complaint> {
    use failwell_symbolic::replay::SandboxMode;
    let launcher = Launcher::of_this_program().map_err(|fault| serve::unexpected(&fault))?;
    let sandbox = match options.sandbox {
        SandboxChoice::Required => SandboxMode::Required,
        SandboxChoice::On => SandboxMode::BestEffort,
        SandboxChoice::Off => SandboxMode::Off,
    };
    Ok(failwell_symbolic::Settings {
        python: options.python,
        sandbox,
        launcher,
        memory_mb: options.memory_mb,
    })
}

/// The transport, and whether callers need a key.
struct ListenOptions {
    listen: Option<SocketAddr>,
    require_key: bool,
}

impl ListenOptions {
    fn of(serving: &ServeOptions) -> ListenOptions {
        ListenOptions { listen: serving.listen, require_key: serving.require_key }
    }
}

fn serve_over(
    listening: ListenOptions,
    pipeline: impl FnOnce() -> Result<Arc<Pipeline>, Complaint>,
) -> Result<ExitCode, Complaint> {
    match listening.listen {
        None => stdio::serve_one(pipeline),
        Some(address) => {
            runtime()?.block_on(async { up::serve_one(pipeline()?, address, listening.require_key).await })
        }
    }
}

fn tasks(arguments: &Tasks) -> Result<Arc<Pipeline>, Complaint> {
    let config = own_table(arguments.reach.config.as_deref(), &arguments.serving)?;
    let server = failwell_tasks::tasks(tasks::settle(&config, &arguments.reach)?);
    serve::build(server, settings(&arguments.serving, LONGEST_CALL))
}

fn device(arguments: &Device) -> Result<Arc<Pipeline>, Complaint> {
    let config = own_table(arguments.config.as_deref(), &arguments.serving)?;
    let device = device::settle(&config, arguments)?;
    let stored_files = device.blobs.clone().map(StoredFiles::open_to_all);
    let settings = Settings { stored_files, ..settings(&arguments.serving, LONGEST_BATCH) };
    serve::build(failwell_device::device(device), settings)
}

/// Loads the configuration for a single server, which uses only its own table. Access rules apply to `up`
/// alone. A file that has any is refused when the server listens, so that no rule is silently ignored.
fn own_table(file: Option<&Path>, serving: &ServeOptions) -> Result<Config, Complaint> {
    let config = config_file::settle(file).map_err(config_file::ConfigFileError::report)?;
    let overridden = [
        ("require_key", config.require_key && !serving.require_key),
        ("[[key]]", !config.keys.is_empty()),
        ("[jwt]", config.jwt.is_some()),
        ("[limits]", config.limits != Limits::default()),
        ("[tools] or [[rule]]", !config.rules.is_empty()),
        ("Cedar policies", config.cedar.is_some()),
    ];
    let names: Vec<&str> =
        overridden.into_iter().filter(|(_, is_said)| *is_said).map(|(name, _)| name).collect();
    if names.is_empty() || serving.listen.is_none() {
        return Ok(config);
    }
    Err(Complaint::new(
        format!("`failwell serve` does not follow {} of the configuration", names.join(", ")),
        "serve it with `failwell up`, which follows all of the file, or name another file with --config",
    ))
}

fn pytest(arguments: Pytest) -> Result<Arc<Pipeline>, Complaint> {
    if !arguments.project.is_dir() {
        return Err(Complaint::new(
            format!("{} is not a folder", arguments.project.display()),
            "name the project's folder: --project DIR",
        ));
    }
    let launcher = Launcher::of_this_program().map_err(|fault| serve::unexpected(&fault))?;
    let settings = settings(&arguments.serving, Duration::from_secs(arguments.longest_run) + CLEARING_UP);
    let server = failwell_pytest::pytest(failwell_pytest::Settings {
        project: arguments.project,
        python: arguments.python,
        pass: arguments.pass_env,
        most_seconds: arguments.longest_run,
        sandbox: sandbox_settings(arguments.sandbox, arguments.allow_write),
        launcher,
    });
    serve::build(server, settings)
}

fn sandbox_settings(sandbox: SandboxChoice, write: Vec<PathBuf>) -> SandboxSettings {
    let strictness = match sandbox {
        SandboxChoice::On => Strictness::On,
        SandboxChoice::Required => Strictness::Required,
        SandboxChoice::Off => Strictness::Off,
    };
    SandboxSettings { strictness, write }
}

fn settings(serving: &ServeOptions, request_deadline: Duration) -> Settings {
    let tool_failures = match serving.tool_failures {
        ToolFailureStyle::Result => ToolFailures::Result,
        ToolFailureStyle::Error => ToolFailures::Error,
    };
    let rate_limiter = serve::rate_limiter(Limits::default(), serving.rate);
    let keys = Some(SharedBackends::nothing(&Config::default()).keys);
    let bounds = PipelineSettings { request_deadline, tool_failures, ..PipelineSettings::default() };
    Settings { bounds, rate_limiter, keys, ..Settings::default() }
}
