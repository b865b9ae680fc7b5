//! What a person says yes or no to.

use clap::{Args, Subcommand};

use super::LedgerPlace;

/// Answer calls that need a person's yes
///
/// A rule of the configuration (`approve = […]`) says which calls do. Without an id, lists those that wait. With the id
/// its caller was given, shows the whole call, secrets taken out, and asks for the answer when somebody is at the terminal.
/// A yes is for this tool, caller and arguments alone, can be used once, and expires.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell approve                               what waits
  failwell approve 06ff2k8s1xq3m                 show it, and ask
  failwell approve 06ff2k8s1xq3m --yes
  failwell approve 06ff2k8s1xq3m --no --reason 'not on a Friday'
  failwell approve --all --json | jq -r '.[] | .state'")]
pub(crate) struct Approve {
    /// The id of the approval; without one, those that wait are listed
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Say yes, without asking again
    #[arg(long, requires = "id", conflicts_with = "no")]
    pub(crate) yes: bool,
    /// Say no
    #[arg(long, requires = "id")]
    pub(crate) no: bool,
    /// What to say with it: the caller of a call that was refused may read it
    #[arg(long, value_name = "TEXT", requires = "id")]
    pub(crate) reason: Option<String>,
    /// List everything that is remembered, not only what waits
    #[arg(long, conflicts_with = "id")]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
}

/// Look at tools whose definitions changed, and let them through
///
/// What a server says of its tools and prompts is pinned when it is first listed. One that changes is held: it is in no
/// list and cannot be called until it is approved here.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell pin list
  failwell pin diff                              what is held, and how it differs
  failwell pin approve files write_file
  failwell pin forget files                      take what `files` says next for what is known")]
pub(crate) struct Pin {
    #[command(subcommand)]
    pub(crate) what: PinDo,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PinDo {
    List(PinList),
    Diff(PinDiff),
    Approve(PinApprove),
    Forget(PinForget),
}

/// List what is known and what is held
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell pin list
  failwell pin list files --json | jq -r '.[] | select(.state != \"pinned\") | .name'")]
pub(crate) struct PinList {
    #[command(flatten)]
    pub(crate) which: WhichPins,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show how definitions that are held differ from those that are known
///
/// Characters that would hide, such as those of no width or of the other direction, are shown by their numbers.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell pin diff
  failwell pin diff files write_file")]
pub(crate) struct PinDiff {
    #[command(flatten)]
    pub(crate) which: WhichPins,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Let definitions that are held through: shows them, and asks when somebody is at the terminal
///
/// Exactly what is shown is approved, not what it may have become meanwhile. A running gateway goes by it within a second.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell pin approve                           all that is held
  failwell pin approve files write_file --yes")]
pub(crate) struct PinApprove {
    #[command(flatten)]
    pub(crate) which: WhichPins,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Forget pins: what is listed next is taken for what is known
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell pin forget files
  failwell pin forget files write_file")]
pub(crate) struct PinForget {
    /// A server of the configuration
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// Its tools or prompts, by the names the server itself uses; without one, all of them
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
}

/// Which pins.
#[derive(Debug, Args)]
pub(crate) struct WhichPins {
    /// A server of the configuration; without one, all of them
    #[arg(value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Its tools or prompts, by the names the server itself uses; without one, all of them
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) place: LedgerPlace,
}
