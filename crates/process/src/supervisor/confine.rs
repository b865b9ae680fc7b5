//! The sandbox: prepared in the supervisor, entered by the child before it becomes the program.

#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod mounts;

#[cfg(target_os = "linux")]
pub(crate) use filter::no_exec;
#[cfg(target_os = "linux")]
pub(super) use linux::{Confined, prepare};
#[cfg(target_os = "linux")]
pub(crate) use mounts::are_to_be_had as mount_namespaces;
#[cfg(not(target_os = "linux"))]
pub(super) use other::{Confined, prepare};

/// Which mounts a child sees whose sandbox has writable folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MountView {
    /// Its own, in a namespace where the writable folders alone are writable.
    Own,
    /// Those of the supervisor, where the kernel gives no namespace.
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
    use crate::letters::{Refusal, Step};
    use crate::sandbox::Confinement;
    use crate::{Need, Network};

    /// The newest rules we know. Older kernels enforce those they know.
    const RULES: ABI = ABI::V6;

    /// A sandbox that is ready to be entered: first its mounts, last the rest, which forbids to mount.
    pub(crate) struct Confined {
        mounts: Option<ReadOnlyMounts>,
        files: Option<RulesetCreated>,
        calls: Option<BpfProgram>,
    }

    impl Confined {
        /// Whether the child leaves the mounts of its supervisor.
        pub(crate) fn has_own_mounts(&self) -> bool {
            self.mounts.is_some()
        }

        pub(crate) fn enter_mounts(&self) -> io::Result<()> {
            self.mounts.as_ref().map_or(Ok(()), ReadOnlyMounts::enter)
        }

        /// There is no way back, for this process and all it starts.
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

    pub(crate) fn prepare(confinement: &Confinement, view: MountView) -> Result<Confined, Refusal> {
        let refuse = |said: String| Refusal { step: Step::Sandbox, errno: None, said };
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
            Need::BestEffort => {
                Ok(Confined { mounts, files: files.ok().filter(|_| has_landlock), calls: calls.ok() })
            }
            Need::Required if !has_landlock => Err(refuse("the kernel has no Landlock".to_owned())),
            Need::Required => Ok(Confined {
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
        // A node that root makes for a disk leads to every file on it.
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
    use crate::Need;
    use crate::letters::{Refusal, Step};
    use crate::sandbox::Confinement;

    /// Nothing: this system has no sandbox of ours.
    pub(crate) struct Confined;

    impl Confined {
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

    pub(crate) fn prepare(confinement: &Confinement, _: MountView) -> Result<Confined, Refusal> {
        let said = "this system has no Landlock".to_owned();
        match confinement.need {
            Need::BestEffort => Ok(Confined),
            Need::Required => Err(Refusal { step: Step::Sandbox, errno: None, said }),
        }
    }
}
