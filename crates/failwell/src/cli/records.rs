//! The ledger, and the failures in it.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Explain a failure and what to do about it
///
/// Accepts a reason in any case, a JSON-RPC code, an HTTP status, the words of a message, or the reference of one failure,
/// whose full story is in the ledger. Without an argument, lists every reason.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell explain mcp/UNKNOWN_TOOL
  failwell explain not_json                      the area may be left out if the name is unique
  failwell explain rpc                           every reason of one area
  failwell explain -32602                        every reason with this code, and in which dialect
  failwell explain 429                           every reason with this HTTP status
  failwell explain 'Tool not found'              the reason of a message
  failwell explain 06ff2k8s1xq3m                 explain the failure with this reference
  failwell explain --json | jq -r '.[].reason'")]
pub(crate) struct Explain {
    /// A reason, an area, a code, an HTTP status, a message or a reference
    #[arg(value_name = "REASON|CODE|TEXT|REF", allow_hyphen_values = true)]
    pub(crate) subject: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: RecordLocation,
}

/// Search, export and verify the ledger
///
/// The ledger has one record of every exchange. It can be read while a server writes it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell audit tail --follow
  failwell audit query --outcome failed --since 1h
  failwell audit export --format csv --output june.csv --since 2026-06-01 --until 2026-07-01
  failwell audit verify")]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) look: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
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
    /// Number of records
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(crate) lines: u32,
    /// Show new records until Ctrl-C
    #[arg(long, short = 'f')]
    pub(crate) follow: bool,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) wanted: RecordFilter,
    #[command(flatten)]
    pub(crate) place: RecordLocation,
}

/// Find records
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell audit query --ref 06ff2k8s1xq3m --json
  failwell audit query --reason gateway/UPSTREAM_TIMEOUT --since 2h
  failwell audit query --trace 4bf92f3577b34da6a3ce929d0e0e4736
  failwell audit query --postgres --outcome failed --since 1h      all nodes
  failwell audit query --tool files__read --caller key:environment --limit 10")]
pub(crate) struct QueryLedger {
    /// Number of records at most, the latest
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) limit: u32,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) wanted: RecordFilter,
    #[command(flatten)]
    pub(crate) place: RecordLocation,
}

/// Export records
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell audit export > all.jsonl
  failwell audit export --format csv --output failures.csv --outcome failed")]
pub(crate) struct Export {
    /// Output format
    #[arg(long, value_name = "AS", value_enum, default_value_t = ExportFormat::Jsonl)]
    pub(crate) format: ExportFormat,
    /// Output file [default: stdout]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) wanted: RecordFilter,
    #[command(flatten)]
    pub(crate) place: RecordLocation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object per line, with number and hash
    Jsonl,
    /// For spreadsheets; no cell is a formula
    Csv,
    /// One readable line per record
    Text,
}

/// Verify that no record was changed, removed, added or moved
///
/// Each record has a hash over itself and the previous one. On success the end of the chain is printed. Store it
/// elsewhere and pass it to --head later, to detect a truncated or completely rewritten chain.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  the ledger is intact
  1  the ledger was changed, or cannot be read
  2  wrong usage

Examples:
  failwell audit verify
  failwell audit verify --json | jq -r .head > ledger.head
  failwell audit verify --head \"$(cat ledger.head)\"
  failwell audit verify --postgres 'postgres://reader:${PASSWORD}@127.0.0.1/failwell'")]
pub(crate) struct VerifyLedger {
    /// A head that was stored earlier, as NUMBER:HASH
    #[arg(long, value_name = "HEAD")]
    pub(crate) head: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: RecordLocation,
}

/// Which records.
#[derive(Debug, Args)]
pub(crate) struct RecordFilter {
    /// Only this reference
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// Only this reason, or every reason of an area
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
    /// Only this outcome; failed is everything except ok
    #[arg(long, value_name = "OUTCOME", value_parser = ["ok", "failed", "tool_failed", "fault", "event"])]
    pub(crate) outcome: Option<String>,
    /// Only records since this time: an age (30s, 10m, 2h, 3d), 2026-06-30, or 2026-06-30T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = crate::times::parse)]
    pub(crate) since: Option<i64>,
    /// Only records until this time
    #[arg(long, value_name = "TIME", value_parser = crate::times::parse)]
    pub(crate) until: Option<i64>,
}

/// Which ledger, or which copies of several.
#[derive(Debug, Args)]
pub(crate) struct RecordLocation {
    #[command(flatten)]
    pub(crate) ledger: LedgerLocation,
    /// Search the copies of several nodes' ledgers in PostgreSQL: at this address, or at the configured one. `${VAR}` and
    /// `${file:path}` are expanded
    #[arg(long, value_name = "URL", num_args = 0..=1, conflicts_with = "data_dir")]
    pub(crate) postgres: Option<Option<String>>,
    /// Only records of this node; with --postgres
    #[arg(long, value_name = "NODE", requires = "postgres")]
    pub(crate) node: Option<String>,
}

/// Which ledger.
#[derive(Debug, Clone, Args)]
pub(crate) struct LedgerLocation {
    /// Folder of the ledger [default: the configuration's data_dir, else the user's state folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Configuration file for data_dir [default: failwell.toml in this folder, else in the user's configuration folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Parses a trace id in the form that the ledger writes.
fn trace_id(text: &str) -> Result<String, String> {
    let id = failwell_rpc::TraceId::parse(text).map(|id| id.to_string());
    id.ok_or_else(|| "a trace has 32 hexadecimal digits, not all of them 0".to_owned())
}
