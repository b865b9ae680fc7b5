//! Starting the child exactly as planned.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::io::{Errno, FdFlags};
use rustix::process::{Pid, Resource, Rlimit, getppid, setrlimit};

use super::confine::{self, Confined, MountView};
use super::{between, descendants};
use crate::letters::{Errand, Refusal, Step};
use crate::{Input, Limits, Need};

/// Starts the child, in a process group of its own.
pub(super) fn start(errand: &Errand, descriptors: &[OwnedFd]) -> Result<Pid, Refusal> {
    check_folder(errand)?;
    let Some(confinement) = &errand.confinement else { return spawn(errand, descriptors, None) };
    let own = confine::prepare(confinement, MountView::Own)?;
    match (spawn(errand, descriptors, Some(own)), confinement.need) {
        (Err(refusal), Need::BestEffort) if refusal.step == Step::Mounts => {
            let shared = confine::prepare(confinement, MountView::Shared)?;
            spawn(errand, descriptors, Some(shared))
        }
        (started, _) => started,
    }
}

fn spawn(errand: &Errand, descriptors: &[OwnedFd], mut confined: Option<Confined>) -> Result<Pid, Refusal> {
    let mut command = Command::new(&errand.program);
    command.args(&errand.arguments).current_dir(&errand.folder).process_group(0);
    command.env_clear().envs(errand.environment.iter().map(|(name, value)| (name, value)));
    connect(&mut command, errand, descriptors).map_err(|error| Refusal::new(Step::Supervisor, &error))?;
    let limits = limits(&errand.limits);
    let has_no_input = errand.input == Input::Nothing;
    let supervisor = rustix::process::getpid();
    between::before_exec(&mut command, move || {
        if let Some(confined) = confined.as_ref().filter(|confined| confined.has_own_mounts()) {
            confined.enter_mounts().map_err(|_| NO_MOUNTS)?;
            if has_no_input {
                // The descriptor it has leads past its own mounts.
                rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
            }
        }
        die_with(supervisor)?;
        for (resource, limit) in &limits {
            lower(*resource, *limit)?;
        }
        confined.as_mut().map_or(Ok(()), Confined::enter).map_err(|_| NOT_CONFINED.into())
    });
    let child = command.spawn().map_err(|error| refusal(&error))?;
    let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    number.ok_or_else(|| Refusal::new(Step::Program, &io::Error::other("a child without a number")))
}

/// What the child says when it cannot enter its sandbox. Only a number comes back from there, and these two the system
/// gives for no program.
const NOT_CONFINED: Errno = Errno::NOTRECOVERABLE;
const NO_MOUNTS: Errno = Errno::OWNERDEAD;

fn refusal(error: &io::Error) -> Refusal {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(NOT_CONFINED) => Refusal::new(Step::Sandbox, error),
        Some(NO_MOUNTS) => Refusal {
            step: Step::Mounts,
            errno: None,
            said: "no mount namespace: that takes CAP_SYS_ADMIN, or user namespaces".to_owned(),
        },
        _ => Refusal::new(Step::Program, error),
    }
}

/// The system has one error for a missing folder and a missing program; people want to know which.
fn check_folder(errand: &Errand) -> Result<(), Refusal> {
    let refuse = |error: &io::Error| Refusal::new(Step::Folder, error);
    let found = std::fs::metadata(&errand.folder).map_err(|error| refuse(&error))?;
    if found.is_dir() { Ok(()) } else { Err(refuse(&Errno::NOTDIR.into())) }
}

/// Descriptors are copied, for a second attempt may follow; but for the one whose number the child is told.
fn connect(command: &mut Command, errand: &Errand, descriptors: &[OwnedFd]) -> io::Result<()> {
    let mut descriptors = descriptors.iter();
    let mut next = || descriptors.next().ok_or_else(|| io::Error::other("a descriptor is missing"));
    command.stdin(match errand.input {
        Input::Nothing => Stdio::null(),
        Input::Pipe => next()?.try_clone()?.into(),
    });
    command.stdout(next()?.try_clone()?).stderr(next()?.try_clone()?);
    if let Some(variable) = &errand.events {
        let events = next()?;
        rustix::io::fcntl_setfd(events, FdFlags::empty())?;
        command.env(variable, events.as_raw_fd().to_string());
    }
    Ok(())
}

/// The child is killed when its supervisor is, however that happens.
#[cfg(target_os = "linux")]
fn die_with(supervisor: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // It may have died before we asked.
    if getppid() == Some(supervisor) { Ok(()) } else { Err(Errno::SRCH.into()) }
}

#[cfg(not(target_os = "linux"))]
fn die_with(supervisor: Pid) -> io::Result<()> {
    if getppid() == Some(supervisor) { Ok(()) } else { Err(Errno::SRCH.into()) }
}

fn limits(limits: &Limits) -> Vec<(Resource, Rlimit)> {
    let both = |limit: u64| Rlimit { current: Some(limit), maximum: Some(limit) };
    // A crash is told by its signal; its memory is nobody's business and would litter the folder.
    let mut all = vec![(Resource::Core, both(0))];
    all.extend(limits.memory.map(|bytes| (Resource::As, both(bytes))));
    all.extend(limits.file_size.map(|bytes| (Resource::Fsize, both(bytes))));
    all.extend(limits.open_files.map(|count| (Resource::Nofile, both(count))));
    all.extend(limits.cpu.map(|time| {
        let seconds = whole_seconds(time);
        // SIGXCPU at the first, SIGKILL at the second for whoever ignores it.
        (Resource::Cpu, Rlimit { current: Some(seconds), maximum: Some(seconds.saturating_add(1)) })
    }));
    // The system counts by user, not by tree, so this only backs up the watch: the user's processes may double meanwhile.
    all.extend(limits.processes.map(|count| {
        let already = u64::try_from(descendants::of_this_user()).unwrap_or(u64::MAX);
        (Resource::Nproc, both(already.saturating_add(count).saturating_mul(2).saturating_add(64)))
    }));
    all
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)).max(1)
}

/// Sets a limit, but never above one that was there before.
fn lower(resource: Resource, wanted: Rlimit) -> io::Result<()> {
    let ceiling = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let under = |limit: Option<u64>| Some(limit.unwrap_or(u64::MAX).min(ceiling));
    Ok(setrlimit(resource, Rlimit { current: under(wanted.current), maximum: under(wanted.maximum) })?)
}
