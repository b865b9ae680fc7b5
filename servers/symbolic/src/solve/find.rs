//! Finds the solver.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Names the solver's program, for machines where it is not on the PATH.
const VARIABLE: &str = "FAILWELL_Z3";

/// The folder of the project's tools.
const TOOLS: &str = "FAILWELL_TOOLS";

/// The first existing program: from the environment, on the PATH, or next to the Python of the tools.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Some(PathBuf::from(named)).filter(|path| path.is_file());
    }
    let on_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let tools = std::env::var_os(TOOLS).map(|tools| PathBuf::from(tools).join("python").join("bin"));
    let folders = on_path.unwrap_or_default().into_iter().chain(tools);
    folders.map(|folder| folder.join("z3")).find(|path| path.is_file())
}

/// The name and version of the solver.
pub(crate) fn version() -> Option<String> {
    let output =
        Command::new(find()?).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let number = text.split_whitespace().nth(2)?;
    Some(format!("z3 {number}"))
}
