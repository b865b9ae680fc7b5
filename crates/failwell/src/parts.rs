//! The parts of the program that a small build leaves out. Each is a cargo feature.

#[cfg(not(all(feature = "emulators", feature = "probe", feature = "postgres")))]
use crate::complaint::Complaint;

/// An optional part of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// The name in sentences.
    pub(crate) name: &'static str,
    /// The cargo feature that adds it.
    pub(crate) feature: &'static str,
    pub(crate) is_built: bool,
}

pub(crate) const CEDAR: Part = Part { name: "Cedar", feature: "cedar", is_built: cfg!(feature = "cedar") };
pub(crate) const WASM: Part = Part { name: "WebAssembly", feature: "wasm", is_built: cfg!(feature = "wasm") };
pub(crate) const POSTGRES: Part =
    Part { name: "PostgreSQL", feature: "postgres", is_built: cfg!(feature = "postgres") };
pub(crate) const KEYRING: Part =
    Part { name: "the system's keyring", feature: "keyring", is_built: cfg!(feature = "keyring") };
#[cfg(not(feature = "emulators"))]
pub(crate) const EMULATORS: Part = Part { name: "emulators", feature: "emulators", is_built: false };
#[cfg(not(feature = "probe"))]
pub(crate) const PROBE: Part = Part { name: "the probe", feature: "probe", is_built: false };

impl Part {
    /// The problem of a file or command that needs an absent part.
    pub(crate) fn absence(self) -> String {
        format!("{} is not in this build: it was built without the feature `{}`", self.name, self.feature)
    }

    /// The command that adds the part.
    pub(crate) fn help(self) -> String {
        format!("add it with: ./x install {}", self.feature)
    }

    /// The complaint of a command that needs an absent part.
    #[cfg(not(all(feature = "emulators", feature = "probe", feature = "postgres")))]
    pub(crate) fn complaint(self, command: &str) -> Complaint {
        Complaint::new(format!("{command} cannot run: {}", self.absence()), self.help())
    }
}
