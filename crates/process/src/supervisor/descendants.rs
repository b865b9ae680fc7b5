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

    /// Every descendant that is there now. Those born while this looks are found by the next look.
    pub(crate) fn all() -> Vec<Pid> {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        match children(own) {
            Some(first) => by_lists(first),
            None => by_parents(own),
        }
    }

    /// How many processes this user has.
    pub(crate) fn of_this_user() -> usize {
        let own = rustix::process::getuid().as_raw();
        let Ok(entries) = fs::read_dir("/proc") else { return 0 };
        let processes = entries.flatten().filter(|entry| number(entry).is_some());
        processes.filter(|entry| entry.metadata().is_ok_and(|found| found.uid() == own)).count()
    }

    fn number(entry: &fs::DirEntry) -> Option<i32> {
        entry.file_name().to_str()?.parse().ok()
    }

    /// From the lists of children the kernel keeps.
    fn by_lists(first: Vec<i32>) -> Vec<Pid> {
        let mut found = first;
        let mut next = 0;
        while let Some(pid) = found.get(next).copied() {
            next += 1;
            found.extend(children(pid).unwrap_or_default());
        }
        found.into_iter().filter_map(Pid::from_raw).collect()
    }

    /// The children of all threads of a process. Nothing when it is gone or the kernel keeps no such lists.
    fn children(pid: i32) -> Option<Vec<i32>> {
        let mut found = Vec::new();
        for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
            let list = fs::read_to_string(thread.path().join("children")).ok()?;
            found.extend(list.split_whitespace().filter_map(|number| number.parse::<i32>().ok()));
        }
        Some(found)
    }

    /// From what every process says of its parent, for kernels without the lists.
    fn by_parents(own: i32) -> Vec<Pid> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let pairs: Vec<(i32, i32)> = entries
            .flatten()
            .filter_map(|entry| number(&entry))
            .filter_map(|pid| Some((pid, parent(pid)?)))
            .collect();
        let mut found = vec![own];
        let mut next = 0;
        while let Some(above) = found.get(next).copied() {
            next += 1;
            found.extend(pairs.iter().filter(|(_, parent)| *parent == above).map(|(pid, _)| *pid));
        }
        found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
    }

    /// The name before it may hold anything, so what is read comes after its last parenthesis.
    fn parent(pid: i32) -> Option<i32> {
        let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        line.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    }

    #[cfg(test)]
    mod tests {
        use super::{by_lists, by_parents, children};

        #[test]
        fn both_ways_of_looking_see_the_same() {
            let mut child = std::process::Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(200));
            let pid = i32::try_from(child.id()).unwrap();
            let lists = by_lists(children(pid).unwrap());
            let parents = by_parents(pid);
            for one in &lists {
                rustix::process::kill_process(*one, rustix::process::Signal::KILL).unwrap();
            }
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(lists.len(), 1);
            assert_eq!(lists, parents);
        }
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
