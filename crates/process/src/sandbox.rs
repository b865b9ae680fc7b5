use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The restrictions of a child.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// No restrictions beyond those of this process.
    #[default]
    None,
    /// The restrictions of a profile.
    Profile(Profile),
}

/// The restrictions of a sandboxed child. Neither the child nor its descendants can remove them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Files and folders that can be read and executed, with everything below them. Missing paths are
    /// skipped.
    pub read: Vec<PathBuf>,
    /// Files and folders that can also be written. Modes, owners, times and attributes can be changed only
    /// there. If the list has only devices, they cannot be changed at all.
    pub write: Vec<PathBuf>,
    pub network: Network,
    /// The behaviour on a machine that cannot enforce the profile.
    pub need: SandboxNeed,
}

/// Whether a child can create sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// Unrestricted.
    Open,
    /// No sockets of any family, including local ones. Connected pairs work like pipes and stay allowed.
    Closed,
}

/// The behaviour if the kernel lacks a part of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SandboxNeed {
    /// The child does not start (`process/UNCONTAINED`).
    Required,
    /// The child starts with the available parts.
    BestEffort,
}

impl Profile {
    /// No reading, no writing, no network; the sandbox is required.
    pub fn closed() -> Profile {
        Profile { read: Vec::new(), write: Vec::new(), network: Network::Closed, need: SandboxNeed::Required }
    }

    /// Adds the paths that nearly every program reads: system programs, libraries, settings and harmless
    /// devices.
    #[must_use]
    pub fn with_system(mut self) -> Profile {
        let folders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt"];
        let devices = ["/dev/urandom", "/dev/random"];
        self.read.extend(folders.iter().chain(&devices).map(PathBuf::from));
        self.write.extend(["/dev/null", "/dev/zero", "/dev/full"].map(PathBuf::from));
        self
    }

    #[must_use]
    pub fn reading(mut self, place: impl Into<PathBuf>) -> Profile {
        self.read.push(place.into());
        self
    }

    #[must_use]
    pub fn writing(mut self, place: impl Into<PathBuf>) -> Profile {
        self.write.push(place.into());
        self
    }
}

/// A seccomp program, in the kernel's format, that forbids exec. A plan cannot contain it, because the child
/// must exec its own program first. The child loads it before it runs foreign code. `None` without seccomp.
pub fn no_exec_filter() -> Option<Vec<u8>> {
    #[cfg(target_os = "linux")]
    return Some(()).filter(|()| crate::containment::seccomp()).and_then(|()| crate::supervisor::no_exec());
    #[cfg(not(target_os = "linux"))]
    None
}

/// A profile in the form for the supervisor. Paths are bytes, because they may not be text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub(crate) read: Vec<OsString>,
    pub(crate) write: Vec<OsString>,
    pub(crate) network: Network,
    pub(crate) need: SandboxNeed,
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
