use std::time::Duration;

/// Whether, and when, the same request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// It will fail again.
    Never,
    /// It will fail again unless the request changes.
    AfterChange,
    /// It may work after this long.
    After(Duration),
    /// It may work once more; not a third time.
    Once,
}

/// What the failed request did to the world, so that an agent does not do it twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing was changed.
    None,
    /// It may or may not have happened.
    Unknown,
    /// Some of it happened.
    Partial,
    /// All of it happened; only the answer failed.
    Complete,
}

impl Effect {
    /// The effect as it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::None => "none",
            Effect::Unknown => "unknown",
            Effect::Partial => "partial",
            Effect::Complete => "complete",
        }
    }
}

/// Whose doing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The caller's request.
    Caller,
    /// A rule the operator set.
    Policy,
    /// The tool server that was asked.
    Server,
    /// A server behind the gateway.
    Upstream,
    /// This program.
    Failwell,
}

impl Origin {
    /// The origin as it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Caller => "caller",
            Origin::Policy => "policy",
            Origin::Server => "server",
            Origin::Upstream => "upstream",
            Origin::Failwell => "failwell",
        }
    }
}
