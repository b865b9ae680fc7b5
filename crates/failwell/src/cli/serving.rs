//! Serving one built-in tool server.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Device, Tasks};

/// Serve one built-in tool server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell serve pytest                          this folder's tests, over stdio
  failwell serve pytest --project ~/shop --listen 127.0.0.1:8484
  failwell serve symbolic                        proofs and counterexamples for Python code
  failwell serve tasks                           tasks in Remember The Milk, over stdio
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

/// Analyse Python functions for every input
///
/// Proves contracts or finds counterexamples, finds or excludes exceptions, compares functions, lists dead branches. Code
/// never runs in this process. Each finding is replayed in CPython, in a sandbox, before it is reported. Needs z3 and
/// Python.
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
    pub(crate) serving: ServeOptions,
}

/// Options of the symbolic engine.
#[derive(Debug, Args)]
pub(crate) struct EngineOptions {
    /// Interpreter for replaying findings [default: python3]
    #[arg(long, value_name = "PATH")]
    pub(crate) python: Option<PathBuf>,
    /// Run replays in a sandbox without files, network and environment
    #[arg(long, value_name = "HOW", value_enum, default_value_t = SandboxChoice::Required)]
    pub(crate) sandbox: SandboxChoice,
    /// Memory limit of one analysis, in megabytes
    #[arg(long, value_name = "MB", default_value_t = failwell_symbolic::DEFAULT_MEMORY_MB, value_parser = clap::value_parser!(u64).range(64..=65_536))]
    pub(crate) memory_mb: u64,
}

/// Run a Python project's tests with pytest
///
/// Tests run in child processes with a short list of environment variables. Every process ends with its run. The
/// interpreter is the project's own: .venv or venv, VIRTUAL_ENV, uv, poetry, then python3.
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
    /// Interpreter to use instead of searching for one
    #[arg(long, value_name = "PATH")]
    pub(crate) python: Option<PathBuf>,
    /// Pass another environment variable to the tests; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) pass_env: Vec<String>,
    /// Longest timeout that a caller may request for one run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) longest_run: u64,
    /// Run tests in a sandbox that can write only to the project, temporary folders and caches
    #[arg(long, value_name = "HOW", value_enum, default_value_t = SandboxChoice::On)]
    pub(crate) sandbox: SandboxChoice,
    /// Make another file or folder writable in the sandbox; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_write: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) serving: ServeOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SandboxChoice {
    /// Use the parts that the kernel supports
    On,
    /// Refuse to run without the whole sandbox
    Required,
    /// Use no sandbox
    Off,
}

/// How clients reach one tool server.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// Serve one client over stdio (default unless --listen is given)
    #[arg(long, conflicts_with = "listen")]
    pub(crate) stdio: bool,
    /// Serve over HTTP on this address and port
    #[arg(long, value_name = "ADDR", value_parser = crate::config::listen_address)]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// With --listen: require a key from every caller; the first start creates an admin key, on the terminal or in a file
    #[arg(long, requires = "listen")]
    pub(crate) require_key: bool,
    /// Answer for a failed tool: a result that the model sees, or a plain JSON-RPC error
    #[arg(long, value_name = "AS", value_enum, default_value_t = ToolFailureStyle::Result)]
    pub(crate) tool_failures: ToolFailureStyle,
    /// Average requests per second that one caller may send [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) rate: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ToolFailureStyle {
    /// A result with isError
    Result,
    /// A JSON-RPC error, -32000 or -32602
    Error,
}
