//! What a person says yes or no to.

use clap::Args;

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
