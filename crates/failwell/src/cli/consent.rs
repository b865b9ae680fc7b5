//! Approvals and pins.

use clap::{Args, Subcommand};

use super::LedgerLocation;

/// Approve or deny calls that need approval
///
/// `approve = […]` in the configuration selects these calls. Without an id, lists the pending ones. With an id, shows the
/// call without its secrets, and asks for the decision if run at a terminal. An approval is valid for this caller, tool
/// and arguments, can be used once, and expires.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell approve                               list pending calls
  failwell approve 06ff2k8s1xq3m                 show one and ask
  failwell approve 06ff2k8s1xq3m --yes
  failwell approve 06ff2k8s1xq3m --no --reason 'not on a Friday'
  failwell approve --all --json | jq -r '.[] | .state'")]
pub(crate) struct Approve {
    /// Id of the approval; without it, pending ones are listed
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Approve without asking
    #[arg(long, requires = "id", conflicts_with = "no")]
    pub(crate) yes: bool,
    /// Deny
    #[arg(long, requires = "id")]
    pub(crate) no: bool,
    /// Reason for the decision; the caller of a denied call can read it
    #[arg(long, value_name = "TEXT", requires = "id")]
    pub(crate) reason: Option<String>,
    /// List all known approvals, not only pending ones
    #[arg(long, conflicts_with = "id")]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: LedgerLocation,
}

/// Review and approve tools whose definitions changed
///
/// The definitions of a server's tools and prompts are pinned when they are first listed. A tool whose definition changes
/// is quarantined: it is in no list and cannot be called until you approve it here.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell pin list
  failwell pin diff                              show the differences
  failwell pin approve files write_file
  failwell pin forget files                      pin the next definitions that `files` sends")]
pub(crate) struct Pin {
    #[command(subcommand)]
    pub(crate) what: PinCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PinCommand {
    List(PinList),
    Diff(PinDiff),
    Approve(PinApprove),
    Forget(PinForget),
}

/// List pinned and quarantined definitions
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell pin list
  failwell pin list files --json | jq -r '.[] | select(.state != \"pinned\") | .name'")]
pub(crate) struct PinList {
    #[command(flatten)]
    pub(crate) which: PinSelection,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show how quarantined definitions differ from the pinned ones
///
/// Hidden characters, such as zero-width or right-to-left ones, are shown as code points.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell pin diff
  failwell pin diff files write_file")]
pub(crate) struct PinDiff {
    #[command(flatten)]
    pub(crate) which: PinSelection,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Approve quarantined definitions: shows them, and asks if run at a terminal
///
/// Exactly the definition that is shown is approved. A running gateway applies the decision within a second.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell pin approve                           everything quarantined
  failwell pin approve files write_file --yes")]
pub(crate) struct PinApprove {
    #[command(flatten)]
    pub(crate) which: PinSelection,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Forget pins; the next definitions of the server are pinned instead
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell pin forget files
  failwell pin forget files write_file")]
pub(crate) struct PinForget {
    /// A server of the configuration
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// Tools or prompts, by the server's own names [default: all]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) place: LedgerLocation,
}

/// Which pins.
#[derive(Debug, Args)]
pub(crate) struct PinSelection {
    /// A server of the configuration [default: all]
    #[arg(value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Tools or prompts, by the server's own names [default: all]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) place: LedgerLocation,
}
