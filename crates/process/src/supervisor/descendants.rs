//! Who descends from this process. As subreaper it is the ancestor of everybody below it, orphans and daemons included.

#[cfg(target_os = "linux")]
pub(super) use linux::{all, of_this_user};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{all, of_this_user};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use rustix::process::Pid;

    use crate::family;

    /// Every descendant that is there now. Those born while this looks are found by the next look.
    pub(crate) fn all() -> Vec<Pid> {
        family::below(rustix::process::getpid().as_raw_nonzero().get())
    }

    /// How many processes this user has.
    pub(crate) fn of_this_user() -> usize {
        let own = rustix::process::getuid().as_raw();
        let Ok(entries) = fs::read_dir("/proc") else { return 0 };
        let processes = entries.flatten().filter(|entry| family::number(entry).is_some());
        processes.filter(|entry| entry.metadata().is_ok_and(|found| found.uid() == own)).count()
    }
}

/// Without a subreaper nobody knows who descends from whom; the process group is all there is.
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
