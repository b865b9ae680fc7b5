use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program under test. On drop it is asked to stop, and killed if it does not.
pub struct Process(Child);

/// The memory of a process, in megabytes.
#[derive(Clone, Copy, Default)]
pub struct Memory {
    pub resident: f64,
    /// The proportional set size: shared pages count in part.
    pub share: f64,
}

const PATIENCE: Duration = Duration::from_secs(30);

impl Process {
    pub fn spawn(command: &mut Command) -> Result<Process, String> {
        let program = command.get_program().to_owned();
        let spawned = command.spawn();
        spawned.map(Process).map_err(|error| format!("{}: {error}", Path::new(&program).display()))
    }

    /// Starts a program from the folder of this one, and reads its address from its output.
    pub fn start(binary: &str, arguments: &[&str]) -> Result<(Process, SocketAddr), String> {
        Process::announced(Command::new(sibling_program(binary)?).args(arguments))
    }

    /// Starts a program that prints its address first and stops at the end of its input.
    pub fn announced(command: &mut Command) -> Result<(Process, SocketAddr), String> {
        let mut process = Process::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let mut line = String::new();
        if let Some(out) = process.0.stdout.take() {
            let _ = BufReader::new(out).read_line(&mut line);
        }
        let address =
            line.trim().parse().map_err(|_| format!("{command:?} does not say where it listens"))?;
        Ok((process, address))
    }

    /// Starts a program with a given address, and waits until it listens.
    pub fn listening(command: &mut Command, at: SocketAddr) -> Result<Process, String> {
        let process = Process::spawn(command)?;
        wait_for(at).map_err(|error| format!("{command:?}: {error}"))?;
        Ok(process)
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    pub fn pipes(&mut self) -> Option<(std::process::ChildStdin, std::process::ChildStdout)> {
        Some((self.0.stdin.take()?, self.0.stdout.take()?))
    }

    /// User and system CPU time so far, with that of child processes of the same name.
    pub fn cpu(&self) -> Duration {
        Duration::from_nanos(workers(self.id()).into_iter().map(nanoseconds).sum())
    }

    pub fn memory(&self) -> Memory {
        workers(self.id()).into_iter().fold(Memory::default(), |so_far, pid| {
            let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
            let of = |name: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
                line.trim().trim_end_matches("kB").trim().parse::<f64>().unwrap_or(0.0) / 1024.0
            };
            Memory { resident: so_far.resident + of("Rss:"), share: so_far.share + of("Pss:") }
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = Command::new("kill").arg(self.id().to_string()).stderr(Stdio::null()).status();
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The path of a program of this benchmark.
pub fn sibling_program(binary: &str) -> Result<std::path::PathBuf, String> {
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    Ok(here.with_file_name(binary))
}

/// A free port.
pub fn free_address() -> Result<SocketAddr, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener.local_addr().map_err(|error| error.to_string())
}

pub fn wait_for(at: SocketAddr) -> Result<(), String> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if TcpStream::connect(at).is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Err(format!("nobody listens on {at}"))
}

/// A process and its children of the same name, such as the workers of nginx. Children of other names are upstream
/// servers and do not count.
fn workers(pid: u32) -> Vec<u32> {
    let name = |pid: u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|child| child.parse().ok());
    let own = name(pid);
    let is_nginx = own.starts_with("nginx");
    std::iter::once(pid).chain(children.filter(|child| is_nginx && name(*child) == own)).collect()
}

/// CPU time from `schedstat`, thread by thread: finer than the ticks of `stat`.
fn nanoseconds(pid: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads
        .filter_map(|thread| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        })
        .sum()
}
