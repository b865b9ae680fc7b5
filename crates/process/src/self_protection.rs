//! Keeps children from reading this program: its environment and its memory.

/// Clears the environment block and forbids other processes to trace this one. Call it first in `main`: there must be
/// no other thread.
///
/// A process of the same user then can read neither. A child of root could, with `CAP_SYS_PTRACE`, which supervisors
/// give up.
pub fn protect_self() {
    #[cfg(target_os = "linux")]
    {
        // Without /proc no child can read the block either.
        let _ = crate::environment_block::clear();
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    }
}

/// Gives up the capability to read other processes, for this process and all that it starts. `no_new_privs` keeps a
/// program of root from getting it back.
#[cfg(target_os = "linux")]
pub(crate) fn give_up_tracing() {
    use rustix::thread::{
        CapabilitySet, capabilities, remove_capability_from_bounding_set, set_capabilities,
    };

    // Only root has the capability, and only root may change the bounding set.
    let _ = remove_capability_from_bounding_set(CapabilitySet::SYS_PTRACE);
    if let Ok(mut sets) = capabilities(None) {
        for set in [&mut sets.effective, &mut sets.permitted, &mut sets.inheritable] {
            set.remove(CapabilitySet::SYS_PTRACE);
        }
        let _ = set_capabilities(None, sets);
    }
}
