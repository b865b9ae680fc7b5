//! System calls that a sandboxed child cannot make.

use std::collections::BTreeMap;

use seccompiler::SeccompCmpArgLen::Dword;
use seccompiler::SeccompCmpOp::{Eq, Gt, Lt, MaskedEq};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

use crate::Network;

/// Calls that reach other processes, other namespaces or the kernel, or bypass other filters: io_uring opens
/// sockets without the `socket` call.
const REFUSED: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_open_by_handle_at,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
];

/// Calls without a libc constant on all supported architectures. Calls added since 2019 have the same number
/// everywhere.
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;

/// Calls that change owners and attributes of any kind.
const OWNERS_AND_ATTRIBUTES: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// Calls that change modes, each with the index of its mode argument.
const MODES: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
];

const TIMES: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_utimensat,
];

/// FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR and FS_IOC_SETVERSION.
const ATTRIBUTE_REQUESTS: [u64; 3] = [0x4008_6602, 0x401c_5820, 0x4008_7602];

/// Requests to terminals, pipes and descriptors of any kind. All others concern devices and file systems.
const HARMLESS_REQUESTS: std::ops::RangeInclusive<u64> = 0x5400..=0x54ff;

/// These mode bits give a program more rights than its caller has.
const SET_USER: u64 = 0o4000;
const SET_GROUP: u64 = 0o2000;

/// On x86_64 every call has a second number for the x32 ABI. A few of them do not follow the usual offset.
#[cfg(target_arch = "x86_64")]
fn second_number(call: i64) -> Option<i64> {
    let number = match call {
        libc::SYS_ioctl => 514,
        libc::SYS_execve => 520,
        libc::SYS_ptrace => 521,
        libc::SYS_kexec_load => 528,
        libc::SYS_process_vm_readv => 539,
        libc::SYS_process_vm_writev => 540,
        libc::SYS_execveat => 545,
        same => same,
    };
    Some(number | 0x4000_0000)
}

#[cfg(not(target_arch = "x86_64"))]
fn second_number(_: i64) -> Option<i64> {
    None
}

/// The changes of modes, owners, times and attributes that seccomp allows. It sees no paths, so it applies to
/// all files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metadata {
    /// None.
    Closed,
    /// Times, and modes without the set-user and set-group bits.
    Harmless,
    /// All. The mounts protect files outside of the writable folders.
    Open,
}

/// The filter. Refused calls fail with EPERM, all others are allowed.
pub(super) fn calls(network: Network, metadata: Metadata) -> Result<BpfProgram, BackendError> {
    let mut rules = Rules::default();
    rules.refuse_all(REFUSED);
    if network == Network::Closed {
        rules.refuse_all(&[libc::SYS_socket]);
    }
    match metadata {
        Metadata::Open => {}
        Metadata::Harmless => {
            rules.refuse_all(OWNERS_AND_ATTRIBUTES);
            for (call, place) in MODES {
                let bits = [SET_USER, SET_GROUP];
                rules.refuse_some(*call, bits.map(|bit| (*place, MaskedEq(bit), bit)))?;
            }
            rules.refuse_some(libc::SYS_ioctl, ATTRIBUTE_REQUESTS.map(|request| (1, Eq, request)))?;
        }
        Metadata::Closed => {
            rules.refuse_all(OWNERS_AND_ATTRIBUTES);
            rules.refuse_all(TIMES);
            for (call, _) in MODES {
                rules.refuse_all(&[*call]);
            }
            let (first, last) = (*HARMLESS_REQUESTS.start(), *HARMLESS_REQUESTS.end());
            rules.refuse_some(libc::SYS_ioctl, [(1, Lt, first), (1, Gt, last)])?;
        }
    }
    rules.compiled()
}

/// Forbids exec. See `no_exec_filter`.
pub(crate) fn no_exec() -> Option<Vec<u8>> {
    let mut rules = Rules::default();
    rules.refuse_all(&[libc::SYS_execve, libc::SYS_execveat]);
    let program = rules.compiled().ok()?;
    let bytes = |step: &seccompiler::sock_filter| {
        let ([code, more], [a, b, c, d]) = (step.code.to_ne_bytes(), step.k.to_ne_bytes());
        [code, more, step.jt, step.jf, a, b, c, d]
    };
    Some(program.iter().flat_map(bytes).collect())
}

#[derive(Default)]
struct Rules(BTreeMap<i64, Vec<SeccompRule>>);

impl Rules {
    fn refuse_all(&mut self, calls: &[i64]) {
        for call in calls {
            self.insert(*call, &[]);
        }
    }

    /// Refuses a call if one of these conditions holds: argument index, comparison, value.
    fn refuse_some<const N: usize>(
        &mut self,
        call: i64,
        tests: [(u8, SeccompCmpOp, u64); N],
    ) -> Result<(), BackendError> {
        let rule =
            |(place, how, value)| SeccompRule::new(vec![SeccompCondition::new(place, Dword, how, value)?]);
        let rules = tests.into_iter().map(rule).collect::<Result<Vec<_>, _>>()?;
        self.insert(call, &rules);
        Ok(())
    }

    fn insert(&mut self, call: i64, rules: &[SeccompRule]) {
        for number in std::iter::once(call).chain(second_number(call)) {
            self.0.insert(number, rules.to_vec());
        }
    }

    fn compiled(self) -> Result<BpfProgram, BackendError> {
        let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
        SeccompFilter::new(self.0, SeccompAction::Allow, refuse, architecture)?.try_into()
    }
}
