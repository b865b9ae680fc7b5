//! Between fork and exec, and descriptors by their number: the two things that have no safe name in Rust.
//!
//! Why it has to be: the death signal, the limits, Landlock and seccomp must hold for the child and not for the
//! supervisor, so the child sets them on itself before it becomes the program. And descriptors that this process
//! inherited from whoever started Failwell are known by number alone.

#![allow(unsafe_code, reason = "see above")]

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::FdFlags;

/// Has the child call this before it becomes the program. An error keeps it from starting.
pub(super) fn before_exec(
    command: &mut Command,
    prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: the closure runs in a copy of a process with one thread (`supervise_main` asks for that), so no lock can be
    // held by a thread that does not exist there, and it may allocate. It touches no descriptor it does not own.
    unsafe { command.pre_exec(prepare) };
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
