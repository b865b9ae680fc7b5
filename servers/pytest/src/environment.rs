//! What the tests inherit: a short list of variables, and what the operator adds to it.

use failwell_process::Environment;

/// Variables that tests may reasonably expect, none of which is a secret.
const INHERITED: [&str; 21] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYENV_VERSION",
];

/// The environment of a run. `added` are names the operator passes on as well.
pub(crate) fn environment(added: &[String]) -> Environment {
    let names: Vec<&str> = INHERITED.into_iter().chain(added.iter().map(String::as_str)).collect();
    Environment::inherit(&names)
        // Interpreters that tests start leave no compiled files behind; the one that runs pytest keeps them elsewhere.
        .with("PYTHONDONTWRITEBYTECODE", "1")
}
