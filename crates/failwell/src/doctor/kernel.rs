//! Kernel features for the sandbox. `process`, which uses them, detects them.

use failwell_process::containment;

use super::CheckOutcome;

pub(super) fn landlock() -> CheckOutcome {
    match containment().landlock {
        Some(version) => CheckOutcome::ok(format!("rules of version {version}")),
        None => CheckOutcome::missing("the kernel takes no rules"),
    }
}

pub(super) fn seccomp() -> CheckOutcome {
    there(
        containment().seccomp,
        "filters available",
        "the kernel takes no filters, or none are known for this processor",
    )
}

pub(super) fn user_namespaces() -> CheckOutcome {
    there(
        containment().user_namespaces,
        "allowed",
        "the kernel has none, or they are switched off in /proc/sys",
    )
}

pub(super) fn mount_namespaces() -> CheckOutcome {
    there(
        containment().mount_namespaces,
        "available",
        "this user may not mount, neither with its own rights nor in a user namespace",
    )
}

pub(super) fn subreaper() -> CheckOutcome {
    there(containment().subreaper, "available", "the kernel refuses")
}

pub(super) fn pidfd() -> CheckOutcome {
    there(containment().pidfd, "available", "the kernel refuses")
}

fn there(is_there: bool, found: &str, lacking: &str) -> CheckOutcome {
    if is_there { CheckOutcome::ok(found) } else { CheckOutcome::missing(lacking) }
}
