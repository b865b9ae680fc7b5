use std::time::Duration;

use crate::Retry;

/// The action that a failure asks of the caller. There are thirteen kinds, and none for "other".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Send valid bytes.
    Malformed,
    /// Use another method, version or capability.
    Unsupported,
    /// Fix the arguments.
    Invalid,
    /// Use another name.
    NotFound,
    /// Log in.
    Unauthenticated,
    /// Stop and ask a human.
    Denied,
    /// Do another step first.
    Precondition,
    /// Wait, or request less.
    Exhausted,
    /// Request less, or allow more time.
    Timeout,
    /// None: the caller cancelled the request.
    Cancelled,
    /// Try again later.
    Unavailable,
    /// The tool or the upstream failed. One retry may work.
    Broken,
    /// Report the reference. The failure is a bug in this program.
    Bug,
}

/// The log level of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Expected in normal operation.
    Info,
    /// Needs attention if it repeats.
    Warn,
    /// Needs attention now.
    Error,
}

impl Level {
    /// The name in log lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        }
    }
}

impl Kind {
    /// All kinds, in the order of `docs/errors.md`.
    pub const ALL: [Kind; 13] = [
        Kind::Malformed,
        Kind::Unsupported,
        Kind::Invalid,
        Kind::NotFound,
        Kind::Unauthenticated,
        Kind::Denied,
        Kind::Precondition,
        Kind::Exhausted,
        Kind::Timeout,
        Kind::Cancelled,
        Kind::Unavailable,
        Kind::Broken,
        Kind::Bug,
    ];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Malformed => "malformed",
            Kind::Unsupported => "unsupported",
            Kind::Invalid => "invalid",
            Kind::NotFound => "not_found",
            Kind::Unauthenticated => "unauthenticated",
            Kind::Denied => "denied",
            Kind::Precondition => "precondition",
            Kind::Exhausted => "exhausted",
            Kind::Timeout => "timeout",
            Kind::Cancelled => "cancelled",
            Kind::Unavailable => "unavailable",
            Kind::Broken => "broken",
            Kind::Bug => "bug",
        }
    }

    /// The caller's action as a short imperative.
    pub fn advice(self) -> &'static str {
        match self {
            Kind::Malformed => "resend proper bytes",
            Kind::Unsupported => "use another method, version or capability",
            Kind::Invalid => "fix the arguments",
            Kind::NotFound => "pick another name",
            Kind::Unauthenticated => "log in",
            Kind::Denied => "stop, ask a human",
            Kind::Precondition => "meet the precondition, then try again",
            Kind::Exhausted => "wait, or ask for less",
            Kind::Timeout => "ask for less, or allow more time",
            Kind::Cancelled => "nothing",
            Kind::Unavailable => "come back later",
            Kind::Broken => "try once more, then report it",
            Kind::Bug => "report the reference",
        }
    }

    /// The default retry advice. A fault can override it.
    pub fn retry(self) -> Retry {
        match self {
            Kind::Malformed
            | Kind::Unsupported
            | Kind::Invalid
            | Kind::NotFound
            | Kind::Unauthenticated
            | Kind::Precondition
            | Kind::Timeout => Retry::AfterChange,
            Kind::Denied | Kind::Cancelled | Kind::Bug => Retry::Never,
            Kind::Exhausted => Retry::After(Duration::from_secs(1)),
            Kind::Unavailable => Retry::After(Duration::from_secs(5)),
            Kind::Broken => Retry::Once,
        }
    }

    /// The log level.
    pub fn level(self) -> Level {
        match self {
            Kind::Malformed
            | Kind::Unsupported
            | Kind::Invalid
            | Kind::NotFound
            | Kind::Unauthenticated
            | Kind::Denied
            | Kind::Precondition
            | Kind::Cancelled => Level::Info,
            Kind::Exhausted | Kind::Timeout | Kind::Unavailable | Kind::Broken => Level::Warn,
            Kind::Bug => Level::Error,
        }
    }

    /// Whether the log line is also a security event.
    pub fn concerns_security(self) -> bool {
        matches!(self, Kind::Unauthenticated | Kind::Denied)
    }
}
