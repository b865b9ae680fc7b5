//! What can be typed. Help, completions and manual pages all come from these definitions.

mod consent;
mod device;
mod emulate;
mod serving;
mod tasks;

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand};

use crate::config;
pub(crate) use device::{Device, DriverIs};
pub(crate) use emulate::{Emulate, EmulateRtm, EmulateWda, Emulated};
pub(crate) use serving::{Door, EngineOptions, FailuresAs, Pytest, SandboxIs, Serve, Server, Symbolic};
pub(crate) use tasks::{LogIn, LogOut, LoginOf, LoginTo, LogoutOf, PermissionIs, Reach, Tasks};

pub(crate) use consent::{Approve, Pin, PinDo, PinForget, WhichPins};

/// A security gateway and tool servers for the Model Context Protocol, with one way of failing.
///
/// Whatever goes wrong, the caller gets exactly one answer that is right for its protocol, safe to show, and says
/// what to do next; the operator gets the whole story under the same reference.
#[derive(Debug, Parser)]
#[command(name = "failwell", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  failwell up                                    serve on http://127.0.0.1:8484
  failwell up --demo                             the same, with tasks to play with
  failwell stdio                                 serve a desktop client
  failwell check                                 what is wrong with failwell.toml
  failwell check-python shop.py::total           prove a Python function's contract, or break it
  failwell key new --name ci                     a key for a caller
  failwell approve                               calls that wait for a person's yes
  failwell pin diff                              tools whose definitions changed
  failwell login tasks                           let this machine use your tasks
  failwell explain -32004                        what a code means, and where
  failwell explain rpc/not_json                  what a reason means, and what to do
  failwell explain 06ff2k8s1xq3m                 the whole story of one failure, by its reference
  failwell audit tail                            what was asked of late, and what it came to
  failwell probe http://127.0.0.1:8484/mcp       how well a server fails
  failwell emulate rtm                           a task service without an account
  failwell emulate wda                           an iPhone without a Mac
  failwell doctor                                what is missing on this machine";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Up(Up),
    Stdio(Stdio),
    Check(Check),
    CheckPython(CheckPython),
    Serve(Serve),
    Login(LogIn),
    Logout(LogOut),
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
/// Only this machine can connect unless told otherwise. With a key in the environment variable FAILWELL_KEY, or
/// keys or tokens in the configuration, every caller must present one; other addresses than loopback are only listened on then. Settings come from
/// failwell.toml in this folder if it is there; what is typed here goes before what is written there. Saving the file, or
/// sending SIGHUP, applies it while the program runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell up
  failwell up --demo                             tasks to play with, without an account
  failwell up --listen 127.0.0.1:0               any free port
  FAILWELL_KEY=… failwell up --listen 0.0.0.0:8484 --allow-host tools.example")]
pub(crate) struct Up {
    /// Configuration file; without it failwell.toml in this folder, if it is there
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Address and port to listen on; 127.0.0.1:8484 unless the configuration says otherwise
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Serve tasks too, from an emulated account that is gone afterwards
    #[arg(long)]
    pub(crate) demo: bool,
    /// Another host name callers may use for this server; may be repeated
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    pub(crate) allow_host: Vec<String>,
    /// The origin of a web page that may call, such as https://app.example; may be repeated
    #[arg(long, value_name = "ORIGIN", value_parser = web_origin)]
    pub(crate) allow_origin: Vec<String>,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// Serve one client over standard input and output, for desktop clients
///
/// A client that starts this sees only what is answered. So when the configuration is wrong, the first request is
/// answered with that, and then the program ends. Saving the file, or sending SIGHUP, applies it while the program runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell stdio
  claude mcp add failwell -- failwell stdio
  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' | failwell stdio")]
pub(crate) struct Stdio {
    /// Configuration file; without it failwell.toml in this folder, if it is there
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// Check a configuration file: every mistake at once, with its line and what to do
///
/// Variables and files the configuration refers to are looked at too. Nothing is started, and no secret is printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  the file is fine
  1  something is wrong with it
  2  wrong usage

Examples:
  failwell check
  failwell check /etc/failwell.toml
  failwell check --json | jq -r '.problems[] | \"\\(.line): \\(.message)\"'
  failwell check --schema > failwell.schema.json")]
pub(crate) struct Check {
    /// The file; failwell.toml in this folder by default
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the JSON Schema of the file instead
    #[arg(long, conflicts_with_all = ["config", "json"])]
    pub(crate) schema: bool,
}

/// Check Python functions for every input at once: a proof, or a call that breaks the contract
///
/// Without FUNCTION every function of the file is checked. What is found was reproduced in CPython and is printed with a
/// test that fails as long as it is there. Contracts are docstring pre:/post:/raises: lines, asserts, icontract and deal
/// decorators; without any, that no exception leaves the function.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  every function is proven
  1  a counterexample was found, or the file cannot be checked
  2  wrong usage
  3  nothing was found, but not everything could be decided

Examples:
  failwell check-python shop.py
  failwell check-python shop.py::total --timeout 60
  failwell check-python shop.py::Cart.add --json | jq .[0].status")]
pub(crate) struct CheckPython {
    /// The file, and after `::` one function of it, or a method as Class.method
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

/// What no request may go past.
#[derive(Debug, Args)]
pub(crate) struct Bounds {
    /// How long one request may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) request_timeout: u64,
    /// How many requests a second one caller may send on average; no limit by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) rate: Option<u32>,
}

/// Make keys for callers
///
/// A key is a caller's proof of who it is, sent as `Authorization: Bearer KEY` or `X-API-Key: KEY`. The configuration
/// holds its hash alone.
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

/// Make a random key: it is printed once, with the lines of the configuration that let it in
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell key new
  failwell key new --name ci --role writer")]
pub(crate) struct NewKey {
    /// Its name: the caller is then `key:NAME`
    #[arg(long, value_name = "NAME", default_value = "me", value_parser = key_name)]
    pub(crate) name: String,
    /// A role its holder is in; may be repeated
    #[arg(long = "role", value_name = "ROLE", value_parser = role_name)]
    pub(crate) roles: Vec<String>,
}

/// A trace as the ledger writes it.
fn trace_id(text: &str) -> Result<String, String> {
    let id = failwell_audit::TraceId::parse(text).map(|id| id.to_string());
    id.ok_or_else(|| "a trace has 32 hexadecimal digits, not all of them 0".to_owned())
}

/// A host as requests name it: no scheme, no path.
fn host_name(text: &str) -> Result<String, String> {
    let authority: Option<http::uri::Authority> = text.parse().ok();
    match authority.is_some_and(|it| !it.host().is_empty() && !text.contains('@')) {
        true => Ok(text.to_owned()),
        false => Err("a host is written as tools.example or tools.example:8443".to_owned()),
    }
}

/// An origin as browsers write it.
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

/// Say what a failure means and what to do about it
///
/// Takes a reason in any case, any number a caller may have seen (a JSON-RPC code or an HTTP status), or the
/// reference of one failure: then the ledger tells its whole story. Without one, lists every reason.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell explain mcp/UNKNOWN_TOOL
  failwell explain not_json                      the room may be left out when the name is unique
  failwell explain rpc                           every reason of one room
  failwell explain -32602                        every reason with this code, and on which face
  failwell explain 429                           every reason with this HTTP status
  failwell explain 06ff2k8s1xq3m                 what happened under this reference
  failwell explain --json | jq -r '.[].reason'")]
pub(crate) struct Explain {
    /// A reason, a room, a code, an HTTP status or a reference
    #[arg(value_name = "REASON|CODE|REF", allow_hyphen_values = true)]
    pub(crate) subject: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: BookPlace,
}

/// Look into the ledger: what was asked, what it came to, and whether the record is whole
///
/// There is one record for each exchange, failed or not. They can be read while a server writes them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell audit tail --follow
  failwell audit query --outcome failed --since 1h
  failwell audit export --format csv --output june.csv --since 2026-06-01 --until 2026-07-01
  failwell audit verify")]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) look: Look,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Look {
    Tail(Tail),
    Query(QueryLedger),
    Export(Export),
    Verify(VerifyLedger),
}

/// Show the latest records
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell audit tail
  failwell audit tail --lines 100 --outcome failed
  failwell audit tail --follow --json | jq -r .target")]
pub(crate) struct Tail {
    /// How many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(crate) lines: u32,
    /// Go on showing what is added, until Ctrl-C
    #[arg(long, short = 'f')]
    pub(crate) follow: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    #[command(flatten)]
    pub(crate) place: BookPlace,
}

/// Find records
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell audit query --ref 06ff2k8s1xq3m --json
  failwell audit query --reason gateway/UPSTREAM_TIMEOUT --since 2h
  failwell audit query --trace 4bf92f3577b34da6a3ce929d0e0e4736
  failwell audit query --postgres --outcome failed --since 1h      all nodes of the configuration's database
  failwell audit query --tool files__read --caller key:environment --limit 10")]
pub(crate) struct QueryLedger {
    /// At most so many, the latest
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) limit: u32,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    #[command(flatten)]
    pub(crate) place: BookPlace,
}

/// Write records out, all of them or those that fit
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell audit export > all.jsonl
  failwell audit export --format csv --output failures.csv --outcome failed")]
pub(crate) struct Export {
    /// How they are written
    #[arg(long, value_name = "AS", value_enum, default_value_t = ExportAs::Jsonl)]
    pub(crate) format: ExportAs,
    /// The file to write; standard output without it
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    #[command(flatten)]
    pub(crate) place: BookPlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportAs {
    /// One JSON object a line, with number and hash
    Jsonl,
    /// For spreadsheets; no cell is a formula
    Csv,
    /// One readable line each
    Text,
}

/// Check that no record was changed, removed, added or moved
///
/// Each record holds a hash over itself and the one before it. On success the end of the chain is printed: note it
/// somewhere else, and give it to --head later, to find out whether the end was cut off or all of it was rewritten.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  everything is as it was written
  1  something is not, or the ledger cannot be read
  2  wrong usage

Examples:
  failwell audit verify
  failwell audit verify --json | jq -r .head > ledger.head
  failwell audit verify --head \"$(cat ledger.head)\"
  failwell audit verify --postgres 'postgres://reader:${PASSWORD}@127.0.0.1/failwell'")]
pub(crate) struct VerifyLedger {
    /// An end that was noted earlier, as NUMBER:HASH
    #[arg(long, value_name = "HEAD")]
    pub(crate) head: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: BookPlace,
}

/// Which records.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// Only this reference
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// Only this reason, or every reason of a room
    #[arg(long, value_name = "REASON")]
    pub(crate) reason: Option<String>,
    /// Only this caller
    #[arg(long, value_name = "NAME")]
    pub(crate) caller: Option<String>,
    /// Only this tool, resource or prompt
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only this trace, by its 32 hexadecimal digits
    #[arg(long, value_name = "TRACE", value_parser = trace_id)]
    pub(crate) trace: Option<String>,
    /// Only what ended so
    #[arg(long, value_name = "OUTCOME", value_parser = ["ok", "failed", "tool_failed", "fault", "event"])]
    pub(crate) outcome: Option<String>,
    /// Not before: 30s, 10m, 2h, 3d ago, or 2026-06-30, or 2026-06-30T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = crate::times::parse)]
    pub(crate) since: Option<i64>,
    /// Not after
    #[arg(long, value_name = "TIME", value_parser = crate::times::parse)]
    pub(crate) until: Option<i64>,
}

/// Which ledger, or which copies of several.
#[derive(Debug, Args)]
pub(crate) struct BookPlace {
    #[command(flatten)]
    pub(crate) ledger: LedgerPlace,
    /// Look into PostgreSQL instead, where several nodes copy their ledgers to: at this address, or at the
    /// configuration's. `${VAR}` and `${file:path}` are filled in
    #[arg(long, value_name = "URL", num_args = 0..=1, conflicts_with = "data_dir")]
    pub(crate) postgres: Option<Option<String>>,
    /// Only records of this node; with --postgres
    #[arg(long, value_name = "NODE", requires = "postgres")]
    pub(crate) node: Option<String>,
}

/// Which ledger.
#[derive(Debug, Clone, Args)]
pub(crate) struct LedgerPlace {
    /// The folder the ledger is in; without it the configuration's data_dir, or the user's state folder
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Configuration file to take data_dir from; without it failwell.toml in this folder, if it is there
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Examine any MCP server: drive it through every failure and say what held
///
/// Nothing harmful is called: without --tool, a tool is called with valid arguments only when it looks harmless.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("target").required(true).args(["url", "command"]))]
#[command(override_usage = "failwell probe [OPTIONS] <URL>\n       failwell probe [OPTIONS] -- <COMMAND>...")]
#[command(after_help = "\
Exit codes:
  0  examined, and not below --min
  1  below --min, or the server could not be reached
  2  wrong usage

Examples:
  failwell probe http://127.0.0.1:8484/mcp
  failwell probe --min 90 --header 'Authorization: Bearer KEY' http://127.0.0.1:8484/mcp
  failwell probe --json -- npx -y @modelcontextprotocol/server-memory
  failwell probe --tool echo -- python3 server.py")]
pub(crate) struct Probe {
    /// Address of a streamable HTTP server
    pub(crate) url: Option<String>,
    /// Command line of a server to start and speak to over stdio
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Print the whole report as JSON, with the bytes sent and received
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail with exit code 1 when the score is below this
    #[arg(long, value_name = "SCORE", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) min: Option<u32>,
    /// Call this tool rather than one that looks harmless
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Make only checks whose id begins so; several with commas
    #[arg(long, value_name = "PREFIX")]
    pub(crate) only: Option<String>,
    /// Send this header with every request; may be repeated
    #[arg(long, value_name = "NAME:VALUE", value_parser = header, conflicts_with = "command")]
    pub(crate) header: Vec<(String, String)>,
    /// Wait this long for any one answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=300))]
    pub(crate) timeout: u64,
}

/// Check this machine for what the servers need
///
/// Says of each part whether it is there, what a missing one costs, and the command that fixes it. The exit code is
/// 0 unless something is missing that the gateway itself cannot do without.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell doctor
  failwell doctor --json | jq '.checks[] | select(.status != \"ok\")'")]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long, conflicts_with = "brief")]
    pub(crate) json: bool,
    /// Print one line for each thing that is missing, and nothing else
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
    /// Write a page per command into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Reads `Name: value`.
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
