//! Where the token is kept: in the system's keyring where there is one, else in a file that only its owner may read.
//! Only a person who logs out takes it away again.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, Secret, reason};
use tokio::sync::RwLock;

use crate::settings::TokenStore;

/// The name the keyring shows.
const SERVICE: &str = "failwell-tasks";
/// How long a token that was read is used before it is looked for again.
const GOOD_FOR: Duration = Duration::from_secs(5);
/// The most bytes of a token's file.
const LARGEST: u64 = 4_096;

/// The token's place.
pub(crate) struct Keep {
    places: Arc<Places>,
    /// What was read, so that the keyring is not asked all the time.
    known: RwLock<Option<Known>>,
}

struct Known {
    token: Secret<String>,
    /// Then it is looked for again: another program may have logged out. `None` for one that is kept nowhere else.
    until: Option<Instant>,
}

struct Places {
    store: TokenStore,
    file: Option<PathBuf>,
    /// Which key the token belongs to.
    mark: String,
}

/// Where a token went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Keyring,
    File,
    /// There is no place: it is gone when the program ends.
    Memory,
}

impl Kept {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Kept::Keyring => "keyring",
            Kept::File => "file",
            Kept::Memory => "memory",
        }
    }
}

impl Keep {
    pub(crate) fn new(store: TokenStore, file: Option<PathBuf>, mark: String) -> Keep {
        Keep { places: Arc::new(Places { store, file, mark }), known: RwLock::default() }
    }

    /// The token, if somebody is logged in.
    pub(crate) async fn token(&self) -> Result<Option<Secret<String>>, Fault> {
        if let Some(known) = &*self.known.read().await
            && known.until.is_none_or(|until| Instant::now() < until)
        {
            return Ok(Some(known.token.clone()));
        }
        let found = self.blocking(|places| places.find()).await?;
        let until = Some(Instant::now() + GOOD_FOR);
        *self.known.write().await = found.clone().map(|token| Known { token, until });
        Ok(found)
    }

    /// Keeps a token instead of the one before.
    pub(crate) async fn put(&self, token: Secret<String>) -> Result<Kept, Fault> {
        let given = token.clone();
        let kept = self.blocking(move |places| places.put(&given)).await?;
        let until = (kept != Kept::Memory).then(|| Instant::now() + GOOD_FOR);
        *self.known.write().await = Some(Known { token, until });
        Ok(kept)
    }

    /// Forgets the token; says whether there was one.
    pub(crate) async fn clear(&self) -> Result<bool, Fault> {
        let was_known = self.known.write().await.take().is_some();
        Ok(self.blocking(|places| places.clear()).await? || was_known)
    }

    /// Keyring and disk may take their time.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Places) -> io::Result<T> + Send + 'static,
    ) -> Result<T, Fault> {
        let places = self.places.clone();
        let done = tokio::task::spawn_blocking(move || work(&places)).await.or_fault(&reason::SERVER_BUG)?;
        done.or_fault(&reason::TASKS_STORE)
    }
}

impl Places {
    fn find(&self) -> io::Result<Option<Secret<String>>> {
        if let Some(entry) = self.keyring()? {
            match entry.get_password() {
                Ok(token) => return Ok(Some(Secret::new(token))),
                Err(keyring::v1::Error::NoEntry) => {}
                Err(error) if self.store == TokenStore::Keyring => return Err(io::Error::other(error)),
                // A keyring that is locked or gone: the file may have it.
                Err(_) => {}
            }
        }
        match self.file() {
            Some(file) => read(file).map(|found| found.map(Secret::new)),
            None => Ok(None),
        }
    }

    fn put(&self, token: &Secret<String>) -> io::Result<Kept> {
        if let Some(entry) = self.keyring()? {
            match entry.set_password(token.expose()) {
                Ok(()) => {
                    // An older one in the file would come back when the keyring is locked.
                    self.file().map(remove).transpose()?;
                    return Ok(Kept::Keyring);
                }
                Err(error) if self.store == TokenStore::Keyring => return Err(io::Error::other(error)),
                Err(_) => {}
            }
        }
        match self.file() {
            Some(file) => write(file, token.expose()).map(|()| Kept::File),
            None => Ok(Kept::Memory),
        }
    }

    fn clear(&self) -> io::Result<bool> {
        let in_keyring = match self.keyring()? {
            Some(entry) => match entry.delete_credential() {
                Ok(()) => true,
                Err(keyring::v1::Error::NoEntry) => false,
                Err(error) if self.store == TokenStore::Keyring => return Err(io::Error::other(error)),
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

    /// The keyring's entry, where there is a keyring.
    fn keyring(&self) -> io::Result<Option<keyring::v1::Entry>> {
        // Without a session bus the search for one takes long and finds nothing.
        let has_bus = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
        let worth_it = has_bus || cfg!(not(target_os = "linux"));
        match self.store {
            TokenStore::File => Ok(None),
            TokenStore::Auto if !worth_it => Ok(None),
            TokenStore::Auto => Ok(keyring::v1::Entry::new(SERVICE, &self.mark).ok()),
            TokenStore::Keyring => {
                keyring::v1::Entry::new(SERVICE, &self.mark).map(Some).map_err(io::Error::other)
            }
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

/// All of it or nothing, and never readable for others, not even for a moment.
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
    use super::{Keep, Kept};
    use crate::settings::TokenStore;
    use failwell_fault::Secret;

    #[tokio::test]
    async fn a_token_in_a_file_is_its_owners_alone() {
        let folder = std::env::temp_dir().join(format!("failwell-keep-{}", std::process::id()));
        let file = folder.join("deep/token-x");
        let keep = || Keep::new(TokenStore::File, Some(file.clone()), "x".to_owned());
        assert!(keep().token().await.expect("read").is_none());
        for token in ["first", "second"] {
            assert_eq!(keep().put(Secret::new(token.to_owned())).await.expect("kept"), Kept::File);
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
    async fn without_a_place_it_is_kept_while_the_program_runs() {
        let keep = Keep::new(TokenStore::File, None, String::new());
        assert_eq!(keep.put(Secret::new("t".to_owned())).await.expect("kept"), Kept::Memory);
        assert!(keep.token().await.expect("read").is_some());
        assert!(keep.clear().await.expect("cleared"));
        assert!(keep.token().await.expect("read").is_none());
    }
}
