//! The copies of the ledger in PostgreSQL.

use std::path::Path;

use failwell_audit::Journal;
use failwell_fault::{Fault, reason};
use failwell_postgres::{Address, Archive, Ends, PostgresSettings};

use crate::config::PostgresConfig;

/// Starts to copy what is in the ledger of this folder.
pub(super) fn start(
    config: &PostgresConfig,
    folder: &Path,
    journal: &Journal,
) -> Result<(Archive, Ends), Fault> {
    let address = Address::read(&config.url, config.trust.clone())
        .map_err(|(problem, _)| Fault::new(&reason::CONFIG_INVALID).note("postgres", problem))?;
    let settings =
        PostgresSettings { address, folder: folder.to_owned(), batch: config.batch, timeout: config.timeout };
    Archive::start(settings, journal)
}
