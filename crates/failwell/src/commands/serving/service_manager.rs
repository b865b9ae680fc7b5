//! Tells the service manager what the program does: the protocol of sd_notify(3).
//!
//! systemd names a datagram socket in `NOTIFY_SOCKET`. Without the variable, nothing is sent.

use tokio_util::sync::CancellationToken;

/// The state that the service manager is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServiceState {
    Ready,
    Reloading,
    Stopping,
}

/// Reports that requests are served, and later that the program stops.
pub(super) fn report_until(stop: CancellationToken) {
    report(ServiceState::Ready);
    tokio::spawn(async move {
        stop.cancelled().await;
        report(ServiceState::Stopping);
    });
}

#[cfg(unix)]
pub(super) use unix::report;

/// There is no such service manager here.
#[cfg(not(unix))]
pub(super) fn report(_: ServiceState) {}

#[cfg(unix)]
mod unix {
    use std::ffi::{OsStr, OsString};
    use std::io;
    #[cfg(target_os = "linux")]
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    use super::ServiceState;
    use crate::complaint::Complaint;
    use crate::terminal;

    const VARIABLE: &str = "NOTIFY_SOCKET";

    /// Sends the state, if a service manager wants to know it.
    pub(in super::super) fn report(state: ServiceState) {
        let Some(name) = socket_name() else { return };
        if let Err(error) = address(&name).and_then(|address| send(&address, &message(state))) {
            let (place, state) = (name.to_string_lossy(), spoken(state));
            terminal::complain(&Complaint::new(
                format!("the service manager at {place} cannot be told that failwell {state}: {error}"),
                format!("start failwell from a unit with Type=notify, or without {VARIABLE}"),
            ));
        }
    }

    fn socket_name() -> Option<OsString> {
        std::env::var_os(VARIABLE).filter(|name| !name.is_empty())
    }

    /// A path, or a name in the abstract namespace of Linux, which is written with an `@` in front.
    fn address(name: &OsStr) -> io::Result<SocketAddr> {
        match name.as_bytes() {
            #[cfg(target_os = "linux")]
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
            [b'/', ..] => SocketAddr::from_pathname(name),
            _ => Err(io::Error::new(io::ErrorKind::Unsupported, "neither a path nor an abstract name")),
        }
    }

    fn message(state: ServiceState) -> String {
        match state {
            ServiceState::Ready => "READY=1".to_owned(),
            ServiceState::Reloading => format!("RELOADING=1\nMONOTONIC_USEC={}", monotonic_microseconds()),
            ServiceState::Stopping => "STOPPING=1".to_owned(),
        }
    }

    fn spoken(state: ServiceState) -> &'static str {
        match state {
            ServiceState::Ready => "is ready",
            ServiceState::Reloading => "reloads",
            ServiceState::Stopping => "stops",
        }
    }

    /// systemd tells by it whether the report is about the reload that it asked for.
    fn monotonic_microseconds() -> i64 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1_000)
    }

    fn send(address: &SocketAddr, message: &str) -> io::Result<()> {
        let socket = UnixDatagram::unbound()?;
        // A service manager that does not read must not stop the program.
        socket.set_nonblocking(true)?;
        socket.send_to_addr(message.as_bytes(), address).map(drop)
    }
}
