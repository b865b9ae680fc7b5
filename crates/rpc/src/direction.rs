//! Which way a message goes, and what it is about: guards are configured by both.

/// The kind of a message, as guards distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a client: a request, a notice, or an answer to a question.
    Request,
    /// The result of a request.
    Result,
    /// The error a request ended in.
    Error,
    /// To a client, without being asked: notices and questions.
    Notice,
}

impl Direction {
    /// All directions.
    pub const ALL: [Direction; 4] =
        [Direction::Request, Direction::Result, Direction::Error, Direction::Notice];

    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Direction::Request => "requests",
            Direction::Result => "results",
            Direction::Error => "errors",
            Direction::Notice => "notices",
        }
    }

    /// The name of one such message in records.
    pub fn looked_at(self) -> &'static str {
        match self {
            Direction::Request => "request",
            Direction::Result => "result",
            Direction::Error => "error",
            Direction::Notice => "notification",
        }
    }

    /// Reads the name of the configuration.
    pub fn parse(name: &str) -> Option<Direction> {
        Direction::ALL.into_iter().find(|direction| direction.as_str() == name)
    }
}

/// The server or tool that a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetName<'a> {
    /// The message is about none, such as a list.
    Nothing,
    /// The message is about one whose name is not known. A guard for some names looks at it.
    Unknown,
    Named(&'a str),
}

impl TargetName<'_> {
    pub fn name(&self) -> &str {
        match self {
            TargetName::Named(name) => name,
            TargetName::Nothing | TargetName::Unknown => "",
        }
    }
}
