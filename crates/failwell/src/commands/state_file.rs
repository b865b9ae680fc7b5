//! Files of the state folder, and the errors that commands report about them.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use failwell_audit::LedgerSettings;
use failwell_fault::Fault;
use failwell_store::ConsentFile;
use failwell_store::SqliteKeys;

use crate::complaint::Complaint;

/// The header of a SQLite file. An empty file has none.
const BEGINNING: &[u8; 16] = b"SQLite format 3\0";

/// One file and its name in messages.
pub(super) struct StateFile {
    folder: PathBuf,
    path: PathBuf,
    called: &'static str,
    /// The option that selects another folder.
    elsewhere: &'static str,
}

/// For files that commands read.
const TYPED: &str = "--data-dir DIR";
/// For files that only servers open.
const SET: &str = "`data_dir` in failwell.toml, or FAILWELL_STATE";

impl StateFile {
    pub(super) fn ledger(folder: &Path) -> StateFile {
        StateFile::named(folder, LedgerSettings::FILE, "ledger", TYPED)
    }

    pub(super) fn consent(folder: &Path) -> StateFile {
        StateFile::named(folder, ConsentFile::FILE, "record of approvals and pins", TYPED)
    }

    pub(super) fn keys(folder: &Path) -> StateFile {
        StateFile::named(folder, SqliteKeys::FILE, "record of keys", SET)
    }

    fn named(folder: &Path, file: &str, called: &'static str, elsewhere: &'static str) -> StateFile {
        StateFile { folder: folder.to_owned(), path: folder.join(file), called, elsewhere }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file exists. A missing or unreadable folder is an error.
    pub(super) fn is_there(&self) -> Result<bool, Complaint> {
        match self.path.metadata() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(self.trouble("read", &error.to_string()))
            }
            Err(_) if self.folder.is_dir() => Ok(false),
            Err(_) => Err(self.nowhere()),
        }
    }

    fn nowhere(&self) -> Complaint {
        let StateFile { folder, called, elsewhere, .. } = self;
        Complaint::new(
            format!("there is no {called} in {}: there is no such folder", folder.display()),
            format!("start a server once, or name the folder: {elsewhere}"),
        )
    }

    /// The error for a file that cannot be read.
    pub(super) fn unreadable(&self, fault: &Fault) -> Complaint {
        self.trouble("read", &self.why(fault))
    }

    /// The error for a file that cannot be written.
    pub(super) fn unwritable(&self, fault: &Fault) -> Complaint {
        self.trouble("written", &self.why(fault))
    }

    fn trouble(&self, what: &str, why: &str) -> Complaint {
        let StateFile { folder, path, called, elsewhere } = self;
        Complaint::new(
            format!("the {called} in {} cannot be {what}: {why}", folder.display()),
            format!(
                "look at {} and who may use it; put a good copy in its place, or name another folder: {elsewhere}",
                path.display()
            ),
        )
    }

    /// The cause in a few words: a visible flaw of the file, otherwise the reader's error.
    fn why(&self, fault: &Fault) -> String {
        self.flaw().unwrap_or_else(|| {
            let operator = fault.operator();
            let noted =
                || operator.notes().iter().find(|(name, _)| *name != "file").map(|(_, note)| note.clone());
            match operator.causes().into_iter().next().or_else(noted) {
                Some(cause) if cause.starts_with("no such table") => {
                    "it is empty, or another program's".to_owned()
                }
                Some(cause) => cause,
                None => fault.to_string(),
            }
        })
    }

    fn flaw(&self) -> Option<String> {
        let mut begins = Vec::new();
        let read = match self.path.metadata() {
            Ok(meta) if meta.is_dir() => return Some("it is a folder".to_owned()),
            Ok(_) => File::open(&self.path).and_then(|file| file.take(16).read_to_end(&mut begins)),
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => Err(error),
        };
        match read {
            Ok(0) => None,
            Ok(_) => (begins != BEGINNING).then(|| "it is not a database".to_owned()),
            Err(error) => Some(error.to_string()),
        }
    }
}
