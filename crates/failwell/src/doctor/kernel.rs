//! Kernel features for the sandbox. `process`, which uses them, detects them.

use failwell_process::containment;

use super::Sight;

pub(super) fn landlock() -> Sight {
    match containment().landlock {
        Some(version) => Sight::ok(format!("rules of version {version}")),
        None => Sight::missing("the kernel takes no rules"),
    }
}

pub(super) fn seccomp() -> Sight {
    there(
        containment().seccomp,
        "filters available",
        "the kernel takes no filters, or none are known for this processor",
    )
}

pub(super) fn user_namespaces() -> Sight {
    there(
        containment().user_namespaces,
        "allowed",
        "the kernel has none, or they are switched off in /proc/sys",
    )
}

pub(super) fn mount_namespaces() -> Sight {
    there(
        containment().mount_namespaces,
        "available",
        "this user may not mount, neither with its own rights nor in a user namespace",
    )
}

pub(super) fn subreaper() -> Sight {
    there(containment().subreaper, "available", "the kernel refuses")
}

pub(super) fn pidfd() -> Sight {
    there(containment().pidfd, "available", "the kernel refuses")
}

fn there(is_there: bool, found: &str, lacking: &str) -> Sight {
    if is_there { Sight::ok(found) } else { Sight::missing(lacking) }
}
