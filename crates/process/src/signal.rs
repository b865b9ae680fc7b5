use std::fmt;

use serde::{Deserialize, Serialize};

/// A signal, identified by its name. Numbers differ between systems.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Signal(i32);

macro_rules! signals {
    ($($name:ident)*) => {
        const NAMES: &[(i32, &str)] = &[
            $((rustix::process::Signal::$name.as_raw(), concat!("SIG", stringify!($name)))),*
        ];
    };
}

signals! {
    HUP INT QUIT ILL TRAP ABORT BUS FPE KILL USR1 SEGV USR2 PIPE ALARM TERM CHILD CONT STOP TSTP TTIN TTOU URG
    XCPU XFSZ VTALARM PROF WINCH IO SYS
}

/// Names that differ from those of rustix.
const USUAL: &[(&str, &str)] =
    &[("SIGABORT", "SIGABRT"), ("SIGALARM", "SIGALRM"), ("SIGCHILD", "SIGCHLD"), ("SIGVTALARM", "SIGVTALRM")];

impl Signal {
    pub const HUP: Signal = Signal(rustix::process::Signal::HUP.as_raw());
    pub const INT: Signal = Signal(rustix::process::Signal::INT.as_raw());
    pub const TERM: Signal = Signal(rustix::process::Signal::TERM.as_raw());
    pub const KILL: Signal = Signal(rustix::process::Signal::KILL.as_raw());
    pub const USR1: Signal = Signal(rustix::process::Signal::USR1.as_raw());
    pub const USR2: Signal = Signal(rustix::process::Signal::USR2.as_raw());
    /// CPU time limit exceeded.
    pub const XCPU: Signal = Signal(rustix::process::Signal::XCPU.as_raw());

    /// Parses a name with or without `SIG`, in any case.
    pub fn parse(name: &str) -> Option<Signal> {
        let upper = name.trim().to_ascii_uppercase();
        let full = if upper.starts_with("SIG") { upper } else { format!("SIG{upper}") };
        NAMES.iter().find(|(_, known)| usual(known) == full).map(|(number, _)| Signal(*number))
    }

    /// The name. All signals without a name of their own are called `SIGRT`.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(number, _)| *number == self.0).map_or("SIGRT", |(_, name)| usual(name))
    }

    /// The number on this system.
    pub fn number(self) -> i32 {
        self.0
    }

    pub(crate) fn from_number(number: i32) -> Signal {
        Signal(number)
    }

    pub(crate) fn raw(self) -> Option<rustix::process::Signal> {
        rustix::process::Signal::from_named_raw(self.0)
    }
}

fn usual(name: &'static str) -> &'static str {
    USUAL.iter().find(|(unusual, _)| *unusual == name).map_or(name, |(_, usual)| usual)
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMES, Signal};

    #[test]
    fn names_go_both_ways() {
        for (number, _) in NAMES {
            let signal = Signal::from_number(*number);
            assert_eq!(Signal::parse(signal.name()), Some(signal), "{signal}");
        }
        for (text, name) in
            [("term", "SIGTERM"), ("SIGABRT", "SIGABRT"), ("sigchld", "SIGCHLD"), ("ALRM", "SIGALRM")]
        {
            assert_eq!(Signal::parse(text).map(Signal::name), Some(name));
        }
        for wrong in ["", "SIG", "SIGABORT", "9", "SIGNOTHING"] {
            assert_eq!(Signal::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Signal::from_number(40).name(), "SIGRT");
    }
}
