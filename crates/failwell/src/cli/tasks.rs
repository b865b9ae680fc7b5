//! The tasks server: serving, logging in and out.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ServeOptions;

/// Serve your tasks in Remember The Milk
///
/// The API key and its shared secret come from [tasks] in the configuration, or from the environment variables
/// RTM_API_KEY and RTM_SHARED_SECRET. Log in once with `failwell login tasks`, or with the tool rtm_authenticate.
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
    pub(crate) serving: ServeOptions,
}

/// How Remember The Milk is reached.
#[derive(Debug, Args)]
pub(crate) struct Reach {
    /// Configuration file [default: failwell.toml in this folder, else in the user's configuration folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Address of an emulated service, such as that of `failwell emulate rtm`
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

/// Log in to the service behind a tool server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell login tasks
  failwell login tasks --permission read")]
pub(crate) struct Login {
    #[command(subcommand)]
    pub(crate) to: LoginTarget,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LoginTarget {
    Tasks(TasksLogin),
}

/// Log in to Remember The Milk
///
/// Prints an address and waits until you allow the access there. The token is stored in the keyring, or in a file that only
/// you can read.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell login tasks
  failwell login tasks --permission read         read only")]
pub(crate) struct TasksLogin {
    /// Permission to ask for [default: the configuration's, else delete]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) permission: Option<PermissionChoice>,
    #[command(flatten)]
    pub(crate) reach: Reach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PermissionChoice {
    /// Read
    Read,
    /// Read, add and change
    Write,
    /// Everything; undo and sub-tasks need this
    Delete,
}

/// Log out of a service
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell logout tasks")]
pub(crate) struct Logout {
    #[command(subcommand)]
    pub(crate) of: LogoutTarget,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogoutTarget {
    Tasks(TasksLogout),
}

/// Log out of Remember The Milk on this machine
///
/// To revoke the permission itself, use the website: Settings, Apps.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell logout tasks")]
pub(crate) struct TasksLogout {
    #[command(flatten)]
    pub(crate) reach: Reach,
}
