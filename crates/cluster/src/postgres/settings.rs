use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use failwell_connect::Trust;
use failwell_fault::Secret;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Settings of the replication.
pub struct PostgresSettings {
    pub address: PostgresAddress,
    pub folder: PathBuf,
    /// Maximum number of records in one batch.
    pub batch: usize,
    /// Maximum time for one attempt.
    pub timeout: Duration,
}

/// The address and credentials of a database. Its display form omits the password.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresAddress {
    pub(crate) config: Config,
    pub(crate) trust: Trust,
}

/// A problem of an address, and advice.
pub type AddressError = (&'static str, &'static str);

impl PostgresAddress {
    /// Reads `postgres://user:password@host/database`. Settings that would send data unencrypted over a
    /// network are refused.
    pub fn parse(url: &Secret<String>, trust: Trust) -> Result<PostgresAddress, AddressError> {
        let example = "write it in full, such as \"postgres://failwell:${PASSWORD}@127.0.0.1:5432/failwell\"";
        let text = url.expose();
        if !["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Err(("is no address of PostgreSQL", example));
        }
        let mut config: Config = text.parse().map_err(|_| ("is no address of PostgreSQL", example))?;
        if config.get_hosts().is_empty() {
            return Err(("names no host", example));
        }
        if config.get_user().is_none() {
            return Err(("names no user", example));
        }
        let exposed = config.get_hosts().iter().any(|host| !is_here(host));
        if exposed && config.get_ssl_mode() != SslMode::Require {
            return Err(("is not encrypted", "add ?sslmode=require: the password and the records go there"));
        }
        config.application_name("failwell");
        Ok(PostgresAddress { config, trust })
    }
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        for (index, host) in self.config.get_hosts().iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match host {
                Host::Tcp(name) => write!(f, "{comma}{name}")?,
                #[cfg(unix)]
                Host::Unix(path) => write!(f, "{comma}{}", path.display())?,
            }
            if let Some(port) = self.config.get_ports().get(index) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::PostgresAddress;
    use failwell_connect::Trust;
    use failwell_fault::Secret;

    #[test]
    fn postgresql_addresses_are_shown_without_their_password() {
        let read = |url: &str| PostgresAddress::parse(&Secret::new(url.to_owned()), Trust::System);
        for (good, shown) in [
            ("postgres://me:SECRET@127.0.0.1:5433/audit", "postgres://127.0.0.1:5433/audit"),
            ("postgresql://me@localhost", "postgres://localhost:5432/"),
            ("postgres://me@h.example/x?sslmode=require", "postgres://h.example:5432/x"),
            ("postgres://me@%2Frun%2Fpostgresql/x", "postgres:///run/postgresql:5432/x"),
        ] {
            let address = read(good).expect(good);
            assert_eq!(address.to_string(), shown, "{good}");
            assert!(!format!("{address:?}").contains("SECRET"));
        }
        for (bad, what) in [
            ("", "is no address of PostgreSQL"),
            ("mysql://h", "is no address of PostgreSQL"),
            ("host=h user=me", "is no address of PostgreSQL"),
            ("postgres://me@h:x/d", "is no address of PostgreSQL"),
            ("postgres:///d", "names no host"),
            ("postgres://127.0.0.1/d", "names no user"),
            ("postgres://me@h.example/d", "is not encrypted"),
            ("postgres://me@h.example/d?sslmode=prefer", "is not encrypted"),
        ] {
            assert_eq!(read(bad).map_err(|(problem, _)| problem).expect_err(bad), what, "{bad}");
        }
    }
}
