//! Replication of the ledger to PostgreSQL.

use std::path::Path;

use failwell_cluster::postgres::{LedgerReplicator, PostgresAddress, PostgresSettings, ReplicatorParts};
use failwell_fault::{Fault, reason};
use failwell_journal::Journal;

use crate::config::PostgresConfig;

/// Starts to replicate the ledger of this folder.
pub(super) fn start(
    config: &PostgresConfig,
    folder: &Path,
    journal: &Journal,
) -> Result<(LedgerReplicator, ReplicatorParts), Fault> {
    let address = PostgresAddress::parse(&config.url, config.trust.clone())
        .map_err(|(problem, _)| Fault::new(&reason::CONFIG_INVALID).note("postgres", problem))?;
    let settings =
        PostgresSettings { address, folder: folder.to_owned(), batch: config.batch, timeout: config.timeout };
    LedgerReplicator::start(settings, journal)
}
