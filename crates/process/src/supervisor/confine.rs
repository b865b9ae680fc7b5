//! The sandbox: prepared in the supervisor, entered by the child before it becomes the program.

#[cfg(target_os = "linux")]
mod filter;

#[cfg(target_os = "linux")]
pub(super) use linux::{Confined, prepare};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{Confined, prepare};

#[cfg(target_os = "linux")]
mod linux {
    use std::io;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
        RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
    };
    use seccompiler::BpfProgram;

    use super::filter;
    use crate::letters::{Refusal, Step};
    use crate::sandbox::Confinement;
    use crate::{Need, Network};

    /// The newest rules we know. Older kernels enforce those they know.
    const RULES: ABI = ABI::V6;

    /// A sandbox that is ready to be entered.
    pub(crate) struct Confined {
        files: Option<RulesetCreated>,
        calls: Option<BpfProgram>,
    }

    impl Confined {
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

    pub(crate) fn prepare(confinement: Confinement) -> Result<Confined, Refusal> {
        let refuse = |said: String| Refusal { step: Step::Sandbox, errno: None, said };
        let has_landlock = crate::containment::landlock().is_some();
        let (files, calls) = (files(&confinement), filter::calls(confinement.network));
        match confinement.need {
            Need::BestEffort => {
                Ok(Confined { files: files.ok().filter(|_| has_landlock), calls: calls.ok() })
            }
            Need::Required if !has_landlock => Err(refuse("the kernel has no Landlock".to_owned())),
            Need::Required => Ok(Confined {
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
        rules
            .create()?
            .add_rules(path_beneath_rules(&confinement.read, AccessFs::from_read(RULES)))?
            .add_rules(path_beneath_rules(&confinement.write, AccessFs::from_all(RULES)))
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::io;

    use crate::Need;
    use crate::letters::{Refusal, Step};
    use crate::sandbox::Confinement;

    /// Nothing: this system has no sandbox of ours.
    pub(crate) struct Confined;

    impl Confined {
        pub(crate) fn enter(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(crate) fn prepare(confinement: Confinement) -> Result<Confined, Refusal> {
        let said = "this system has no Landlock".to_owned();
        match confinement.need {
            Need::BestEffort => Ok(Confined),
            Need::Required => Err(Refusal { step: Step::Sandbox, errno: None, said }),
        }
    }
}
