//! The Python of a project: the operator's choice, the project's own environment, then the system's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use failwell_process::{ExitCause, Launcher, Limits, Plan};

use crate::project::Project;
use crate::run::environment::environment;

/// Timeout of `uv` and `poetry`.
const ASKING: Duration = Duration::from_secs(10);

/// An interpreter and the way it was found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Interpreter {
    pub(crate) path: PathBuf,
    pub(crate) found_by: &'static str,
}

pub(crate) async fn find(
    launcher: &Launcher,
    project: &Project,
    chosen: Option<&Path>,
) -> Option<Interpreter> {
    let root = project.root();
    let at = |path: PathBuf, found_by| is_program(&path).then_some(Interpreter { path, found_by });
    if let Some(path) = chosen {
        return at(root.join(path), "python setting");
    }
    for folder in [".venv", "venv"] {
        if let Some(found) = at(root.join(folder).join("bin/python"), "virtual environment") {
            return Some(found);
        }
    }
    if let Some(active) = std::env::var_os("VIRTUAL_ENV")
        && let Some(found) = at(root.join(active).join("bin/python"), "VIRTUAL_ENV")
    {
        return Some(found);
    }
    if root.join("uv.lock").is_file()
        && let Some(path) = ask(launcher, root, "uv", &["python", "find", "--offline"]).await
        && let Some(found) = at(path, "uv")
    {
        return Some(found);
    }
    if root.join("poetry.lock").is_file()
        && let Some(path) = ask(launcher, root, "poetry", &["env", "info", "--executable"]).await
        && let Some(found) = at(path, "poetry")
    {
        return Some(found);
    }
    ["python3", "python"].iter().find_map(|name| at(on_path(name)?, "PATH"))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| is_program(candidate))
}

/// Runs a tool that manages environments. The last line of its output is a path.
async fn ask(launcher: &Launcher, root: &Path, tool: &str, arguments: &[&str]) -> Option<PathBuf> {
    let mut plan = Plan::new(on_path(tool)?, root).arguments(arguments);
    plan.environment = environment(&[]);
    plan.limits = Limits { wall: Some(ASKING), ..Limits::default() };
    let ended = launcher.start(plan).await.ok()?.wait().await;
    let output = ended.output.stdout.text();
    let path = output.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    (ended.how == ExitCause::Code(0)).then(|| PathBuf::from(path))
}
