//! The command line. Help, completions and manual pages are generated from these definitions.

mod calls;
mod consent;
mod device;
mod emulate;
mod init;
mod records;
mod serving;
mod status;
mod tasks;

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand};

use crate::config;
pub(crate) use calls::{Call, ServerOptions, Tools};
pub(crate) use device::{Device, DriverChoice};
pub(crate) use emulate::Emulate;
#[cfg(feature = "emulators")]
pub(crate) use emulate::{EmulateRtm, EmulateWda, EmulatorKind};
pub(crate) use init::Init;
pub(crate) use records::{
    Audit, AuditCommand, Explain, Export, ExportFormat, LedgerLocation, QueryLedger, RecordFilter,
    RecordLocation, Tail, VerifyLedger,
};
pub(crate) use serving::{
    EngineOptions, Pytest, SandboxChoice, Serve, ServeOptions, Server, Symbolic, ToolFailureStyle,
};
pub(crate) use status::StatusCommand;
pub(crate) use tasks::{
    Login, LoginTarget, Logout, LogoutTarget, PermissionChoice, Reach, Tasks, TasksLogin,
};

pub(crate) use consent::{Approve, Pin, PinCommand, PinForget, PinSelection};

/// A security gateway and tool servers for the Model Context Protocol, with one way of failing.
///
/// Every failure gives the caller exactly one answer that is correct for its protocol, safe to show, and says what to
/// do next. The operator finds the full story under the same reference.
#[derive(Debug, Parser)]
#[command(name = "failwell", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  failwell up                                    serve on http://127.0.0.1:8484
  failwell up --demo                             the same, with sample tasks
  failwell stdio                                 serve a desktop client
  failwell status                                the servers of the running program
  failwell init --from ~/.cursor/mcp.json        write failwell.toml with the servers of a client
  failwell tools                                 list the tools of the program that runs here
  failwell call lobby__echo text=hello           call one
  failwell check                                 report every mistake in failwell.toml
  failwell check-python shop.py::total           prove a Python function's contract, or break it
  failwell key new --name ci                     create an API key
  failwell approve                               list calls that wait for approval
  failwell pin diff                              show tools whose definitions changed
  failwell login tasks                           log in to Remember The Milk
  failwell explain -32004                        which reasons use a code
  failwell explain rpc/not_json                  explain a reason
  failwell explain 06ff2k8s1xq3m                 the full story of one failure, by its reference
  failwell audit tail                            show the latest records of the ledger
  failwell probe http://127.0.0.1:8484/mcp       test how a server handles failures
  failwell emulate rtm                           emulate Remember The Milk
  failwell emulate wda                           emulate an iPhone
  failwell doctor                                check this machine";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Up(Up),
    Stdio(Stdio),
    Init(Init),
    Tools(Tools),
    Call(Call),
    Check(Check),
    CheckPython(CheckPython),
    Serve(Serve),
    Status(StatusCommand),
    Login(Login),
    Logout(Logout),
    Key(Key),
    Approve(Approve),
    Pin(Pin),
    Explain(Explain),
    Audit(Audit),
    Probe(Probe),
    Emulate(Emulate),
    Doctor(Doctor),
    Completions(Completions),
    Man(Man),
}

/// Serve over HTTP: MCP at /mcp, plain JSON-RPC at /rpc, REST at /v1
///
/// By default only this machine can connect. If FAILWELL_KEY is set, or the configuration has keys or tokens, every
/// caller must present one. Listening on other addresses than loopback requires a key or token. Options override
/// failwell.toml. Saving the file, or sending SIGHUP, applies changes while the program runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell up
  failwell up --demo                             with sample tasks, without an account
  failwell up -- npx -y @modelcontextprotocol/server-memory
  failwell up --listen 127.0.0.1:0               any free port
  FAILWELL_KEY=… failwell up --listen 0.0.0.0:8484 --allow-host tools.example")]
pub(crate) struct Up {
    /// Configuration file [default: failwell.toml in this folder, else in the user's configuration folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Address and port to listen on [default: the configuration's, else 127.0.0.1:8484]
    #[arg(long, value_name = "ADDR", value_parser = crate::config::listen_address)]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Also serve tasks from an emulated account, which is discarded at exit
    #[arg(long, conflicts_with = "command")]
    pub(crate) demo: bool,
    /// Accept another host name for this server; may be repeated
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    pub(crate) allow_host: Vec<String>,
    /// Accept calls from web pages of this origin, such as https://app.example; may be repeated
    #[arg(long, value_name = "ORIGIN", value_parser = web_origin)]
    pub(crate) allow_origin: Vec<String>,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    /// Command of one server to put behind the gateway, without a configuration file
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "config")]
    pub(crate) command: Vec<String>,
}

/// Serve one client over stdio, for desktop clients
///
/// Desktop clients rarely show the output of a server. If the configuration is invalid, the first request is answered
/// with that error, and the program ends. Saving the file, or sending SIGHUP, applies changes while the program runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell stdio
  failwell stdio -- npx -y @modelcontextprotocol/server-memory
  claude mcp add failwell -- failwell stdio
  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' | failwell stdio")]
pub(crate) struct Stdio {
    /// Configuration file [default: failwell.toml in this folder, else in the user's configuration folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    /// Command of one server to put behind the gateway, without a configuration file
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "config")]
    pub(crate) command: Vec<String>,
}

/// Check a configuration file and report every mistake with its line and a fix
///
/// Environment variables and files that the configuration refers to are checked too. A program that this machine does not
/// have is a warning. Nothing is started without --start, and no secret is printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  the file is valid, and with --start every upstream works
  1  the file has mistakes, or an upstream does not work
  2  wrong usage

Examples:
  failwell check
  failwell check --start                         start every upstream and count its tools
  failwell check /etc/failwell.toml
  failwell check --json | jq -r '.problems[] | \"\\(.line): \\(.message)\"'
  failwell check --schema > failwell.schema.json")]
pub(crate) struct Check {
    /// The file [default: failwell.toml in this folder, else in the user's configuration folder]
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also start every upstream, list its tools and end it
    #[arg(long)]
    pub(crate) start: bool,
    /// Print the JSON Schema of the file instead
    #[arg(long, conflicts_with_all = ["config", "json", "start"])]
    pub(crate) schema: bool,
}

/// Prove the contract of Python functions for every input, or find a call that breaks it
///
/// Without FUNCTION every function of the file is checked. Each finding was reproduced in CPython and is printed with a
/// test that fails until it is fixed. Contracts are docstring pre:/post:/raises: lines, asserts, icontract and deal
/// decorators. Without a contract, no exception may leave the function.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  every function is proven
  1  a counterexample was found, or the file cannot be checked
  2  wrong usage
  3  nothing was found, but something could not be decided

Examples:
  failwell check-python shop.py
  failwell check-python shop.py::total --timeout 60
  failwell check-python shop.py::Cart.add --json | jq .[0].status")]
pub(crate) struct CheckPython {
    /// The file, optionally with `::` and a function, or a method as Class.method
    #[arg(value_name = "FILE[::FUNCTION]")]
    pub(crate) target: String,
    /// Seconds for each function
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=300))]
    pub(crate) timeout: u32,
    #[command(flatten)]
    pub(crate) engine: EngineOptions,
    /// Print the results of the tool as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Limits for every request.
#[derive(Debug, Args)]
pub(crate) struct Bounds {
    /// Time limit for one request, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) request_timeout: u64,
    /// Average requests per second that one caller may send [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) rate: Option<u32>,
    /// Time for running requests after Ctrl-C or SIGTERM, in seconds; then they are ended
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    pub(crate) drain: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { request_timeout: 300, rate: None, drain: 10 }
    }
}

/// Create API keys for callers
///
/// A caller sends its key as `Authorization: Bearer KEY` or `X-API-Key: KEY`. The configuration contains only its hash.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell key new --name ci
  failwell key new --name ann --role writer --role reviewer")]
pub(crate) struct Key {
    #[command(subcommand)]
    pub(crate) what: MakeKey,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MakeKey {
    New(NewKey),
}

/// Create a random key and print it once, with the lines for the configuration
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell key new
  failwell key new --name ci --role writer")]
pub(crate) struct NewKey {
    /// Name of the key; its caller is `key:NAME`
    #[arg(long, value_name = "NAME", default_value = "me", value_parser = key_name)]
    pub(crate) name: String,
    /// Role of its caller; may be repeated
    #[arg(long = "role", value_name = "ROLE", value_parser = role_name)]
    pub(crate) roles: Vec<String>,
}

/// Accepts a host with an optional port, as a `Host` header has it: no scheme, no path, no user.
fn host_name(text: &str) -> Result<String, String> {
    let authority: Option<http::uri::Authority> = text.parse().ok();
    match authority.is_some_and(|it| !it.host().is_empty() && !text.contains('@')) {
        true => Ok(text.to_owned()),
        false => Err("a host is written as tools.example or tools.example:8443".to_owned()),
    }
}

/// Accepts an origin as browsers send it in `Origin`, or `null`.
fn web_origin(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match rest.is_some_and(|rest| host_name(rest).is_ok()) || text == "null" {
        true => Ok(text.to_owned()),
        false => Err("an origin is written as https://app.example, without a path".to_owned()),
    }
}

fn key_name(text: &str) -> Result<String, String> {
    match config::is_key_name(text) {
        true if text == config::ENVIRONMENT => Err("this is the name of FAILWELL_KEY".to_owned()),
        true => Ok(text.to_owned()),
        false => Err(config::KEY_NAMES.to_owned()),
    }
}

fn role_name(text: &str) -> Result<String, String> {
    if config::is_role(text) { Ok(text.to_owned()) } else { Err(config::ROLES.to_owned()) }
}

/// Test how any MCP server handles failures
///
/// Without --tool, only tools that look harmless are called with valid arguments.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("target").required(true).args(["url", "command"]))]
#[command(override_usage = "failwell probe [OPTIONS] <URL>\n       failwell probe [OPTIONS] -- <COMMAND>...")]
#[command(after_help = "\
Exit codes:
  0  examined, and the score is not below --min
  1  the score is below --min, or the server could not be reached
  2  wrong usage

Examples:
  failwell probe http://127.0.0.1:8484/mcp
  failwell probe --min 90 --header 'Authorization: Bearer KEY' http://127.0.0.1:8484/mcp
  failwell probe --quiet https://tools.example/mcp
  failwell probe --json -- npx -y @modelcontextprotocol/server-memory
  failwell probe --tool echo -- python3 server.py")]
pub(crate) struct Probe {
    /// Address of a streamable HTTP server
    pub(crate) url: Option<String>,
    /// Command of a server to start and test over stdio
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Print the full report as JSON, with the bytes sent and received
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with 1 if the score is below this
    #[arg(long, value_name = "SCORE", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) min: Option<u32>,
    /// Call this tool instead of one that looks harmless
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Run only checks whose id starts with this; separate several with commas
    #[arg(long, value_name = "PREFIX")]
    pub(crate) only: Option<String>,
    /// Send this header with every request; may be repeated
    #[arg(long, value_name = "NAME:VALUE", value_parser = header, conflicts_with = "command")]
    pub(crate) header: Vec<(String, String)>,
    /// Time limit for one answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=300))]
    pub(crate) timeout: u64,
    /// Additional time for the first answer of a command, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = clap::value_parser!(u64).range(0..=300))]
    pub(crate) start_timeout: u64,
    /// PEM file with the certificate authorities to trust for https [default: those of the system]
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub(crate) ca: Option<PathBuf>,
    /// Print only the causes of findings and the score
    #[arg(long, conflicts_with_all = ["json", "verbose"])]
    pub(crate) quiet: bool,
    /// Print all the bytes sent and received for each finding
    #[arg(long, conflicts_with = "json")]
    pub(crate) verbose: bool,
}

/// Check this machine for everything that the servers need
///
/// Reports for each part whether it is present, what a missing one costs, and the command that fixes it. The exit code
/// is 0 unless the gateway itself lacks something.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell doctor
  failwell doctor --json | jq '.checks[] | select(.status != \"ok\")'")]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long, conflicts_with = "brief")]
    pub(crate) json: bool,
    /// Print only one line per missing part
    #[arg(long)]
    pub(crate) brief: bool,
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell completions bash > ~/.local/share/bash-completion/completions/failwell
  failwell completions zsh  > ~/.zfunc/_failwell
  failwell completions fish > ~/.config/fish/completions/failwell.fish")]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Print the manual page, or write one page per command
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell man | man -l -
  failwell man --dir ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write one page per command into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Parses `Name: value`. The name must be an HTTP token (RFC 9110, 5.6.2).
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header is written NAME:VALUE")?;
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_token) {
        return Err("a header name has only letters, digits and dashes".to_owned());
    }
    if value.chars().any(char::is_control) {
        return Err("a header value has no control characters".to_owned());
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Cli, header};
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn headers_cannot_smuggle_lines() {
        assert_eq!(header("X-Key:  a:b "), Ok(("X-Key".to_owned(), "a:b".to_owned())));
        for bad in ["nothing", ": x", "a b: c", "X: a\r\nY: b"] {
            assert!(header(bad).is_err(), "{bad:?}");
        }
    }
}
