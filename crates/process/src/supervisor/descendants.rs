//! The descendants of this process. As subreaper it is the ancestor of all of them, including orphans and
//! daemons.

#[cfg(target_os = "linux")]
pub(super) use linux::{all, of_this_user};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{all, of_this_user};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use rustix::process::Pid;

    use crate::process_tree;

    /// All current descendants. The next call finds processes that start meanwhile.
    pub(crate) fn all() -> Vec<Pid> {
        process_tree::below(rustix::process::getpid().as_raw_nonzero().get())
    }

    /// The number of processes of this user.
    pub(crate) fn of_this_user() -> usize {
        let own = rustix::process::getuid().as_raw();
        let Ok(entries) = fs::read_dir("/proc") else { return 0 };
        let processes = entries.flatten().filter(|entry| process_tree::number(entry).is_some());
        processes.filter(|entry| entry.metadata().is_ok_and(|found| found.uid() == own)).count()
    }
}

/// Without a subreaper, descendants are unknown. Only the process group remains.
#[cfg(not(target_os = "linux"))]
mod other {
    use rustix::process::Pid;

    pub(crate) fn all() -> Vec<Pid> {
        Vec::new()
    }

    pub(crate) fn of_this_user() -> usize {
        0
    }
}
