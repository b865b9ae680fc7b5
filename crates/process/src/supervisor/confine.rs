//! The sandbox. The supervisor prepares it, and the child enters it between fork and exec.

#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod mounts;

#[cfg(target_os = "linux")]
pub(crate) use filter::no_exec;
#[cfg(target_os = "linux")]
pub(super) use linux::{SandboxEntry, prepare};
#[cfg(target_os = "linux")]
pub(crate) use mounts::are_to_be_had as mount_namespaces;
#[cfg(not(target_os = "linux"))]
pub(super) use other::{NoSandbox as SandboxEntry, prepare};

/// The mounts of a child with writable folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MountView {
    /// A private mount namespace in which only the writable folders are writable.
    Own,
    /// The supervisor's mounts, if the kernel allows no namespace.
    Shared,
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
        RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
    };
    use seccompiler::BpfProgram;

    use super::MountView;
    use super::filter::{self, Metadata};
    use super::mounts::{ReadOnlyMounts, Writable};
    use crate::protocol::{SpawnError, SpawnStep};
    use crate::sandbox::Confinement;
    use crate::{Network, SandboxNeed};

    /// The newest rules that this program uses. Older kernels enforce the subset they support.
    const RULES: ABI = ABI::V6;

    /// A prepared sandbox. Mounts are entered first, because the other parts forbid mounting.
    pub(crate) struct SandboxEntry {
        mounts: Option<ReadOnlyMounts>,
        files: Option<RulesetCreated>,
        calls: Option<BpfProgram>,
    }

    impl SandboxEntry {
        /// Whether the child gets its own mounts.
        pub(crate) fn has_own_mounts(&self) -> bool {
            self.mounts.is_some()
        }

        pub(crate) fn enter_mounts(&self) -> io::Result<()> {
            self.mounts.as_ref().map_or(Ok(()), ReadOnlyMounts::enter)
        }

        /// Irreversible for this process and its descendants.
        pub(crate) fn enter(&mut self) -> io::Result<()> {
            if let Some(files) = self.files.take() {
                files.restrict_self().map_err(io::Error::other)?;
            }
            if let Some(calls) = &self.calls {
                seccompiler::apply_filter(calls).map_err(io::Error::other)?;
            }
            Ok(())
        }
    }

    pub(crate) fn prepare(confinement: &Confinement, view: MountView) -> Result<SandboxEntry, SpawnError> {
        let refuse = |message: String| SpawnError { step: SpawnStep::Sandbox, errno: None, message };
        let has_landlock = crate::containment::landlock().is_some();
        let (mounts, metadata) = match (Writable::among(&confinement.write), view) {
            (Writable::Nothing, _) => (None, Metadata::Closed),
            (Writable::Everything, _) => (None, Metadata::Open),
            (Writable::Places(places), MountView::Own) => {
                (Some(ReadOnlyMounts::but_for(places)), Metadata::Open)
            }
            (Writable::Places(_), MountView::Shared) => (None, Metadata::Harmless),
        };
        let (files, calls) = (files(confinement), filter::calls(confinement.network, metadata));
        match confinement.need {
            SandboxNeed::BestEffort => {
                Ok(SandboxEntry { mounts, files: files.ok().filter(|_| has_landlock), calls: calls.ok() })
            }
            SandboxNeed::Required if !has_landlock => Err(refuse("the kernel has no Landlock".to_owned())),
            SandboxNeed::Required => Ok(SandboxEntry {
                mounts,
                files: Some(files.map_err(|error| refuse(error.to_string()))?),
                calls: Some(calls.map_err(|error| refuse(error.to_string()))?),
            }),
        }
    }

    fn files(confinement: &Confinement) -> Result<RulesetCreated, RulesetError> {
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(RULES))?
            .scope(Scope::from_all(RULES))?;
        if confinement.network == Network::Closed {
            rules = rules.handle_access(AccessNet::from_all(RULES))?;
        }
        // A device node of a disk, created by root, would give access to all of its files.
        let devices: BitFlags<AccessFs> = AccessFs::MakeBlock | AccessFs::MakeChar;
        rules
            .create()?
            .add_rules(path_beneath_rules(&confinement.read, AccessFs::from_read(RULES)))?
            .add_rules(path_beneath_rules(&confinement.write, AccessFs::from_all(RULES) & !devices))
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::io;

    use super::MountView;
    use crate::SandboxNeed;
    use crate::protocol::{SpawnError, SpawnStep};
    use crate::sandbox::Confinement;

    /// This system has no sandbox.
    pub(crate) struct NoSandbox;

    impl NoSandbox {
        pub(crate) fn has_own_mounts(&self) -> bool {
            false
        }

        pub(crate) fn enter_mounts(&self) -> io::Result<()> {
            Ok(())
        }

        pub(crate) fn enter(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(crate) fn prepare(confinement: &Confinement, _: MountView) -> Result<NoSandbox, SpawnError> {
        let message = "this system has no Landlock".to_owned();
        match confinement.need {
            SandboxNeed::BestEffort => Ok(NoSandbox),
            SandboxNeed::Required => Err(SpawnError { step: SpawnStep::Sandbox, errno: None, message }),
        }
    }
}
