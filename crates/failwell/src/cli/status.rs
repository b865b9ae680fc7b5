use std::path::PathBuf;

use clap::Args;

/// Show the servers of the running program: state, tools, starts, last failure
///
/// It asks the program that `failwell up` started with the same configuration. If that needs a key, set FAILWELL_KEY to a
/// key with the role developer or admin.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  no server is down
  1  a server is down, or the program does not answer
  2  wrong usage

Examples:
  failwell status
  failwell status --config /etc/failwell.toml
  failwell status --json | jq -r '.servers[] | select(.state == \"down\") | .name'")]
pub(crate) struct StatusCommand {
    /// Configuration file [default: failwell.toml in this folder, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Address of the program [default: the configuration's, else 127.0.0.1:8484]
    #[arg(long, value_name = "ADDR")]
    pub(crate) address: Option<std::net::SocketAddr>,
    /// Print the answer of GET /v1/servers
    #[arg(long)]
    pub(crate) json: bool,
}
