//! The sandbox of the tests. They can read what their user can, and write to the project, temporary folders
//! and caches.
//!
//! Landlock, seccomp and read-only mounts enforce this for all descendants, and no process inside can undo
//! it. The network stays open, because many tests need it.

use std::path::PathBuf;

use failwell_process::{Network, Profile, Sandbox, SandboxNeed, containment};

use crate::project::Project;

/// Harmless devices: null devices, random numbers, pseudo-terminals and shared memory.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Strictness {
    /// The parts that the kernel supports.
    #[default]
    On,
    /// Runs are refused without it.
    Required,
    Off,
}

/// The restrictions of the tests.
#[derive(Debug, Clone, Default)]
pub struct SandboxSettings {
    pub strictness: Strictness,
    /// Further files and folders that the tests can write to.
    pub write: Vec<PathBuf>,
}

impl SandboxSettings {
    /// The sandbox for the runs of a project.
    pub(crate) fn around(&self, project: &Project) -> Sandbox {
        let need = match self.strictness {
            Strictness::Off => return Sandbox::None,
            Strictness::On => SandboxNeed::BestEffort,
            Strictness::Required => SandboxNeed::Required,
        };
        let mut write: Vec<PathBuf> =
            DEVICES.iter().chain(&["/tmp", "/var/tmp"]).map(PathBuf::from).collect();
        write.extend([project.root().to_owned(), std::env::temp_dir()]);
        write.extend(caches());
        write.extend(self.write.iter().cloned());
        Sandbox::Profile(Profile { read: vec!["/".into()], write, network: Network::Open, need })
    }
}

/// The user's cache and run-time folders.
fn caches() -> impl Iterator<Item = PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    cache.into_iter().chain(folder("XDG_RUNTIME_DIR"))
}

/// The description of a run without a sandbox.
pub(crate) const OFF: &str = "off";

/// The description of the sandbox in an answer.
pub(crate) fn describe(sandbox: &Sandbox) -> &'static str {
    match sandbox {
        Sandbox::None => OFF,
        Sandbox::Profile(_) => {
            let here = containment();
            match (here.landlock.is_some(), here.seccomp) {
                (true, true) if here.mount_namespaces => "on",
                (true, true) => "on, but not for modes and dates of files: no mount namespaces here",
                (false, false) => "not to be had on this kernel",
                (true, false) => "files only: this kernel has no seccomp",
                (false, true) => "system calls only: this kernel has no Landlock",
            }
        }
    }
}
