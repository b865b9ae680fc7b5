use failwell_fault::{Fault, reason};

/// The eight severities of RFC 5424, from least to most severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LogLevel {
    /// Debugging details.
    Debug,
    /// Normal operation.
    Info,
    /// A normal but significant event.
    Notice,
    /// A possible problem.
    Warning,
    /// An error.
    Error,
    /// A critical condition.
    Critical,
    /// A condition that needs immediate action.
    Alert,
    /// The system is unusable.
    Emergency,
}

impl LogLevel {
    /// All levels, least severe first.
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

    /// Parses a level in the protocol's spelling.
    pub fn parse(text: &str) -> Result<LogLevel, Fault> {
        let found = Self::ALL.into_iter().find(|level| level.as_str() == text);
        found.ok_or_else(|| Fault::new(&reason::MCP_BAD_LOG_LEVEL))
    }

    /// Returns the level at this index, counted from the least severe.
    pub fn from_index(index: u8) -> LogLevel {
        Self::ALL.get(usize::from(index)).copied().unwrap_or(LogLevel::Info)
    }
}
