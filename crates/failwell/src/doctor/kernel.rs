//! What the Linux kernel offers for keeping children in. Read from its own files; nothing is tried out.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use super::Sight;

/// The most bytes read of any one file of the kernel. The list of symbols is the largest by far.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

pub(super) fn landlock() -> Sight {
    match std::fs::read_to_string("/sys/kernel/security/lsm") {
        Ok(list) if list.split(',').any(|name| name.trim() == "landlock") => Sight::ok("enabled"),
        Ok(list) => Sight::missing(format!("not among: {}", list.trim())),
        // Inside containers the list is often hidden; the symbols still tell whether it was built in.
        Err(_) if has_symbol("sys_landlock_create_ruleset") => {
            Sight::ok("built in (the list of modules is hidden)")
        }
        Err(_) => Sight::missing("the kernel has no such system call"),
    }
}

pub(super) fn seccomp() -> Sight {
    match std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail") {
        Ok(actions) if actions.split_whitespace().any(|action| action == "errno") => {
            Sight::ok("filters available")
        }
        _ => match std::fs::read_to_string("/proc/self/status") {
            Ok(status) if status.contains("\nSeccomp:") => Sight::ok("available"),
            _ => Sight::missing("the kernel does not mention it"),
        },
    }
}

pub(super) fn user_namespaces() -> Sight {
    let switches = [
        ("/proc/sys/kernel/unprivileged_userns_clone", 1),
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0),
    ];
    for (path, wanted) in switches {
        if number_in(path).is_some_and(|number| number != wanted) {
            return Sight::missing(format!("switched off in {path}"));
        }
    }
    match number_in("/proc/sys/user/max_user_namespaces") {
        Some(0) => Sight::missing("switched off in /proc/sys/user/max_user_namespaces"),
        Some(most) => Sight::ok(format!("up to {most}")),
        None => Sight::missing("the kernel has none"),
    }
}

pub(super) fn pidfd() -> Sight {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<u32>().unwrap_or(0));
    match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) if (major, minor) >= (5, 4) => Sight::ok(format!("kernel {release}")),
        (Some(major), Some(_)) if major > 0 => Sight::old(format!("kernel {release}, needs 5.4 or newer")),
        _ => Sight::missing("the kernel does not say its version"),
    }
}

fn number_in(path: &str) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn has_symbol(name: &str) -> bool {
    let Ok(symbols) = File::open("/proc/kallsyms") else { return false };
    BufReader::new(symbols.take(MOST_BYTES)).lines().map_while(Result::ok).any(|line| line.contains(name))
}
