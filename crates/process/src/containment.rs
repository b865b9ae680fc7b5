/// The kernel's features for the containment of children. A missing feature weakens the guarantee that it
/// describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Containment {
    /// All descendants of a child are found and ended, daemons included. Without it, only the process group
    /// is.
    pub subreaper: bool,
    /// The supervisor waits for the child's end without polling.
    pub pidfd: bool,
    /// The version of Landlock rules that the kernel supports. Landlock denies access to files and folders.
    pub landlock: Option<u32>,
    /// Seccomp denies system calls, including those of the network.
    pub seccomp: bool,
    /// An unprivileged user can create namespaces.
    pub user_namespaces: bool,
    /// A child can have its own mounts. Outside of its writable folders it then cannot change modes, owners,
    /// times and attributes of files either.
    pub mount_namespaces: bool,
}

/// Detects the features by asking the kernel. The detection changes nothing.
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

/// Other systems only have process groups.
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

/// The newest version of rules that the kernel accepts. Versions above 6 add no rules.
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
