//! Listing and calling tools from the terminal.

use std::path::PathBuf;

use clap::Args;

/// List the tools of a server
///
/// Without URL and COMMAND, the server is the `failwell up` that runs on this machine: its address is `listen` of the
/// configuration, its key is read from FAILWELL_KEY.
#[derive(Debug, Args)]
#[command(override_usage = "failwell tools [OPTIONS] [URL]\n       failwell tools [OPTIONS] -- <COMMAND>...")]
#[command(after_help = "\
Exit codes:
  0  the tools are listed
  1  the server cannot be started or reached
  2  wrong usage

Examples:
  failwell tools
  failwell tools http://127.0.0.1:8484/mcp/memory
  failwell tools -- npx -y @modelcontextprotocol/server-memory
  failwell tools --json | jq -r '.[].name'")]
pub(crate) struct Tools {
    /// Address of a server over HTTP; `/mcp` is added to an address without a path
    pub(crate) url: Option<String>,
    /// Print the definitions as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// Call a tool and print its result
///
/// `key=value` is read as the tool's schema says: `n=3` is a number where the tool wants one. `key:=JSON` is JSON. Without
/// URL and COMMAND, the tool belongs to the `failwell up` that runs on this machine. Progress is shown on standard error.
#[derive(Debug, Args)]
#[command(
    override_usage = "failwell call [OPTIONS] <NAME> [KEY=VALUE]... [URL]\n       failwell call [OPTIONS] <NAME> [KEY=VALUE]... -- <COMMAND>..."
)]
#[command(after_help = "\
Exit codes:
  0  the tool succeeded
  1  the tool failed, or its server cannot be started or reached
  2  wrong usage, an unknown tool, or arguments that do not fit its schema

Examples:
  failwell call lobby__echo text=hello
  failwell call echo text=hello http://127.0.0.1:8484/mcp/lobby
  failwell call read_graph -- npx -y @modelcontextprotocol/server-memory
  failwell call create_entities 'entities:=[{\"name\":\"Ann\",\"entityType\":\"person\",\"observations\":[]}]'
  failwell call search --json-arguments '{\"query\":\"shoes\"}' --json | jq .structuredContent")]
pub(crate) struct Call {
    /// The tool
    pub(crate) name: String,
    /// Arguments as KEY=VALUE or KEY:=JSON, and the address of a server
    #[arg(value_name = "KEY=VALUE|URL")]
    pub(crate) words: Vec<String>,
    /// All arguments as a JSON object; KEY=VALUE is added to it
    #[arg(long, value_name = "JSON")]
    pub(crate) json_arguments: Option<String>,
    /// Print the whole result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write images, audio and other files of the result into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// The server to speak to.
#[derive(Debug, Args)]
pub(crate) struct ServerOptions {
    /// Send this header with every request; may be repeated
    #[arg(long, value_name = "NAME:VALUE", value_parser = super::header, conflicts_with = "command")]
    pub(crate) header: Vec<(String, String)>,
    /// Time limit for the answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub(crate) timeout: u64,
    /// Configuration file for `listen` [default: failwell.toml in this folder, else in the user's configuration folder]
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub(crate) config: Option<PathBuf>,
    /// Command of a server to start and speak to over stdio
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
