use std::time::Duration;

use crate::Retry;

/// What the caller should do about a failure. Thirteen answers, and no "other".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Resend proper bytes.
    Malformed,
    /// Use another method, version or capability.
    Unsupported,
    /// Fix the arguments.
    Invalid,
    /// Pick another name.
    NotFound,
    /// Log in.
    Unauthenticated,
    /// Stop and ask a human.
    Denied,
    /// Do something else first.
    Precondition,
    /// Wait, or ask for less.
    Exhausted,
    /// Ask for less, or allow more time.
    Timeout,
    /// Nothing: the caller called it off.
    Cancelled,
    /// Come back later.
    Unavailable,
    /// The tool or the upstream misbehaved; once more may work.
    Broken,
    /// Report the reference: this one is ours.
    Bug,
}

/// How loudly the operator hears of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Ordinary life.
    Info,
    /// Worth a look when it repeats.
    Warn,
    /// Worth a look now.
    Error,
}

impl Level {
    /// The level as log readers spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        }
    }
}

impl Kind {
    /// Every kind, in the order of the design's table.
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

    /// The kind as it is written on the wire.
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

    /// What the caller should do, as a short imperative.
    pub fn advice(self) -> &'static str {
        match self {
            Kind::Malformed => "resend proper bytes",
            Kind::Unsupported => "use another method, version or capability",
            Kind::Invalid => "fix the arguments",
            Kind::NotFound => "pick another name",
            Kind::Unauthenticated => "log in",
            Kind::Denied => "stop, ask a human",
            Kind::Precondition => "do what is asked first",
            Kind::Exhausted => "wait, or ask for less",
            Kind::Timeout => "ask for less, or allow more time",
            Kind::Cancelled => "nothing",
            Kind::Unavailable => "come back later",
            Kind::Broken => "try once more, then report it",
            Kind::Bug => "report the reference",
        }
    }

    /// Whether trying again makes sense, unless the fault itself knows better.
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

    /// How loudly to log it.
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

    /// Whether the line belongs to the security story too.
    pub fn concerns_security(self) -> bool {
        matches!(self, Kind::Unauthenticated | Kind::Denied)
    }
}
