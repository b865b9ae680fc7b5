//! Between fork and exec, descriptors by their number, and namespaces: what has no safe name in Rust.
//!
//! Why it has to be: the mounts, the death signal, the limits, Landlock and seccomp must hold for the child and not for the
//! supervisor, so the child sets them on itself before it becomes the program. Descriptors that this process
//! inherited from whoever started Failwell are known by number alone. And rustix has no safe call to leave a namespace, and
//! none at all for the attributes of mounts.

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

/// Has the child call this before it becomes the program. An error keeps it from starting.
pub(super) fn before_exec(
    command: &mut Command,
    prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: the closure runs in a copy of a process with one thread (`supervise_main` asks for that), so no lock can be
    // held by a thread that does not exist there, and it may allocate. It touches no descriptor it does not own.
    unsafe { command.pre_exec(prepare) };
}

/// Whether this works in a copy of this process, which is gone when it has tried. The copy may do nothing but make system calls:
/// it has one thread of many, and the others may have held locks.
#[cfg(target_os = "linux")]
pub(super) fn try_in_copy(attempt: impl Fn() -> Result<(), Errno> + Send + Sync + 'static) -> bool {
    // What comes back is a number either way, and the program is never started.
    const WORKED: Errno = Errno::CANCELED;
    let mut command = Command::new("/dev/null");
    let report = move || Err(attempt().err().unwrap_or(WORKED).into());
    // SAFETY: the closure makes system calls by rustix, which neither allocates for them nor takes locks.
    unsafe { command.pre_exec(report) };
    let said = command.spawn().err().and_then(|error| error.raw_os_error());
    said == Some(WORKED.raw_os_error())
}

/// Leaves namespaces for new ones.
#[cfg(target_os = "linux")]
pub(super) fn unshare(namespaces: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: the call is unsafe because of its flag for descriptors, which is removed here; this process has one thread.
    unsafe { rustix::thread::unshare_unsafe(namespaces.difference(UnshareFlags::FILES)) }
}

/// What can be done to all mounts of a namespace at once.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy)]
pub(super) enum MountChange {
    /// What others mount does not appear here, nor the other way round.
    Private,
    /// Nothing can be changed through them.
    ReadOnly,
}

/// Changes the mount of the root folder and all below it.
#[cfg(target_os = "linux")]
pub(super) fn change_all_mounts(change: MountChange) -> Result<(), Errno> {
    /// As the kernel has it (`struct mount_attr`).
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
    // SAFETY: both pointers lead to values that outlive the call, the second with the size that is told, and the kernel
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

/// Marks every descriptor above standard error to be closed in the child.
pub(super) fn close_inherited_on_exec() -> io::Result<()> {
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    for entry in std::fs::read_dir(folder)? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if number <= 2 {
            continue;
        }
        // SAFETY: the number was read from the list of this process's open descriptors, there is no other thread that could
        // close it meanwhile, and the borrow ends with this statement.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        // The one that reads the list is closed on exec anyway, and may be gone.
        let _ = rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC);
    }
    Ok(())
}
