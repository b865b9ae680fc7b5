//! System calls a sandboxed child cannot make.

use std::collections::BTreeMap;

use seccompiler::{BackendError, BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch};

use crate::Network;

/// Ways into other processes, other namespaces, the kernel itself, and round the other filters: a ring of io_uring
/// opens sockets without the call for it.
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
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
];

/// On x86_64 every call has a second number.
const X32: i64 = 0x4000_0000;

/// The filter: what is refused fails with EPERM, everything else goes on.
pub(super) fn calls(network: Network) -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let socket: &[i64] = match network {
        Network::Open => &[],
        Network::Closed => &[libc::SYS_socket],
    };
    for call in REFUSED.iter().chain(socket) {
        rules.insert(*call, Vec::new());
        if cfg!(target_arch = "x86_64") {
            rules.insert(*call | X32, Vec::new());
        }
    }
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?.try_into()
}
