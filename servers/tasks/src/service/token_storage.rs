//! Storage of the token: the system's keyring if there is one, otherwise a file that only its owner can read.
//! Only a logout deletes it.

mod keyring_entry;

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, Secret};
use tokio::sync::RwLock;

use self::keyring_entry::KeyringEntry;
use crate::reason;
use crate::settings::TokenStore;

/// Maximum age of a cached token.
const GOOD_FOR: Duration = Duration::from_secs(5);
/// Maximum size of a token file, in bytes.
const LARGEST: u64 = 4_096;

pub(crate) struct TokenStorage {
    places: Arc<TokenBackends>,
    /// The last token, so that the keyring is not asked every time.
    known: RwLock<Option<CachedToken>>,
}

struct CachedToken {
    token: Secret<String>,
    /// The time to read it again, because another program may have logged out. `None` for a token that is not
    /// stored.
    until: Option<Instant>,
}

struct TokenBackends {
    store: TokenStore,
    file: Option<PathBuf>,
    /// An identifier of the API key that the token belongs to.
    mark: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenLocation {
    Keyring,
    File,
    /// It is not stored and is lost when the program ends.
    Memory,
}

impl TokenLocation {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            TokenLocation::Keyring => "keyring",
            TokenLocation::File => "file",
            TokenLocation::Memory => "memory",
        }
    }
}

impl TokenStorage {
    pub(crate) fn new(store: TokenStore, file: Option<PathBuf>, mark: String) -> TokenStorage {
        TokenStorage { places: Arc::new(TokenBackends { store, file, mark }), known: RwLock::default() }
    }

    /// Sets a token that is not stored.
    pub(crate) fn holding(self, token: Option<Secret<String>>) -> TokenStorage {
        TokenStorage { known: RwLock::new(token.map(|token| CachedToken { token, until: None })), ..self }
    }

    /// The token, if a user is logged in.
    pub(crate) async fn token(&self) -> Result<Option<Secret<String>>, Fault> {
        if let Some(known) = &*self.known.read().await
            && known.until.is_none_or(|until| Instant::now() < until)
        {
            return Ok(Some(known.token.clone()));
        }
        let found = self.blocking(|places| places.find()).await?;
        let until = Some(Instant::now() + GOOD_FOR);
        *self.known.write().await = found.clone().map(|token| CachedToken { token, until });
        Ok(found)
    }

    /// Replaces the token.
    pub(crate) async fn put(&self, token: Secret<String>) -> Result<TokenLocation, Fault> {
        let given = token.clone();
        let location = self.blocking(move |places| places.put(&given)).await?;
        let until = (location != TokenLocation::Memory).then(|| Instant::now() + GOOD_FOR);
        *self.known.write().await = Some(CachedToken { token, until });
        Ok(location)
    }

    /// Deletes the token. Returns whether there was one.
    pub(crate) async fn clear(&self) -> Result<bool, Fault> {
        let was_known = self.known.write().await.take().is_some();
        Ok(self.blocking(|places| places.clear()).await? || was_known)
    }

    /// Keyring and disk access can block.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&TokenBackends) -> io::Result<T> + Send + 'static,
    ) -> Result<T, Fault> {
        let places = self.places.clone();
        let done = tokio::task::spawn_blocking(move || work(&places)).await.or_fault(&reason::SERVER_BUG)?;
        done.or_fault(&reason::TASKS_STORE)
    }
}

impl TokenBackends {
    fn find(&self) -> io::Result<Option<Secret<String>>> {
        if let Some(entry) = self.keyring()? {
            match entry.read() {
                Ok(Some(token)) => return Ok(Some(Secret::new(token))),
                Ok(None) => {}
                Err(error) if self.store == TokenStore::Keyring => return Err(error),
                // If the keyring is locked or missing, the file may have the token.
                Err(_) => {}
            }
        }
        match self.file() {
            Some(file) => read(file).map(|found| found.map(Secret::new)),
            None => Ok(None),
        }
    }

    fn put(&self, token: &Secret<String>) -> io::Result<TokenLocation> {
        if let Some(entry) = self.keyring()? {
            match entry.write(token.expose()) {
                Ok(()) => {
                    // An older token in the file would reappear when the keyring is locked.
                    self.file().map(remove).transpose()?;
                    return Ok(TokenLocation::Keyring);
                }
                Err(error) if self.store == TokenStore::Keyring => return Err(error),
                Err(_) => {}
            }
        }
        match self.file() {
            Some(file) => write(file, token.expose()).map(|()| TokenLocation::File),
            None => Ok(TokenLocation::Memory),
        }
    }

    fn clear(&self) -> io::Result<bool> {
        let in_keyring = match self.keyring()? {
            Some(entry) => match entry.delete() {
                Ok(had_one) => had_one,
                Err(error) if self.store == TokenStore::Keyring => return Err(error),
                Err(_) => false,
            },
            None => false,
        };
        let in_file = self.file().map(remove).transpose()?.unwrap_or(false);
        Ok(in_keyring || in_file)
    }

    fn file(&self) -> Option<&Path> {
        if self.store == TokenStore::Keyring { None } else { self.file.as_deref() }
    }

    /// The entry in the keyring, if there is a keyring.
    fn keyring(&self) -> io::Result<Option<KeyringEntry>> {
        // Without a session bus, the search for a keyring is slow and fails.
        let has_bus = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
        let worth_it = has_bus || cfg!(not(target_os = "linux"));
        match self.store {
            TokenStore::File => Ok(None),
            TokenStore::Auto if !worth_it => Ok(None),
            TokenStore::Auto => Ok(KeyringEntry::open(&self.mark).ok()),
            TokenStore::Keyring => KeyringEntry::open(&self.mark).map(Some),
        }
    }
}

fn read(file: &Path) -> io::Result<Option<String>> {
    let open = match fs::File::open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        open => open?,
    };
    let mut text = String::new();
    open.take(LARGEST).read_to_string(&mut text)?;
    Ok(Some(text.trim().to_owned()).filter(|token| !token.is_empty()))
}

/// Writes atomically. The file is never readable for others.
fn write(file: &Path, token: &str) -> io::Result<()> {
    let folder = file.parent().ok_or(ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let beside = file.with_extension(format!("new-{}", std::process::id()));
    remove(&beside)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut open = options.open(&beside)?;
    let written = open.write_all(format!("{token}\n").as_bytes()).and_then(|()| open.sync_all());
    match written.and_then(|()| fs::rename(&beside, file)) {
        Ok(()) => Ok(()),
        Err(error) => {
            let _ = remove(&beside);
            Err(error)
        }
    }
}

fn remove(file: &Path) -> io::Result<bool> {
    match fs::remove_file(file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenLocation, TokenStorage};
    use crate::settings::TokenStore;
    use failwell_fault::Secret;

    #[tokio::test]
    async fn a_token_in_a_file_is_its_owners_alone() {
        let folder = std::env::temp_dir().join(format!("failwell-keep-{}", std::process::id()));
        let file = folder.join("deep/token-x");
        let keep = || TokenStorage::new(TokenStore::File, Some(file.clone()), "x".to_owned());
        assert!(keep().token().await.expect("read").is_none());
        for token in ["first", "second"] {
            assert_eq!(keep().put(Secret::new(token.to_owned())).await.expect("kept"), TokenLocation::File);
            let found = keep().token().await.expect("read").expect("there");
            assert_eq!(found.expose(), token);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&file).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let beside = std::fs::read_dir(file.parent().expect("a folder")).expect("listed").count();
        assert_eq!(beside, 1, "nothing is left beside it");
        assert!(keep().clear().await.expect("cleared"));
        assert!(!keep().clear().await.expect("cleared"));
        std::fs::remove_dir_all(folder).expect("removed");
    }

    #[tokio::test]
    async fn a_token_to_begin_with_is_gone_when_it_is_cleared() {
        let keep = TokenStorage::new(TokenStore::File, None, String::new())
            .holding(Some(Secret::new("t".to_owned())));
        assert!(keep.token().await.expect("read").is_some());
        assert!(keep.clear().await.expect("cleared"));
        assert!(keep.token().await.expect("read").is_none());
    }

    #[tokio::test]
    async fn without_a_folder_it_lasts_while_the_program_runs() {
        let keep = TokenStorage::new(TokenStore::File, None, String::new());
        assert_eq!(keep.put(Secret::new("t".to_owned())).await.expect("kept"), TokenLocation::Memory);
        assert!(keep.token().await.expect("read").is_some());
        assert!(keep.clear().await.expect("cleared"));
        assert!(keep.token().await.expect("read").is_none());
    }
}
