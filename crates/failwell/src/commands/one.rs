use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use failwell_policy::Limits;
use failwell_process::Launcher;
use failwell_pytest::{Strictness, Walls};
use failwell_server::{House, Settings, ShelfDesk, ToolFailures};

use super::shared::Shared;
use super::{configured, device, runtime, serve, stdio, tasks, up};
use crate::cli::{
    Device, Door, EngineOptions, FailuresAs, Pytest, SandboxIs, Serve, Server, Symbolic, Tasks,
};
use crate::complaint::Complaint;
use crate::config::Config;

/// How long a call of the tasks server may take: a batch has fifty changes, and each waits for its turn.
const LONGEST_CALL: Duration = Duration::from_secs(300);
/// How long a call of the device server may take: a batch has a hundred steps, and each may wait.
const LONGEST_BATCH: Duration = Duration::from_secs(1_800);
/// What a request has beyond the longest run, to clear up and answer.
const CLEARING_UP: Duration = Duration::from_secs(30);

/// The longest time limit a caller may give an analysis.
const LONGEST_ANALYSIS: Duration = Duration::from_secs(300);

/// Serves one tool server until its client hangs up or it is told to stop.
pub(super) fn run(arguments: Serve) -> Result<ExitCode, Complaint> {
    match arguments.server {
        Server::Pytest(arguments) => through(Way::of(&arguments.door), move || pytest(arguments)),
        Server::Symbolic(arguments) => through(Way::of(&arguments.door), move || symbolic(arguments)),
        Server::Device(arguments) => through(Way::of(&arguments.door), move || device(&arguments)),
        Server::Tasks(arguments) => through(Way::of(&arguments.door), move || tasks(&arguments)),
    }
}

fn symbolic(arguments: Symbolic) -> Result<Arc<House>, Complaint> {
    let settings = settings(&arguments.door, LONGEST_ANALYSIS + CLEARING_UP);
    serve::build(failwell_symbolic::symbolic(analysis_settings(arguments.engine)?), settings)
}

/// Code of a caller runs in the sandbox or not at all, unless the person who starts the server says otherwise.
pub(super) fn analysis_settings(options: EngineOptions) -> Result<failwell_symbolic::Settings, Complaint> {
    use failwell_symbolic::replay::Walls;
    let launcher = Launcher::of_this_program().map_err(|fault| serve::unexpected(&fault))?;
    let walls = match options.sandbox {
        SandboxIs::Required => Walls::Required,
        SandboxIs::On => Walls::BestEffort,
        SandboxIs::Off => Walls::Off,
    };
    Ok(failwell_symbolic::Settings { python: options.python, walls, launcher, memory_mb: options.memory_mb })
}

/// Where callers come in, and whether they need a key there.
struct Way {
    listen: Option<SocketAddr>,
    require_key: bool,
}

impl Way {
    fn of(door: &Door) -> Way {
        Way { listen: door.listen, require_key: door.require_key }
    }
}

fn through(way: Way, house: impl FnOnce() -> Result<Arc<House>, Complaint>) -> Result<ExitCode, Complaint> {
    match way.listen {
        None => stdio::serve_one(house),
        Some(address) => {
            runtime()?.block_on(async { up::serve_one(house()?, address, way.require_key).await })
        }
    }
}

fn tasks(arguments: &Tasks) -> Result<Arc<House>, Complaint> {
    let config = own_table(arguments.reach.config.as_deref(), &arguments.door)?;
    let room = failwell_tasks::tasks(tasks::settle(&config, &arguments.reach)?);
    serve::build(room, settings(&arguments.door, LONGEST_CALL))
}

fn device(arguments: &Device) -> Result<Arc<House>, Complaint> {
    let config = own_table(arguments.config.as_deref(), &arguments.door)?;
    let of_room = device::settle(&config, arguments)?;
    let shelf = of_room.shelf.clone().map(ShelfDesk::open_to_all);
    let settings = Settings { shelf, ..settings(&arguments.door, LONGEST_BATCH) };
    serve::build(failwell_device::device(of_room), settings)
}

/// The file of a server alone, which takes its own table from it. Who may call, and what they may do, is for `up`: a file that says so
/// is not passed over in silence where others can call.
fn own_table(file: Option<&Path>, door: &Door) -> Result<Config, Complaint> {
    let config = configured::settle(file).map_err(configured::Misconfigured::report)?;
    let said = [
        ("require_key", config.require_key && !door.require_key),
        ("[[key]]", !config.keys.is_empty()),
        ("[jwt]", config.jwt.is_some()),
        ("[limits]", config.limits != Limits::default()),
        ("[tools] or [[rule]]", !config.rules.is_empty()),
        ("Cedar policies", config.cedar.is_some()),
    ];
    let names: Vec<&str> = said.into_iter().filter(|(_, is_said)| *is_said).map(|(name, _)| name).collect();
    if names.is_empty() || door.listen.is_none() {
        return Ok(config);
    }
    Err(Complaint::new(
        format!("`failwell serve` does not follow {} of the configuration", names.join(", ")),
        "serve it with `failwell up`, which follows all of the file, or name another file with --config",
    ))
}

fn pytest(arguments: Pytest) -> Result<Arc<House>, Complaint> {
    if !arguments.project.is_dir() {
        return Err(Complaint::new(
            format!("{} is not a folder", arguments.project.display()),
            "name the project's folder: --project DIR",
        ));
    }
    let launcher = Launcher::of_this_program().map_err(|fault| serve::unexpected(&fault))?;
    let settings = settings(&arguments.door, Duration::from_secs(arguments.longest_run) + CLEARING_UP);
    let room = failwell_pytest::pytest(failwell_pytest::Settings {
        project: arguments.project,
        python: arguments.python,
        pass: arguments.pass_env,
        most_seconds: arguments.longest_run,
        walls: walls(arguments.sandbox, arguments.allow_write),
        launcher,
    });
    serve::build(room, settings)
}

fn walls(sandbox: SandboxIs, write: Vec<PathBuf>) -> Walls {
    let strictness = match sandbox {
        SandboxIs::On => Strictness::On,
        SandboxIs::Required => Strictness::Required,
        SandboxIs::Off => Strictness::Off,
    };
    Walls { strictness, write }
}

fn settings(door: &Door, request_deadline: Duration) -> Settings {
    let tool_failures = match door.tool_failures {
        FailuresAs::Result => ToolFailures::Result,
        FailuresAs::Error => ToolFailures::Error,
    };
    let turnstile = serve::turnstile(Limits::default(), door.rate);
    let keys = Some(Shared::nothing(&Config::default()).keys);
    Settings { request_deadline, tool_failures, turnstile, keys, ..Settings::default() }
}
