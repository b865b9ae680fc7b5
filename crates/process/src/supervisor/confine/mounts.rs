//! Mounts of a child's own, all of them read-only but for the places it may write to.
//!
//! Landlock has no rule for modes, owners, times and attributes, and seccomp sees no paths. On a read-only mount the kernel
//! itself refuses to change them, whichever call asks for it (ADR 0029).

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};
use rustix::thread::UnshareFlags;

use crate::supervisor::between::{self, MountChange};

/// Where a child may write, devices not counted: writing to one does not change its node, and a mount that is read-only
/// does not keep anybody from it.
pub(super) enum Writable {
    Nothing,
    /// Folders and files by their real paths, none of them below another.
    Places(Vec<PathBuf>),
    Everything,
}

impl Writable {
    pub(super) fn among(write: &[OsString]) -> Writable {
        let real = write.iter().filter_map(|place| std::fs::canonicalize(place).ok());
        let mut places: Vec<PathBuf> = real.filter(|place| place.is_dir() || place.is_file()).collect();
        // Parents sort first. A place below another shares its mount, because files cannot be moved between two mounts.
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

    /// Must come before Landlock, which forbids to mount. The folder this process is in stays the same.
    pub(super) fn enter(&self) -> io::Result<()> {
        let folder = std::env::current_dir()?;
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        if leave_mounts()? == Namespaces::MountsAndUsers {
            // The user and the group keep their numbers; no others exist in the namespace.
            std::fs::write("/proc/self/setgroups", "deny")?;
            std::fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
            std::fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))?;
        }
        // Copies from before, with whatever is mounted below and the flags each mount has.
        let copy =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        let copies = self.writable.iter().map(|place| Ok((open_tree(CWD, place, copy)?, place)));
        let copies = copies.collect::<Result<Vec<_>, Errno>>()?;
        between::change_all_mounts(MountChange::ReadOnly)?;
        for (tree, place) in copies {
            move_mount(tree, "", CWD, place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        }
        // Still the folder below the mount that now covers it.
        std::env::set_current_dir(folder)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Namespaces {
    Mounts,
    MountsAndUsers,
}

/// Enters a private mount namespace. A process that may not mount enters a user namespace as well, where it may.
fn leave_mounts() -> Result<Namespaces, Errno> {
    let entered = match between::unshare(UnshareFlags::NEWNS) {
        Ok(()) => Namespaces::Mounts,
        Err(Errno::PERM) => {
            between::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
            Namespaces::MountsAndUsers
        }
        Err(error) => return Err(error),
    };
    between::change_all_mounts(MountChange::Private)?;
    Ok(entered)
}

/// Tries it, in a process that is gone afterwards. The answer does not change while this program runs.
pub(crate) fn are_to_be_had() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        between::try_in_copy(|| {
            leave_mounts()?;
            between::change_all_mounts(MountChange::ReadOnly)
        })
    })
}
