use failwell_fault::{Fault, reason};

/// The eight levels of RFC 5424, quietest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// Ordinary life.
    Info,
    /// Worth a note.
    Notice,
    /// Something may be wrong.
    Warning,
    /// Something is wrong.
    Error,
    /// Something important is wrong.
    Critical,
    /// Act now.
    Alert,
    /// Unusable.
    Emergency,
}

impl LogLevel {
    /// Every level, loudest first.
    pub const ALL: [LogLevel; 8] = [
        LogLevel::Debug,
        LogLevel::Info,
        LogLevel::Notice,
        LogLevel::Warning,
        LogLevel::Error,
        LogLevel::Critical,
        LogLevel::Alert,
        LogLevel::Emergency,
    ];

    /// The level as the protocol spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Notice => "notice",
            LogLevel::Warning => "warning",
            LogLevel::Error => "error",
            LogLevel::Critical => "critical",
            LogLevel::Alert => "alert",
            LogLevel::Emergency => "emergency",
        }
    }

    /// Reads a level.
    pub fn parse(text: &str) -> Result<LogLevel, Fault> {
        let found = Self::ALL.into_iter().find(|level| level.as_str() == text);
        found.ok_or_else(|| Fault::new(&reason::MCP_BAD_LOG_LEVEL))
    }

    pub(crate) fn from_index(index: u8) -> LogLevel {
        Self::ALL.get(usize::from(index)).copied().unwrap_or(LogLevel::Info)
    }
}
