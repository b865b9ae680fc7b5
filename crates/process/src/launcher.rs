use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, reason};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::time::timeout;

use crate::child::Child;
use crate::child::driver::{self, Collector, Driver};
use crate::orphans::{self, SupervisorGuard};
use crate::protocol::{
    MAX_LINE_BYTES, MAX_REQUEST_BYTES, SpawnError, SpawnRequest, SpawnStep, SupervisorReport, take_line,
};
use crate::{ARGUMENT, Caps, Input, Plan, Stdout, fd_passing};

/// Timeout for the supervisor's first report.
const START: Duration = Duration::from_secs(10);

/// Timeout for the exit of a supervisor without a child.
const LEAVE: Duration = Duration::from_secs(1);

/// Starts children, each under its own supervisor.
#[derive(Debug, Clone)]
pub struct Launcher {
    supervisor: PathBuf,
}

impl Launcher {
    /// Uses the running program as supervisor, even if its file was replaced meanwhile. Its `main` must call
    /// [`supervise_main`](crate::supervise_main) when its first argument is [`ARGUMENT`].
    pub fn of_this_program() -> Result<Launcher, Fault> {
        let running = PathBuf::from("/proc/self/exe");
        if cfg!(target_os = "linux") && running.exists() {
            return Ok(Launcher::at(running));
        }
        std::env::current_exe()
            .map(Launcher::at)
            .map_err(|error| cannot_start("the supervisor", "was not found", error))
    }

    /// Uses the program at this path as supervisor.
    pub fn at(supervisor: impl Into<PathBuf>) -> Launcher {
        Launcher { supervisor: supervisor.into() }
    }

    /// The supervisor program. A server uses it to run a part of itself as a child.
    pub fn program(&self) -> &Path {
        &self.supervisor
    }

    /// Starts a child. It fails with `process/SPAWN` if the plan cannot be carried out, and with
    /// `process/UNCONTAINED` if a required sandbox is unavailable.
    pub async fn start(&self, plan: Plan) -> Result<Child, Fault> {
        let began = Instant::now();
        let (stdout, grace, wall) = (plan.stdout, plan.grace, plan.limits.wall);
        let pipes = Pipes::for_plan(&plan).map_err(broken)?;
        let (ours, theirs) = Socket::pair().map_err(broken)?;
        let mut supervisor = self.spawn(theirs)?;
        let charge = SupervisorGuard::new(supervisor.id());
        let late = |_| Err(broken(io::ErrorKind::TimedOut.into()));
        let (pid, link, pipes) = match timeout(START, hand_over(ours, plan, pipes)).await.unwrap_or_else(late)
        {
            Ok(running) => running,
            Err(fault) => {
                // The socket is closed, so the supervisor exits. A supervisor that stays is killed.
                if timeout(LEAVE, supervisor.wait()).await.is_err() {
                    let _ = supervisor.kill().await;
                }
                orphans::end().await;
                return Err(fault);
            }
        };
        let (collected, piped) = match stdout {
            Stdout::Collected => (Some(pipes.stdout), None),
            Stdout::Piped => (None, Some(pipes.stdout)),
        };
        let driver = Driver {
            supervisor,
            charge,
            link,
            pid,
            began,
            patience: wall.map(|wall| wall.saturating_add(grace)),
            grace,
            stdout: Collector::new(collected, pipes.caps),
            stderr: Collector::new(Some(pipes.stderr), pipes.caps),
        };
        let (orders, ended) = driver::run(driver);
        Ok(Child::new(pid, orders, ended, pipes.input, pipes.events, piped))
    }

    fn spawn(&self, control: Socket) -> Result<tokio::process::Child, Fault> {
        let mut command = Command::new(&self.supervisor);
        command
            .arg0(OsStr::new("failwell"))
            .arg(ARGUMENT)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(control)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().map_err(|error| cannot_start("the supervisor", why(error.raw_os_error()), error))
    }
}

/// This process's ends of the pipes, and the child's ends until they are passed on.
struct Pipes {
    caps: Caps,
    input: Option<pipe::Sender>,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
    events: Option<pipe::Receiver>,
    theirs: Vec<OwnedFd>,
}

impl Pipes {
    fn for_plan(plan: &Plan) -> io::Result<Pipes> {
        let mut theirs: Vec<OwnedFd> = Vec::with_capacity(fd_passing::MOST);
        let input = match plan.input {
            Input::Nothing => None,
            Input::Pipe => {
                let (read, write) = io::pipe()?;
                theirs.push(read.into());
                Some(pipe::Sender::from_owned_fd(write.into())?)
            }
        };
        let mut incoming = || -> io::Result<pipe::Receiver> {
            let (read, write) = io::pipe()?;
            theirs.push(write.into());
            pipe::Receiver::from_owned_fd(read.into())
        };
        let (stdout, stderr) = (incoming()?, incoming()?);
        let events = plan.events.is_some().then(&mut incoming).transpose()?;
        Ok(Pipes { caps: plan.output, input, stdout, stderr, events, theirs })
    }
}

/// Sends the request and the child's pipe ends to the supervisor, and waits for its first report.
async fn hand_over(
    socket: Socket,
    plan: Plan,
    mut pipes: Pipes,
) -> Result<(i32, SupervisorLink, Pipes), Fault> {
    let theirs = std::mem::take(&mut pipes.theirs);
    let mut link = send(socket, plan, theirs).await.map_err(broken)?;
    match link.next().await.map_err(broken)? {
        Some(SupervisorReport::Started(pid)) => Ok((pid, link, pipes)),
        Some(SupervisorReport::Refused(refusal)) => Err(refused(refusal)),
        Some(SupervisorReport::Exited { .. }) | None => Err(broken(io::ErrorKind::UnexpectedEof.into())),
    }
}

async fn send(socket: Socket, plan: Plan, theirs: Vec<OwnedFd>) -> io::Result<SupervisorLink> {
    let bytes = serde_json::to_vec(&SpawnRequest::from(plan))?;
    let fits = u32::try_from(bytes.len()).ok().filter(|size| *size <= MAX_REQUEST_BYTES);
    let size = fits.ok_or_else(|| io::Error::other("arguments and environment are too large"))?;
    let borrowed: Vec<BorrowedFd<'_>> = theirs.iter().map(AsFd::as_fd).collect();
    fd_passing::send(&socket, size, &borrowed)?;
    socket.set_nonblocking(true)?;
    let mut link = SupervisorLink { socket: UnixStream::from_std(socket)?, arrived: Vec::new() };
    link.socket.write_all(&bytes).await?;
    Ok(link)
}

/// The launcher's end of the socket to a supervisor.
pub(crate) struct SupervisorLink {
    pub(crate) socket: UnixStream,
    arrived: Vec<u8>,
}

impl SupervisorLink {
    /// The next report, or `None` after the supervisor has exited. This method is cancel safe.
    pub(crate) async fn next(&mut self) -> io::Result<Option<SupervisorReport>> {
        loop {
            if let Some(report) = take_line(&mut self.arrived)? {
                return Ok(Some(report));
            }
            self.arrived.reserve(MAX_LINE_BYTES.min(512));
            if self.socket.read_buf(&mut self.arrived).await? == 0 {
                return Ok(None);
            }
        }
    }
}

fn refused(refusal: SpawnError) -> Fault {
    let error = io::Error::other(refusal.message);
    match refusal.step {
        SpawnStep::Sandbox | SpawnStep::Mounts => Fault::new(&reason::PROCESS_UNCONTAINED).because(error),
        SpawnStep::Supervisor => cannot_start("the supervisor", why(refusal.errno), error),
        SpawnStep::Folder => cannot_start("its folder", why(refusal.errno), error),
        SpawnStep::Program => cannot_start("the program", why(refusal.errno), error),
    }
}

#[track_caller]
fn broken(error: io::Error) -> Fault {
    cannot_start("the supervisor", "does not work", error)
}

#[track_caller]
fn cannot_start(what: &'static str, why: &'static str, error: io::Error) -> Fault {
    Fault::new(&reason::PROCESS_SPAWN).fact("what", what).fact("why", why).because(error)
}

/// The system error in our own words. The system's text may contain names.
fn why(errno: Option<i32>) -> &'static str {
    use rustix::io::Errno;
    match errno.map(Errno::from_raw_os_error) {
        Some(Errno::NOENT) => "was not found",
        Some(Errno::ACCESS | Errno::PERM) => "may not be used",
        Some(Errno::NOTDIR) => "is not a folder",
        Some(Errno::ISDIR) => "is a folder",
        Some(Errno::NOEXEC) => "is not a program for this machine",
        Some(Errno::TOOBIG) => "was given too many arguments or variables",
        Some(Errno::INVAL) => "was given a value the system does not take",
        Some(Errno::NOMEM | Errno::AGAIN | Errno::MFILE | Errno::NFILE) => "found no room on this machine",
        _ => "was refused by the system",
    }
}
