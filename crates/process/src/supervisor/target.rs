//! Starts the child as planned.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::io::{Errno, FdFlags};
use rustix::process::{Pid, Resource, Rlimit, getppid, setrlimit};

use super::confine::{self, MountView, SandboxEntry};
use super::{descendants, pre_exec};
use crate::protocol::{SpawnError, SpawnRequest, SpawnStep};
use crate::{Input, Limits, SandboxNeed};

/// Starts the child in its own process group.
pub(super) fn start(request: &SpawnRequest, descriptors: &[OwnedFd]) -> Result<Pid, SpawnError> {
    check_folder(request)?;
    let Some(confinement) = &request.confinement else { return spawn(request, descriptors, None) };
    let own = confine::prepare(confinement, MountView::Own)?;
    match (spawn(request, descriptors, Some(own)), confinement.need) {
        (Err(refusal), SandboxNeed::BestEffort) if refusal.step == SpawnStep::Mounts => {
            let shared = confine::prepare(confinement, MountView::Shared)?;
            spawn(request, descriptors, Some(shared))
        }
        (started, _) => started,
    }
}

fn spawn(
    request: &SpawnRequest,
    descriptors: &[OwnedFd],
    mut confined: Option<SandboxEntry>,
) -> Result<Pid, SpawnError> {
    let mut command = Command::new(&request.program);
    command.args(&request.arguments).current_dir(&request.folder).process_group(0);
    command.env_clear().envs(request.environment.iter().map(|(name, value)| (name, value)));
    connect(&mut command, request, descriptors)
        .map_err(|error| SpawnError::new(SpawnStep::Supervisor, &error))?;
    let limits = limits(&request.limits);
    let has_no_input = request.input == Input::Nothing;
    let supervisor = rustix::process::getpid();
    pre_exec::before_exec(&mut command, move || {
        if let Some(confined) = confined.as_ref().filter(|confined| confined.has_own_mounts()) {
            confined.enter_mounts().map_err(|_| NO_MOUNTS)?;
            if has_no_input {
                // The inherited descriptor would bypass the child's own mounts.
                rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
            }
        }
        die_with(supervisor)?;
        for (resource, limit) in &limits {
            lower(*resource, *limit)?;
        }
        confined.as_mut().map_or(Ok(()), SandboxEntry::enter).map_err(|_| NOT_CONFINED.into())
    });
    let child = command.spawn().map_err(|error| refusal(&error))?;
    let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    number.ok_or_else(|| SpawnError::new(SpawnStep::Program, &io::Error::other("a child without a number")))
}

/// Errors of a child that cannot enter its sandbox. Only a number reaches the parent, and exec returns
/// neither of these two.
const NOT_CONFINED: Errno = Errno::NOTRECOVERABLE;
const NO_MOUNTS: Errno = Errno::OWNERDEAD;

fn refusal(error: &io::Error) -> SpawnError {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(NOT_CONFINED) => SpawnError::new(SpawnStep::Sandbox, error),
        Some(NO_MOUNTS) => SpawnError {
            step: SpawnStep::Mounts,
            errno: None,
            message: "no mount namespace: that takes CAP_SYS_ADMIN, or user namespaces".to_owned(),
        },
        _ => SpawnError::new(SpawnStep::Program, error),
    }
}

/// The system reports a missing folder and a missing program with the same error. This check distinguishes
/// them.
fn check_folder(request: &SpawnRequest) -> Result<(), SpawnError> {
    let refuse = |error: &io::Error| SpawnError::new(SpawnStep::Folder, error);
    let found = std::fs::metadata(&request.folder).map_err(|error| refuse(&error))?;
    if found.is_dir() { Ok(()) } else { Err(refuse(&Errno::NOTDIR.into())) }
}

/// Duplicates the descriptors, because a second attempt may follow. The event pipe is passed by number and
/// not duplicated.
fn connect(command: &mut Command, request: &SpawnRequest, descriptors: &[OwnedFd]) -> io::Result<()> {
    let mut descriptors = descriptors.iter();
    let mut next = || descriptors.next().ok_or_else(|| io::Error::other("a descriptor is missing"));
    command.stdin(match request.input {
        Input::Nothing => Stdio::null(),
        Input::Pipe => next()?.try_clone()?.into(),
    });
    command.stdout(next()?.try_clone()?).stderr(next()?.try_clone()?);
    if let Some(variable) = &request.events {
        let events = next()?;
        rustix::io::fcntl_setfd(events, FdFlags::empty())?;
        command.env(variable, events.as_raw_fd().to_string());
    }
    Ok(())
}

/// The kernel kills the child when its supervisor dies.
#[cfg(target_os = "linux")]
fn die_with(supervisor: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // The supervisor may have died before this call.
    if getppid() == Some(supervisor) { Ok(()) } else { Err(Errno::SRCH.into()) }
}

#[cfg(not(target_os = "linux"))]
fn die_with(supervisor: Pid) -> io::Result<()> {
    if getppid() == Some(supervisor) { Ok(()) } else { Err(Errno::SRCH.into()) }
}

fn limits(limits: &Limits) -> Vec<(Resource, Rlimit)> {
    let both = |limit: u64| Rlimit { current: Some(limit), maximum: Some(limit) };
    // The signal is enough to report a crash. A core file would litter the folder.
    let mut all = vec![(Resource::Core, both(0))];
    all.extend(limits.memory.map(|bytes| (Resource::As, both(bytes))));
    all.extend(limits.file_size.map(|bytes| (Resource::Fsize, both(bytes))));
    all.extend(limits.open_files.map(|count| (Resource::Nofile, both(count))));
    all.extend(limits.cpu.map(|time| {
        let seconds = whole_seconds(time);
        // SIGXCPU at the soft limit, SIGKILL at the hard limit for a process that ignores it.
        (Resource::Cpu, Rlimit { current: Some(seconds), maximum: Some(seconds.saturating_add(1)) })
    }));
    // The kernel counts processes per user, not per tree. This limit is only a second barrier behind the
    // watch, so it has a margin for other processes of the user.
    all.extend(limits.processes.map(|count| {
        let already = u64::try_from(descendants::of_this_user()).unwrap_or(u64::MAX);
        (Resource::Nproc, both(already.saturating_add(count).saturating_mul(2).saturating_add(64)))
    }));
    all
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)).max(1)
}

/// Sets a limit, but never above the existing one.
fn lower(resource: Resource, wanted: Rlimit) -> io::Result<()> {
    let ceiling = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let under = |limit: Option<u64>| Some(limit.unwrap_or(u64::MAX).min(ceiling));
    Ok(setrlimit(resource, Rlimit { current: under(wanted.current), maximum: under(wanted.maximum) })?)
}
