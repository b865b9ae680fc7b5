//! Standard input and output of this process.

use tokio::io::{AsyncRead, AsyncWrite};

pub(super) type Input = Box<dyn AsyncRead + Unpin + Send>;
pub(super) type Output = Box<dyn AsyncWrite + Unpin + Send>;

/// Opens standard input and output. A pipe is reopened and polled like a socket. Other files use one thread
/// to read and one to write, which costs two thread switches per line. The original descriptors stay
/// unchanged, because other processes may share them. Requires a Tokio runtime.
#[must_use]
pub fn standard() -> (Input, Output) {
    let input = pipe::input().unwrap_or_else(|| Box::new(tokio::io::stdin()));
    (input, pipe::output().unwrap_or_else(|| Box::new(tokio::io::stdout())))
}

#[cfg(target_os = "linux")]
mod pipe {
    use std::fs;
    use std::os::unix::fs::FileTypeExt;

    use tokio::net::unix::pipe::OpenOptions;

    use super::{Input, Output};

    const IN: &str = "/proc/self/fd/0";
    const OUT: &str = "/proc/self/fd/1";

    pub(super) fn input() -> Option<Input> {
        let pipe = is_pipe(IN).then(|| OpenOptions::new().open_receiver(IN).ok())??;
        Some(Box::new(pipe))
    }

    pub(super) fn output() -> Option<Output> {
        let pipe = is_pipe(OUT).then(|| OpenOptions::new().open_sender(OUT).ok())??;
        Some(Box::new(pipe))
    }

    fn is_pipe(path: &str) -> bool {
        fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
    }
}

#[cfg(not(target_os = "linux"))]
mod pipe {
    use super::{Input, Output};

    pub(super) fn input() -> Option<Input> {
        None
    }

    pub(super) fn output() -> Option<Output> {
        None
    }
}
