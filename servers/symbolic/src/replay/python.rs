//! The Python of replays and the location of its files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use failwell_fault::Fault;
use failwell_process::{Environment, ExitCause, Launcher, Limits, Plan};

use crate::reason;

/// Timeout of asking an interpreter for its version and paths.
const ASKING: Duration = Duration::from_secs(20);

/// Prints the real interpreter (a shim or a virtual environment points to it), its version, and its paths.
const WHO: &str = "
import os, sys, sysconfig
print(os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable))
print('%d.%d.%d' % sys.version_info[:3])
for place in {sys.base_prefix, sys.base_exec_prefix, sysconfig.get_config_var('LIBDIR') or sys.base_prefix,
              os.path.dirname(os.__file__)}:
    print(place)
";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Python {
    pub path: PathBuf,
    /// The version, such as `3.11.7`.
    pub version: String,
    /// The folders that it reads from.
    pub(super) places: Vec<PathBuf>,
}

/// The chosen interpreter, or the `python3` on the PATH.
pub(super) async fn find(launcher: &Launcher, chosen: Option<&Path>) -> Result<Python, Fault> {
    let missing = || Fault::new(&reason::SYMBOLIC_NO_PYTHON);
    let program = chosen.map_or_else(|| PathBuf::from("python3"), Path::to_owned);
    let mut plan = Plan::new(program, "/").arguments(["-I", "-S", "-c", WHO]);
    plan.environment =
        Environment::inherit(&["PATH", "HOME", "PYENV_ROOT", "PYENV_VERSION", "LD_LIBRARY_PATH"]);
    plan.limits = Limits { wall: Some(ASKING), ..Limits::default() };
    let mut child = launcher.start(plan).await.map_err(|fault| missing().absorbing(fault))?;
    let ended = child.wait().await;
    let output = ended.output.stdout.text();
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    match (ended.how, lines.next(), lines.next()) {
        (ExitCause::Code(0), Some(path), Some(version)) => Ok(Python {
            path: PathBuf::from(path),
            version: version.to_owned(),
            places: lines.map(PathBuf::from).collect(),
        }),
        _ => Err(missing().capture("stderr", ended.output.stderr.to_bytes())),
    }
}
