/// What this machine offers for keeping children in. Each missing part is a promise that is not kept here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Containment {
    /// Everything a child starts is found and ended, daemons included. Otherwise only its process group is.
    pub subreaper: bool,
    /// A child's end is waited for without looking again and again.
    pub pidfd: bool,
    /// The version of Landlock's rules the kernel knows: files and folders can be closed to a child.
    pub landlock: Option<u32>,
    /// System calls can be closed to a child, the network's among them.
    pub seccomp: bool,
    /// A user may make namespaces of its own.
    pub user_namespaces: bool,
    /// A child can have mounts of its own: outside the folders it may write to, it cannot change modes, owners, times and
    /// attributes of files either.
    pub mount_namespaces: bool,
}

/// Asks the kernel itself. Nothing is changed by it.
#[cfg(target_os = "linux")]
pub fn containment() -> Containment {
    use rustix::process::{PidfdFlags, child_subreaper, getpid, pidfd_open};

    Containment {
        subreaper: child_subreaper().is_ok(),
        pidfd: pidfd_open(getpid(), PidfdFlags::empty()).is_ok(),
        landlock: landlock(),
        seccomp: seccomp(),
        user_namespaces: user_namespaces(),
        mount_namespaces: crate::supervisor::mount_namespaces(),
    }
}

/// Elsewhere there is the process group, and nothing else.
#[cfg(not(target_os = "linux"))]
pub fn containment() -> Containment {
    Containment {
        subreaper: false,
        pidfd: false,
        landlock: None,
        seccomp: false,
        user_namespaces: false,
        mount_namespaces: false,
    }
}

/// The newest version whose rules the kernel takes. Versions above the sixth add no rules.
#[cfg(target_os = "linux")]
pub(crate) fn landlock() -> Option<u32> {
    use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};

    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let files = |abi| strict().handle_access(AccessFs::from_all(abi)).and_then(Ruleset::create).is_ok();
    let network = |abi| strict().handle_access(AccessNet::from_all(abi)).and_then(Ruleset::create).is_ok();
    let scopes = |abi| strict().scope(Scope::from_all(abi)).and_then(Ruleset::create).is_ok();
    let versions = [
        (1, files(ABI::V1)),
        (2, files(ABI::V2)),
        (3, files(ABI::V3)),
        (4, network(ABI::V4)),
        (5, files(ABI::V5)),
        (6, scopes(ABI::V6)),
    ];
    versions.into_iter().rfind(|(_, there)| *there).map(|(version, _)| version)
}

#[cfg(target_os = "linux")]
pub(crate) fn seccomp() -> bool {
    let known = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail").unwrap_or_default();
    let architecture = seccompiler::TargetArch::try_from(std::env::consts::ARCH).is_ok();
    architecture && known.split_whitespace().any(|action| action == "errno")
}

#[cfg(target_os = "linux")]
fn user_namespaces() -> bool {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    number("/proc/sys/kernel/unprivileged_userns_clone") != Some(0)
        && number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").unwrap_or(0) == 0
        && number("/proc/sys/user/max_user_namespaces").unwrap_or(0) > 0
}
