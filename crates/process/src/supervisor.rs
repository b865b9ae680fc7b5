//! The supervisor's side: a process with one thread that does nothing but watch one child and clear up after it.

mod between;
mod confine;
mod descendants;
mod sweep;
mod target;
mod watch;

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

use crate::letters::{Errand, LARGEST_ERRAND, Refusal, Report, Step, line};
use crate::passing;

#[cfg(target_os = "linux")]
pub(crate) use confine::{mount_namespaces, no_exec};

/// The hidden argument by which a program knows that it is meant to supervise.
pub const ARGUMENT: &str = "__supervise";

/// How long the clearing up may take after the grace is over.
pub(crate) const SWEEP: Duration = Duration::from_secs(5);

/// Supervises one child, as the launcher at the other end of standard input asks. To be called first thing in `main`:
/// there must be no other thread.
pub fn supervise_main() -> ExitCode {
    match supervise() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => {
            // There is nobody to tell but a person who tried it by hand.
            let text = "error: no launcher at the other end of standard input\n\
                        help: this command is how failwell supervises its children, and of no other use\n";
            let _ = io::stderr().write_all(text.as_bytes());
            ExitCode::from(2)
        }
    }
}

fn supervise() -> io::Result<()> {
    let control = UnixStream::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    let (size, descriptors) = passing::receive(&control)?;
    if size > LARGEST_ERRAND {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    (&control).take(size.into()).read_to_end(&mut bytes)?;
    let errand: Errand = serde_json::from_slice(&bytes)?;
    let (limits, grace) = (errand.limits, errand.grace);
    let started = settle()
        .map_err(|error| Refusal::new(Step::Supervisor, &error))
        .and_then(|()| target::start(&errand, &descriptors));
    // Ours of the child's ends would keep its pipes open after its end.
    drop((errand, descriptors));
    let target = match started {
        Ok(target) => target,
        Err(refusal) => return tell(&control, &Report::Refused(refusal)),
    };
    // A launcher that is gone already is noticed by the watch.
    let _ = tell(&control, &Report::Started(target.as_raw_nonzero().get()));
    let (how, exit, survivors) = watch::to_the_end(&control, target, limits, grace);
    let _ = tell(&control, &Report::Ended { how, exit, survivors });
    Ok(())
}

/// Makes this process fit to supervise: a session of its own and so no terminal, parent of all orphans below it, no way to more rights.
fn settle() -> io::Result<()> {
    rustix::process::setsid()?;
    between::close_inherited_on_exec()?;
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        rustix::thread::set_no_new_privs(true)?;
    }
    Ok(())
}

fn tell(mut control: &UnixStream, report: &Report) -> io::Result<()> {
    control.write_all(&line(report)?)
}
