//! Code between fork and exec, descriptors by number, and namespaces: the operations without a safe Rust API.
//!
//! Reason for `unsafe`: mounts, death signal, limits, Landlock and seccomp must apply to the child and not to
//! the supervisor. So the child sets them on itself before exec. Descriptors inherited from the parent of
//! Failwell are known by number only. Rustix has no safe call to leave a namespace, and none for the
//! attributes of mounts.

#![allow(unsafe_code, reason = "see above")]

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

#[cfg(target_os = "linux")]
use rustix::io::Errno;
use rustix::io::FdFlags;
#[cfg(target_os = "linux")]
use rustix::thread::UnshareFlags;

/// Makes the child call this closure before exec. An error prevents the start.
pub(super) fn before_exec(
    command: &mut Command,
    prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: the closure runs in a fork of a process with one thread (`supervise_main` requires that). No
    // other thread can hold a lock there, so the closure may allocate. It touches no descriptor that it does
    // not own.
    unsafe { command.pre_exec(prepare) };
}

/// Whether this works in a forked process, which then exits. The closure may only make system calls: the fork
/// has one of many threads, and the others may have held locks.
#[cfg(target_os = "linux")]
pub(super) fn try_in_copy(attempt: impl Fn() -> Result<(), Errno> + Send + Sync + 'static) -> bool {
    // The closure always returns an error number, so the program is never started.
    const WORKED: Errno = Errno::CANCELED;
    let mut command = Command::new("/dev/null");
    let report = move || Err(attempt().err().unwrap_or(WORKED).into());
    // SAFETY: the closure makes system calls by rustix, which neither allocates for them nor takes locks.
    unsafe { command.pre_exec(report) };
    let errno = command.spawn().err().and_then(|error| error.raw_os_error());
    errno == Some(WORKED.raw_os_error())
}

/// Moves this process into new namespaces.
#[cfg(target_os = "linux")]
pub(super) fn unshare(namespaces: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: the call is unsafe because of its flag for descriptors, which is removed here; this process has one thread.
    unsafe { rustix::thread::unshare_unsafe(namespaces.difference(UnshareFlags::FILES)) }
}

/// A change of all mounts of a namespace.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy)]
pub(super) enum MountChange {
    /// Mounts of other namespaces do not propagate here, nor the reverse.
    Private,
    /// The mounts become read-only.
    ReadOnly,
}

/// Changes the root mount and all mounts below it.
#[cfg(target_os = "linux")]
pub(super) fn change_all_mounts(change: MountChange) -> Result<(), Errno> {
    /// The kernel's `struct mount_attr`.
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let (set, propagation) = match change {
        MountChange::Private => (0, libc::MS_PRIVATE),
        MountChange::ReadOnly => (libc::MOUNT_ATTR_RDONLY, 0),
    };
    let attributes = Attributes { set, clear: 0, propagation, user_namespace: 0 };
    // SAFETY: both pointers lead to values that outlive the call, the second with the given size. The kernel
    // only reads them.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    if answer == 0 {
        return Ok(());
    }
    Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::PERM))
}

/// Sets close-on-exec on every descriptor above standard error.
pub(super) fn close_inherited_on_exec() -> io::Result<()> {
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    for entry in std::fs::read_dir(folder)? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if number <= 2 {
            continue;
        }
        // SAFETY: the number comes from the list of this process's open descriptors. No other thread exists
        // that could close it, and the borrow ends with this statement.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        // The descriptor of the listing itself already has the flag and may be closed.
        let _ = rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC);
    }
    Ok(())
}
