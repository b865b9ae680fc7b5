use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a child may touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// Whatever we may touch ourselves.
    #[default]
    None,
    /// What the profile names.
    Profile(Profile),
}

/// What a child inside a sandbox may touch. The child cannot leave it, nor can anything it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Files and folders that may be read and executed, with everything below them. What is not there is passed over.
    pub read: Vec<PathBuf>,
    /// Files and folders that may also be written. Modes, owners, times and attributes can be changed there and nowhere else;
    /// without a folder or file here, other than devices, they cannot be changed at all.
    pub write: Vec<PathBuf>,
    /// Whether sockets may be made.
    pub network: Network,
    /// What happens on a machine that cannot enforce this.
    pub need: Need,
}

/// Whether a child may make sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// As any process.
    Open,
    /// No sockets of any family, local ones included. Pairs of connected sockets are pipes, and stay.
    Closed,
}

/// What happens where the kernel lacks a part of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Need {
    /// The child does not start (`process/UNCONTAINED`).
    Required,
    /// The child starts with what there is.
    BestEffort,
}

impl Profile {
    /// Nothing may be read or written, no network, and no start without it.
    pub fn closed() -> Profile {
        Profile { read: Vec::new(), write: Vec::new(), network: Network::Closed, need: Need::Required }
    }

    /// Adds what nearly every program reads: the system's programs, libraries and settings, and the harmless devices.
    #[must_use]
    pub fn with_system(mut self) -> Profile {
        let folders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt"];
        let devices = ["/dev/urandom", "/dev/random"];
        self.read.extend(folders.iter().chain(&devices).map(PathBuf::from));
        self.write.extend(["/dev/null", "/dev/zero", "/dev/full"].map(PathBuf::from));
        self
    }

    /// Adds a place that may be read.
    #[must_use]
    pub fn reading(mut self, place: impl Into<PathBuf>) -> Profile {
        self.read.push(place.into());
        self
    }

    /// Adds a place that may be read and written.
    #[must_use]
    pub fn writing(mut self, place: impl Into<PathBuf>) -> Profile {
        self.write.push(place.into());
        self
    }
}

/// A seccomp program that refuses to start programs, in the form the kernel takes it. No plan can hold it, for it would keep
/// the child from becoming its own program; the child loads it before it lets anybody else's code in. Nothing where there is no
/// seccomp.
pub fn no_exec_filter() -> Option<Vec<u8>> {
    #[cfg(target_os = "linux")]
    return Some(()).filter(|()| crate::containment::seccomp()).and_then(|()| crate::supervisor::no_exec());
    #[cfg(not(target_os = "linux"))]
    None
}

/// A profile on its way to the supervisor. Paths are bytes there: not all of them are text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub(crate) read: Vec<OsString>,
    pub(crate) write: Vec<OsString>,
    pub(crate) network: Network,
    pub(crate) need: Need,
}

impl From<Profile> for Confinement {
    fn from(profile: Profile) -> Confinement {
        let bytes = |places: Vec<PathBuf>| places.into_iter().map(PathBuf::into_os_string).collect();
        Confinement {
            read: bytes(profile.read),
            write: bytes(profile.write),
            network: profile.network,
            need: profile.need,
        }
    }
}
