/// A tool server that is part of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Builtin {
    Device,
    Demo,
    Pytest,
    Symbolic,
    Tasks,
}

impl Builtin {
    /// All of them, in the order of listings.
    pub(crate) const ALL: [Builtin; 5] =
        [Builtin::Device, Builtin::Demo, Builtin::Pytest, Builtin::Symbolic, Builtin::Tasks];

    /// Served without a configuration: the server that needs nothing of the machine.
    pub(crate) const USUAL: [Builtin; 1] = [Builtin::Demo];

    /// Its name in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Builtin::Device => "device",
            Builtin::Demo => "lobby",
            Builtin::Pytest => "pytest",
            Builtin::Symbolic => "symbolic",
            Builtin::Tasks => "tasks",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Builtin> {
        Builtin::ALL.into_iter().find(|server| server.name() == name)
    }
}
