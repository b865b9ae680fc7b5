//! This process's own standard input and output.

use tokio::io::{AsyncRead, AsyncWrite};

/// What lines come from.
pub(super) type Input = Box<dyn AsyncRead + Unpin + Send>;
/// Where lines go.
pub(super) type Output = Box<dyn AsyncWrite + Unpin + Send>;

/// Standard input and output. Pipes are opened once more and waited for like sockets; of anything else a thread reads and
/// another writes, which is two changes of threads for every line. The descriptors themselves stay as they are, since others
/// may share them. Needs a runtime.
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
