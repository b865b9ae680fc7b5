//! One tool server alone.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Device, Tasks};

/// Serve one tool server alone
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell serve pytest                          this folder's tests, over stdio
  failwell serve pytest --project ~/shop --listen 127.0.0.1:8484
  failwell serve symbolic                        proofs and counterexamples for Python code
  failwell serve tasks                           your tasks at Remember The Milk, over stdio
  failwell serve device --driver chromedriver    a phone emulated in Chromium")]
pub(crate) struct Serve {
    #[command(subcommand)]
    pub(crate) server: Server,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Server {
    Pytest(Pytest),
    Symbolic(Symbolic),
    Tasks(Tasks),
    Device(Device),
}

/// Analyse Python functions for every input at once
///
/// Contracts are proven or broken, exceptions found or excluded, functions compared, dead branches listed. Code is never
/// run in this program; what was found is replayed in real CPython, in a sandbox, before it is told. Needs z3 and Python.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell serve symbolic
  claude mcp add symbolic -- failwell serve symbolic
  failwell serve symbolic --python ~/venv/bin/python --listen 127.0.0.1:8484")]
pub(crate) struct Symbolic {
    #[command(flatten)]
    pub(crate) engine: EngineOptions,
    #[command(flatten)]
    pub(crate) door: Door,
}

/// How analyses of Python code are made.
#[derive(Debug, Args)]
pub(crate) struct EngineOptions {
    /// The interpreter that findings are replayed in; python3 by default
    #[arg(long, value_name = "PATH")]
    pub(crate) python: Option<PathBuf>,
    /// Whether replays run in a sandbox: no files, no network, no environment
    #[arg(long, value_name = "HOW", value_enum, default_value_t = SandboxIs::Required)]
    pub(crate) sandbox: SandboxIs,
    /// Memory for one analysis, in megabytes
    #[arg(long, value_name = "MB", default_value_t = failwell_symbolic::USUAL_MEMORY_MB, value_parser = clap::value_parser!(u64).range(64..=65_536))]
    pub(crate) memory_mb: u64,
}

/// Run a Python project's tests with pytest
///
/// Tests run as children of this program, with a short list of environment variables, and nothing they start
/// outlives its run. The interpreter is the project's own: .venv or venv, VIRTUAL_ENV, uv, poetry, then python3.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell serve pytest --project ~/shop
  claude mcp add pytest -- failwell serve pytest --project ~/shop
  failwell serve pytest --python .venv/bin/python --pass-env DATABASE_URL")]
pub(crate) struct Pytest {
    /// The project's folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) project: PathBuf,
    /// The interpreter to use, instead of looking for one
    #[arg(long, value_name = "PATH")]
    pub(crate) python: Option<PathBuf>,
    /// Another environment variable the tests may see; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) pass_env: Vec<String>,
    /// The most seconds a caller may allow one run
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) longest_run: u64,
    /// Whether the tests run in a sandbox: they may write to the project, temporary folders and caches only
    #[arg(long, value_name = "HOW", value_enum, default_value_t = SandboxIs::On)]
    pub(crate) sandbox: SandboxIs,
    /// Another file or folder the tests may write to from their sandbox; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_write: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) door: Door,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SandboxIs {
    /// As far as the kernel has one
    On,
    /// No run without it
    Required,
    /// None
    Off,
}

/// How one tool server is reached.
#[derive(Debug, Args)]
pub(crate) struct Door {
    /// Serve one client over standard input and output; so it is without --listen
    #[arg(long, conflicts_with = "listen")]
    pub(crate) stdio: bool,
    /// Serve over HTTP on this address and port
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// With --listen: every caller needs a key; the first start makes one for an admin and shows it once
    #[arg(long, requires = "listen")]
    pub(crate) require_key: bool,
    /// What a failed tool is answered with: a result that the model sees, or a plain JSON-RPC error
    #[arg(long, value_name = "AS", value_enum, default_value_t = FailuresAs::Result)]
    pub(crate) tool_failures: FailuresAs,
    /// How many requests a second one caller may send on average; no limit by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) rate: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FailuresAs {
    /// A result with isError
    Result,
    /// A JSON-RPC error, -32000 or -32602
    Error,
}
