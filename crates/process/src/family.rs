//! Who descends from whom, as the kernel has it.

use std::fs;

use rustix::process::Pid;

/// Everybody below a process now. Those born while this looks are found by the next look.
pub(crate) fn below(pid: i32) -> Vec<Pid> {
    let found = match listed(pid) {
        Some(first) => by_lists(first),
        None => by_parents(pid),
    };
    found.into_iter().filter_map(Pid::from_raw).collect()
}

/// The children of a process.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    listed(pid).unwrap_or_else(|| {
        let pairs = pairs();
        pairs.iter().filter(|(_, parent)| *parent == pid).map(|(child, _)| *child).collect()
    })
}

/// The number of a process's folder.
pub(crate) fn number(entry: &fs::DirEntry) -> Option<i32> {
    entry.file_name().to_str()?.parse().ok()
}

/// From the lists of children the kernel keeps.
fn by_lists(first: Vec<i32>) -> Vec<i32> {
    let mut found = first;
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        found.extend(listed(pid).unwrap_or_default());
    }
    found
}

/// The children of all threads of a process. Nothing when it is gone or the kernel keeps no such lists.
fn listed(pid: i32) -> Option<Vec<i32>> {
    let mut found = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let list = fs::read_to_string(thread.path().join("children")).ok()?;
        found.extend(list.split_whitespace().filter_map(|number| number.parse::<i32>().ok()));
    }
    Some(found)
}

/// From what every process says of its parent, for kernels without the lists.
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

/// Every process with its parent.
fn pairs() -> Vec<(i32, i32)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let all = entries.flatten().filter_map(|entry| number(&entry));
    all.filter_map(|pid| Some((pid, parent(pid)?))).collect()
}

/// The name before it may hold anything, so what is read comes after its last parenthesis.
fn parent(pid: i32) -> Option<i32> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    line.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{by_lists, by_parents, listed};

    #[test]
    fn both_ways_of_looking_see_the_same() {
        let mut child = std::process::Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let began = std::time::Instant::now();
        while by_parents(pid).is_empty() && began.elapsed().as_secs() < 30 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let lists = by_lists(listed(pid).unwrap());
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
