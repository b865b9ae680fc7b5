use std::time::Duration;

/// Whether and when the same request can be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The request will fail again.
    Never,
    /// The request will fail again unless it changes.
    AfterChange,
    /// The request may succeed after this time.
    After(Duration),
    /// One retry may succeed. Do not retry twice.
    Once,
}

/// The effect of a failed request. It tells an agent whether a repetition would do the work twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The request changed nothing.
    None,
    /// The change may or may not have happened.
    Unknown,
    /// A part of the change happened.
    Partial,
    /// The whole change happened. Only the response failed.
    Complete,
}

impl Effect {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::None => "none",
            Effect::Unknown => "unknown",
            Effect::Partial => "partial",
            Effect::Complete => "complete",
        }
    }
}

/// The party that caused a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The caller's request.
    Caller,
    /// A rule of the operator.
    Policy,
    /// The called tool server.
    Server,
    /// An upstream of the gateway.
    Upstream,
    /// This program.
    Failwell,
}

impl Origin {
    /// The name on the wire.
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
