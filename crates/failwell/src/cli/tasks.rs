//! Tasks at Remember The Milk: serving them, logging in and out.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Door;

/// Serve your tasks at Remember The Milk
///
/// The API key and its shared secret come from [tasks] in the configuration, or from the environment variables
/// RTM_API_KEY and RTM_SHARED_SECRET. Log in once with `failwell login tasks`, or let the tool rtm_authenticate do it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  RTM_API_KEY=… RTM_SHARED_SECRET=… failwell serve tasks
  claude mcp add tasks -- failwell serve tasks
  failwell serve tasks --listen 127.0.0.1:8484")]
pub(crate) struct Tasks {
    #[command(flatten)]
    pub(crate) reach: Reach,
    #[command(flatten)]
    pub(crate) door: Door,
}

/// How Remember The Milk is reached.
#[derive(Debug, Args)]
pub(crate) struct Reach {
    /// Configuration file; without it failwell.toml in this folder, if it is there
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where the service is, when something stands in for it, such as `failwell emulate rtm`
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

/// Log in to a service a tool server works for
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell login tasks
  failwell login tasks --permission read")]
pub(crate) struct LogIn {
    #[command(subcommand)]
    pub(crate) to: LoginTo,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LoginTo {
    Tasks(LoginOf),
}

/// Let this machine use your tasks at Remember The Milk
///
/// Prints an address, and waits until you allowed the access there. The token goes into the keyring, or into a file that
/// only you may read.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell login tasks
  failwell login tasks --permission read         look, but change nothing")]
pub(crate) struct LoginOf {
    /// How much to ask for; what the configuration says, or delete, unless given
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) permission: Option<PermissionIs>,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PermissionIs {
    /// Look
    Read,
    /// Look, add and change
    Write,
    /// All of it; undo and sub-tasks need this
    Delete,
}

/// Forget a login
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell logout tasks")]
pub(crate) struct LogOut {
    #[command(subcommand)]
    pub(crate) of: LogoutOf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogoutOf {
    Tasks(ForgetLogin),
}

/// Forget the login to Remember The Milk on this machine
///
/// The permission itself is taken back on the website, under Settings, Apps.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell logout tasks")]
pub(crate) struct ForgetLogin {
    #[command(flatten)]
    pub(crate) reach: Reach,
}
