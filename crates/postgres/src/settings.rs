use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use failwell_fault::Secret;
use failwell_transport::Trust;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Where records are copied to, and within which bounds.
pub struct PostgresSettings {
    /// The database.
    pub address: Address,
    /// The folder of the ledger.
    pub folder: PathBuf,
    /// How many records go at once at the most.
    pub batch: usize,
    /// How long one attempt may take.
    pub timeout: Duration,
}

/// A database, and how to get in. Shown without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    pub(crate) config: Config,
    pub(crate) trust: Trust,
}

/// What is wrong with an address: a problem and what to do about it.
pub type Wrong = (&'static str, &'static str);

impl Address {
    /// Reads `postgres://user:password@host/database`. What can be read on the way by others is refused.
    pub fn read(url: &Secret<String>, trust: Trust) -> Result<Address, Wrong> {
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
        Ok(Address { config, trust })
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

impl fmt::Display for Address {
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

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::Address;
    use failwell_fault::Secret;
    use failwell_transport::Trust;

    #[test]
    fn addresses_are_of_postgresql_kept_private_and_shown_without_their_password() {
        let read = |url: &str| Address::read(&Secret::new(url.to_owned()), Trust::System);
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
