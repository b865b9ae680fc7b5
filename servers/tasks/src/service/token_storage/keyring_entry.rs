//! The entry of a token in the system's keyring. A build without the feature `keyring` has the type but never
//! creates a value.

use std::io;

/// The service name in the keyring.
#[cfg(feature = "keyring")]
const SERVICE: &str = "failwell-tasks";

#[cfg(feature = "keyring")]
pub(super) struct KeyringEntry(keyring::v1::Entry);

#[cfg(not(feature = "keyring"))]
pub(super) enum KeyringEntry {}

#[cfg(feature = "keyring")]
impl KeyringEntry {
    /// The entry of this name. Asks the keyring for nothing yet.
    pub(super) fn open(name: &str) -> io::Result<KeyringEntry> {
        keyring::v1::Entry::new(SERVICE, name).map(KeyringEntry).map_err(io::Error::other)
    }

    pub(super) fn read(&self) -> io::Result<Option<String>> {
        match self.0.get_password() {
            Ok(token) => Ok(Some(token)),
            Err(keyring::v1::Error::NoEntry) => Ok(None),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    pub(super) fn write(&self, token: &str) -> io::Result<()> {
        self.0.set_password(token).map_err(io::Error::other)
    }

    /// Returns whether there was an entry.
    pub(super) fn delete(&self) -> io::Result<bool> {
        match self.0.delete_credential() {
            Ok(()) => Ok(true),
            Err(keyring::v1::Error::NoEntry) => Ok(false),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

#[cfg(not(feature = "keyring"))]
impl KeyringEntry {
    pub(super) fn open(_name: &str) -> io::Result<KeyringEntry> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this program was built without the feature `keyring`",
        ))
    }

    pub(super) fn read(&self) -> io::Result<Option<String>> {
        match *self {}
    }

    pub(super) fn write(&self, _token: &str) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn delete(&self) -> io::Result<bool> {
        match *self {}
    }
}
