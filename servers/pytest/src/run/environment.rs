//! The environment of the tests: a short list of variables and the operator's additions.

use failwell_process::Environment;

/// Variables that tests commonly need. None of them is a secret.
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

/// The environment of a run. `added` are further names of the operator.
pub(crate) fn environment(added: &[String]) -> Environment {
    let names: Vec<&str> = INHERITED.into_iter().chain(added.iter().map(String::as_str)).collect();
    Environment::inherit(&names)
        // Interpreters that tests start write no compiled files. The interpreter of pytest stores them in the
        // private folder.
        .with("PYTHONDONTWRITEBYTECODE", "1")
}
