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
use crate::driver::{self, Collector, Driver};
use crate::letters::{Errand, LARGEST_ERRAND, LONGEST_LINE, Refusal, Report, Step, take_line};
use crate::orphans::{self, Charge};
use crate::{ARGUMENT, Caps, Input, Plan, Stdout, passing};

/// How long a supervisor has to say whether the child runs.
const START: Duration = Duration::from_secs(10);

/// How long a supervisor that has nothing to do may take to leave.
const LEAVE: Duration = Duration::from_secs(1);

/// Starts children, each under a supervisor of its own.
#[derive(Debug, Clone)]
pub struct Launcher {
    supervisor: PathBuf,
}

impl Launcher {
    /// Supervisors are this very program, even if its file was replaced meanwhile. Its `main` has to call
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

    /// Supervisors are the program at this path.
    pub fn at(supervisor: impl Into<PathBuf>) -> Launcher {
        Launcher { supervisor: supervisor.into() }
    }

    /// The program that supervises: for a server that runs a part of itself as a child.
    pub fn program(&self) -> &Path {
        &self.supervisor
    }

    /// Starts a child. Fails with `process/SPAWN` when it cannot be started as planned, and with
    /// `process/UNCONTAINED` when the sandbox it must have is not to be had here.
    pub async fn start(&self, plan: Plan) -> Result<Child, Fault> {
        let began = Instant::now();
        let (stdout, grace, wall) = (plan.stdout, plan.grace, plan.limits.wall);
        let pipes = Pipes::for_plan(&plan).map_err(broken)?;
        let (ours, theirs) = Socket::pair().map_err(broken)?;
        let mut supervisor = self.spawn(theirs)?;
        let charge = Charge::of(supervisor.id());
        let late = |_| Err(broken(io::ErrorKind::TimedOut.into()));
        let (pid, link, pipes) = match timeout(START, hand_over(ours, plan, pipes)).await.unwrap_or_else(late)
        {
            Ok(running) => running,
            Err(fault) => {
                // The socket is closed, so it has nothing left to do; one that stays is none of ours.
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

/// Our ends of the child's pipes, and until they are handed over its own.
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
        let mut theirs: Vec<OwnedFd> = Vec::with_capacity(passing::MOST);
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

/// Gives the supervisor its errand and the child's ends of the pipes, and hears whether the child runs.
async fn hand_over(socket: Socket, plan: Plan, mut pipes: Pipes) -> Result<(i32, Link, Pipes), Fault> {
    let theirs = std::mem::take(&mut pipes.theirs);
    let mut link = send(socket, plan, theirs).await.map_err(broken)?;
    match link.next().await.map_err(broken)? {
        Some(Report::Started(pid)) => Ok((pid, link, pipes)),
        Some(Report::Refused(refusal)) => Err(refused(refusal)),
        Some(Report::Ended { .. }) | None => Err(broken(io::ErrorKind::UnexpectedEof.into())),
    }
}

async fn send(socket: Socket, plan: Plan, theirs: Vec<OwnedFd>) -> io::Result<Link> {
    let bytes = serde_json::to_vec(&Errand::from(plan))?;
    let fits = u32::try_from(bytes.len()).ok().filter(|size| *size <= LARGEST_ERRAND);
    let size = fits.ok_or_else(|| io::Error::other("arguments and environment are too large"))?;
    let borrowed: Vec<BorrowedFd<'_>> = theirs.iter().map(AsFd::as_fd).collect();
    passing::send(&socket, size, &borrowed)?;
    socket.set_nonblocking(true)?;
    let mut link = Link { socket: UnixStream::from_std(socket)?, arrived: Vec::new() };
    link.socket.write_all(&bytes).await?;
    Ok(link)
}

/// The launcher's end of the socket to a supervisor.
pub(crate) struct Link {
    pub(crate) socket: UnixStream,
    arrived: Vec<u8>,
}

impl Link {
    /// The next report; nothing when the supervisor is gone. May be given up and called again.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Report>> {
        loop {
            if let Some(report) = take_line(&mut self.arrived)? {
                return Ok(Some(report));
            }
            self.arrived.reserve(LONGEST_LINE.min(512));
            if self.socket.read_buf(&mut self.arrived).await? == 0 {
                return Ok(None);
            }
        }
    }
}

fn refused(refusal: Refusal) -> Fault {
    let error = io::Error::other(refusal.said);
    match refusal.step {
        Step::Sandbox | Step::Mounts => Fault::new(&reason::PROCESS_UNCONTAINED).because(error),
        Step::Supervisor => cannot_start("the supervisor", why(refusal.errno), error),
        Step::Folder => cannot_start("its folder", why(refusal.errno), error),
        Step::Program => cannot_start("the program", why(refusal.errno), error),
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

/// The system's error in words of ours; its own may hold names.
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
