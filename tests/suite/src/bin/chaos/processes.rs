//! The processes of a chaos run, read from `/proc`.

use std::collections::HashSet;
use std::fs;

/// One process: its id and start time, because ids are reused.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    began: String,
    parent: i32,
    state: char,
}

#[derive(Debug)]
pub(crate) struct Processes(HashSet<Process>);

impl Processes {
    /// All descendants of a process.
    pub(crate) fn below(pid: i32) -> Processes {
        let all = all();
        let mut below: HashSet<i32> = HashSet::from([pid]);
        loop {
            let more: Vec<i32> = all
                .iter()
                .filter(|process| below.contains(&process.parent) && !below.contains(&process.pid))
                .map(|process| process.pid)
                .collect();
            if more.is_empty() {
                break;
            }
            below.extend(more);
        }
        below.remove(&pid);
        Processes(all.into_iter().filter(|process| below.contains(&process.pid)).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn pids(&self) -> Vec<i32> {
        let mut pids: Vec<i32> = self.0.iter().map(|process| process.pid).collect();
        pids.sort_unstable();
        pids
    }

    /// Those that still run.
    pub(crate) fn alive(&self) -> Vec<Process> {
        let same = |a: &Process, b: &Process| a.pid == b.pid && a.began == b.began;
        all().into_iter().filter(|now| self.0.iter().any(|then| same(now, then))).collect()
    }
}

fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn process(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The process name may contain spaces; the other fields begin after its last parenthesis.
    let fields: Vec<&str> = stat.get(stat.rfind(')')? + 2..)?.split(' ').collect();
    let state = fields.first()?.chars().next()?;
    let (parent, began) = (fields.get(1)?.parse().ok()?, (*fields.get(19)?).to_owned());
    Some(Process { pid, began, parent, state })
}

/// All processes with this marker in their environment.
pub(crate) fn marked(mark: &str) -> Vec<i32> {
    let holds = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry.ends_with(format!("={mark}").as_bytes()))
    };
    all().into_iter().map(|process| process.pid).filter(holds).collect()
}

/// The zombie children of a process.
pub(crate) fn zombies(parent: i32) -> usize {
    all().iter().filter(|process| process.parent == parent && process.state == 'Z').count()
}

/// Memory in use, in KiB.
pub(crate) fn resident(pid: i32) -> u64 {
    status(pid, "VmRSS:")
}

/// The most memory ever in use, in KiB.
pub(crate) fn most_resident(pid: i32) -> u64 {
    status(pid, "VmHWM:")
}

fn status(pid: i32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
