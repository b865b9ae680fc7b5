//! The child's own mounts, read-only except for its writable folders.
//!
//! Landlock has no rule for modes, owners, times and attributes, and seccomp sees no paths. On a read-only
//! mount the kernel itself refuses every call that changes them (ADR 0029).

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};
use rustix::thread::UnshareFlags;

use crate::supervisor::pre_exec::{self, MountChange};

/// The writable paths, without devices: a write to a device does not change its node, and a read-only mount
/// does not prevent it.
pub(super) enum Writable {
    Nothing,
    /// Canonical paths of folders and files, none of them below another.
    Places(Vec<PathBuf>),
    Everything,
}

impl Writable {
    pub(super) fn among(write: &[OsString]) -> Writable {
        let real = write.iter().filter_map(|place| std::fs::canonicalize(place).ok());
        let mut places: Vec<PathBuf> = real.filter(|place| place.is_dir() || place.is_file()).collect();
        // Parents sort first. A path below another shares its mount, because files cannot be moved between
        // mounts.
        places.sort();
        let mut outermost: Vec<PathBuf> = Vec::new();
        for place in places {
            if !outermost.iter().any(|above| place.starts_with(above)) {
                outermost.push(place);
            }
        }
        match outermost.first() {
            None => Writable::Nothing,
            Some(first) if first == Path::new("/") => Writable::Everything,
            Some(_) => Writable::Places(outermost),
        }
    }
}

/// A mount namespace to be entered.
pub(super) struct ReadOnlyMounts {
    writable: Vec<PathBuf>,
}

impl ReadOnlyMounts {
    pub(super) fn but_for(writable: Vec<PathBuf>) -> ReadOnlyMounts {
        ReadOnlyMounts { writable }
    }

    /// Must run before Landlock, which forbids mounting. The working folder stays the same.
    pub(super) fn enter(&self) -> io::Result<()> {
        let folder = std::env::current_dir()?;
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        if leave_mounts()? == Namespaces::MountsAndUsers {
            // The user and the group keep their ids. The namespace has no others.
            std::fs::write("/proc/self/setgroups", "deny")?;
            std::fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
            std::fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))?;
        }
        // These copies, made before the change, include submounts and keep the flags of each mount.
        let copy =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        let copies = self.writable.iter().map(|place| Ok((open_tree(CWD, place, copy)?, place)));
        let copies = copies.collect::<Result<Vec<_>, Errno>>()?;
        pre_exec::change_all_mounts(MountChange::ReadOnly)?;
        for (tree, place) in copies {
            move_mount(tree, "", CWD, place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        }
        // The current folder is still the one below the new mount, so enter it again by path.
        std::env::set_current_dir(folder)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Namespaces {
    Mounts,
    MountsAndUsers,
}

/// Enters a private mount namespace. A process without the right to mount also enters a user namespace, where
/// it has it.
fn leave_mounts() -> Result<Namespaces, Errno> {
    let entered = match pre_exec::unshare(UnshareFlags::NEWNS) {
        Ok(()) => Namespaces::Mounts,
        Err(Errno::PERM) => {
            pre_exec::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
            Namespaces::MountsAndUsers
        }
        Err(error) => return Err(error),
    };
    pre_exec::change_all_mounts(MountChange::Private)?;
    Ok(entered)
}

/// Tries it in a forked process. The result is cached, because it does not change at run time.
pub(crate) fn are_to_be_had() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        pre_exec::try_in_copy(|| {
            leave_mounts()?;
            pre_exec::change_all_mounts(MountChange::ReadOnly)
        })
    })
}
