//! `[audit] postgres`: an address, or a table with more settings.

use std::time::Duration;

use failwell_fault::Secret;
use failwell_gateway::Trust;

use crate::config::keys::{POSTGRES_BATCH, POSTGRES_TIMEOUT};
use crate::config::parse::reader::{Reader, Section, SourceValue};
use crate::config::servers::upstream::authorities;
use crate::parts::POSTGRES;

/// A database for copies of the ledger.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PostgresConfig {
    /// The address, including the password.
    pub(crate) url: Secret<String>,
    /// The same address without the password.
    pub(crate) shown: String,
    pub(crate) trust: Trust,
    pub(crate) critical: bool,
    pub(crate) timeout: Duration,
    pub(crate) batch: usize,
}

pub(in crate::config) fn read(
    reader: &mut Reader<'_>,
    audit: &Section<'_>,
    critical: bool,
) -> Option<PostgresConfig> {
    if !Reader::is_table(audit, "postgres") {
        let found = reader.text(audit, "postgres")?;
        return address(reader, &found, "postgres", Trust::default());
    }
    let section = reader.table(audit, "postgres")?;
    if !section.has("url") {
        let help = "write postgres = { url = \"postgres://…\" }";
        reader.missing(&section, "url", "`postgres` has no `url`", help);
    }
    let trust = authorities(reader, &section).map(|ca| ca.trust).unwrap_or_default();
    let waits = reader.flag(&section, "critical").unwrap_or(false);
    if waits && !critical {
        let help = "add critical = true to [audit], or remove it here";
        let message = "`critical` has no effect unless [audit] is critical too";
        reader.wrong(&section.key_span("critical"), &section.path("critical"), message, help);
    }
    let timeout = Duration::from_secs(reader.number(&section, &POSTGRES_TIMEOUT));
    let batch = usize::try_from(reader.number(&section, &POSTGRES_BATCH)).unwrap_or(usize::MAX);
    let found = reader.text(&section, "url")?;
    let usual = address(reader, &found, "url", trust)?;
    Some(PostgresConfig { critical: waits, timeout, batch, ..usual })
}

fn address(
    reader: &mut Reader<'_>,
    found: &SourceValue<String>,
    name: &str,
    trust: Trust,
) -> Option<PostgresConfig> {
    let url = Secret::new(reader.filled(found)?);
    if !reader.has_part(POSTGRES, &found.span, &found.key) {
        return None;
    }
    match judge(&url, &trust) {
        Ok(shown) => Some(PostgresConfig {
            url,
            shown,
            trust,
            critical: false,
            timeout: Duration::from_secs(POSTGRES_TIMEOUT.default),
            batch: usize::try_from(POSTGRES_BATCH.default).unwrap_or(usize::MAX),
        }),
        Err((message, help)) => {
            reader.wrong(&found.span, &found.key, format!("`{name}` {message}"), help);
            None
        }
    }
}

/// Returns the address in printable form, or the problem with its help.
#[cfg(feature = "postgres")]
pub(crate) fn judge(url: &Secret<String>, trust: &Trust) -> Result<String, (&'static str, &'static str)> {
    failwell_cluster::postgres::PostgresAddress::parse(url, trust.clone()).map(|address| address.to_string())
}

/// A build without PostgreSQL has no client that could read the address.
#[cfg(not(feature = "postgres"))]
pub(crate) fn judge(_url: &Secret<String>, _trust: &Trust) -> Result<String, (&'static str, &'static str)> {
    Err(("cannot be read", "add PostgreSQL to this build"))
}
