use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;

/// Why there is no response, by how far the request got.
#[derive(Debug)]
pub enum SendError {
    /// No byte of the request left this machine.
    NotSent(io::Error),
    /// The request was sent, and the connection closed before the response was complete.
    ConnectionLost(io::Error),
    /// The request was sent, and the response was not complete at the deadline. The server may still be working on it.
    TimedOut,
    /// The request was sent, and the response is larger than the client takes: its announced size, or the bytes read so far.
    TooLarge(u64),
}

impl Display for SendError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::NotSent(_) => "the request was not sent",
            SendError::ConnectionLost(_) => "the connection closed before the response was complete",
            SendError::TimedOut => "the response was not complete in time",
            SendError::TooLarge(_) => "the response is too large",
        })
    }
}

impl Error for SendError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            SendError::NotSent(error) | SendError::ConnectionLost(error) => Some(error),
            SendError::TimedOut | SendError::TooLarge(_) => None,
        }
    }
}
