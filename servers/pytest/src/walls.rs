//! What tests may touch: they read what their user may, and write to the project, temporary folders and caches.
//!
//! Landlock, seccomp and read-only mounts enforce this, for everything the tests start; nothing inside can undo it.
//! The network stays open: many tests are about it.

use std::path::PathBuf;

use failwell_process::{Need, Network, Profile, Sandbox, containment};

use crate::place::Project;

/// Devices tests use without harm: nothing, noise, terminals of their own, and memory they share.
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

/// How firmly the walls stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Strictness {
    /// As far as the kernel has them.
    #[default]
    On,
    /// No run without them.
    Required,
    /// None.
    Off,
}

/// The walls around a run.
#[derive(Debug, Clone, Default)]
pub struct Walls {
    /// How firmly they stand.
    pub strictness: Strictness,
    /// Further files and folders the tests may write to.
    pub write: Vec<PathBuf>,
}

impl Walls {
    /// The sandbox for a project's runs.
    pub(crate) fn around(&self, project: &Project) -> Sandbox {
        let need = match self.strictness {
            Strictness::Off => return Sandbox::None,
            Strictness::On => Need::BestEffort,
            Strictness::Required => Need::Required,
        };
        let mut write: Vec<PathBuf> =
            DEVICES.iter().chain(&["/tmp", "/var/tmp"]).map(PathBuf::from).collect();
        write.extend([project.root().to_owned(), std::env::temp_dir()]);
        write.extend(caches());
        write.extend(self.write.iter().cloned());
        Sandbox::Profile(Profile { read: vec!["/".into()], write, network: Network::Open, need })
    }
}

/// The user's caches and run-time folder.
fn caches() -> impl Iterator<Item = PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    cache.into_iter().chain(folder("XDG_RUNTIME_DIR"))
}

/// What an answer says where there are none.
pub(crate) const OFF: &str = "off";

/// What an answer says of the walls.
pub(crate) fn described(sandbox: &Sandbox) -> &'static str {
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
