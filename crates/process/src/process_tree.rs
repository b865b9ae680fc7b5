//! The descendants of a process, as the kernel reports them.

use std::fs;

use rustix::process::Pid;

/// All current descendants of a process. The next call finds processes that start meanwhile.
pub(crate) fn below(pid: i32) -> Vec<Pid> {
    let found = match listed_children(pid) {
        Some(first) => by_lists(first),
        None => by_parents(pid),
    };
    found.into_iter().filter_map(Pid::from_raw).collect()
}

pub(crate) fn children(pid: i32) -> Vec<i32> {
    listed_children(pid).unwrap_or_else(|| {
        let pairs = pairs();
        pairs.iter().filter(|(_, parent)| *parent == pid).map(|(child, _)| *child).collect()
    })
}

/// The process id of an entry of `/proc`.
pub(crate) fn number(entry: &fs::DirEntry) -> Option<i32> {
    entry.file_name().to_str()?.parse().ok()
}

/// Follows the kernel's lists of children.
fn by_lists(first: Vec<i32>) -> Vec<i32> {
    let mut found = first;
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        found.extend(listed_children(pid).unwrap_or_default());
    }
    found
}

/// The children of all threads of a process. `None` if it has ended or the kernel has no such lists.
fn listed_children(pid: i32) -> Option<Vec<i32>> {
    let mut found = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let list = fs::read_to_string(thread.path().join("children")).ok()?;
        found.extend(list.split_whitespace().filter_map(|number| number.parse::<i32>().ok()));
    }
    Some(found)
}

/// Follows the parent of every process, for kernels without lists of children.
fn by_parents(pid: i32) -> Vec<i32> {
    let pairs = pairs();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(above) = found.get(next).copied() {
        next += 1;
        found.extend(pairs.iter().filter(|(_, parent)| *parent == above).map(|(pid, _)| *pid));
    }
    found.into_iter().skip(1).collect()
}

/// All processes with their parents.
fn pairs() -> Vec<(i32, i32)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let all = entries.flatten().filter_map(|entry| number(&entry));
    all.filter_map(|pid| Some((pid, parent(pid)?))).collect()
}

/// A process name may contain any character, so the fields are read after the last parenthesis.
fn parent(pid: i32) -> Option<i32> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    line.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{by_lists, by_parents, listed_children};

    #[test]
    fn both_ways_of_looking_see_the_same() {
        let mut child = std::process::Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let began = std::time::Instant::now();
        while by_parents(pid).is_empty() && began.elapsed().as_secs() < 30 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let lists = by_lists(listed_children(pid).unwrap());
        let parents = by_parents(pid);
        for one in super::below(pid) {
            rustix::process::kill_process(one, rustix::process::Signal::KILL).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(lists.len(), 1);
        assert_eq!(lists, parents);
    }
}
