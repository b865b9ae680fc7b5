//! The supervisor: a single-threaded process that watches one child and cleans up after it.

mod confine;
mod descendants;
mod pre_exec;
mod sweep;
mod target;
mod watch;

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

use crate::fd_passing;
use crate::protocol::{MAX_REQUEST_BYTES, SpawnError, SpawnRequest, SpawnStep, SupervisorReport, line};

#[cfg(target_os = "linux")]
pub(crate) use confine::{mount_namespaces, no_exec};

/// The hidden argument that turns the program into a supervisor.
pub const ARGUMENT: &str = "__supervise";

/// Maximum time for the cleanup after the grace period.
pub(crate) const SWEEP: Duration = Duration::from_secs(5);

/// Supervises one child for the launcher at the other end of standard input. Call it first in `main`: there
/// must be no other thread.
pub fn supervise_main() -> ExitCode {
    match supervise() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => {
            // Only a user who runs this command by hand reads this text.
            let text = "error: no launcher at the other end of standard input\n\
                        help: this command is how failwell supervises its children, and of no other use\n";
            let _ = io::stderr().write_all(text.as_bytes());
            ExitCode::from(2)
        }
    }
}

fn supervise() -> io::Result<()> {
    let control = UnixStream::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    let (size, descriptors) = fd_passing::receive(&control)?;
    if size > MAX_REQUEST_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    (&control).take(size.into()).read_to_end(&mut bytes)?;
    let request: SpawnRequest = serde_json::from_slice(&bytes)?;
    let (limits, grace) = (request.limits, request.grace);
    let started = become_supervisor()
        .map_err(|error| SpawnError::new(SpawnStep::Supervisor, &error))
        .and_then(|()| target::start(&request, &descriptors));
    // Open copies of the child's pipe ends would keep the pipes open after its end.
    drop((request, descriptors));
    let target = match started {
        Ok(target) => target,
        Err(refusal) => return send_report(&control, &SupervisorReport::Refused(refusal)),
    };
    // The watch detects a launcher that is already gone.
    let _ = send_report(&control, &SupervisorReport::Started(target.as_raw_nonzero().get()));
    let (how, exit, survivors) = watch::to_the_end(&control, target, limits, grace);
    let _ = send_report(&control, &SupervisorReport::Exited { how, exit, survivors });
    Ok(())
}

/// Prepares this process: a new session without a terminal, subreaper of all descendants, no new privileges.
fn become_supervisor() -> io::Result<()> {
    rustix::process::setsid()?;
    pre_exec::close_inherited_on_exec()?;
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        rustix::thread::set_no_new_privs(true)?;
        crate::self_protection::give_up_tracing();
        // A child can stop its supervisor, which would then not see that the launcher is gone.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::CONT))?;
    }
    Ok(())
}

fn send_report(mut control: &UnixStream, report: &SupervisorReport) -> io::Result<()> {
    control.write_all(&line(report)?)
}
