use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::time::Duration;

use failwell_fault::Fault;
use failwell_server::House;
use failwell_transport::{Doors, HttpSettings, Lock, serve_doors, serve_http};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::configured::Misconfigured;
use super::demo::{self, Demo, with_demo};
use super::entrance::{Entrance, credentials, the_key, was_shown, welcome_admin};
use super::reload::{Origin, Running};
use super::serve;
use super::served::Served;
use super::shared::Shared;
use crate::cli::Up;
use crate::complaint::Complaint;
use crate::config::{Config, DEFAULT_ADDRESS};
use crate::doctor::{self, Wanted};
use crate::terminal::{self, Paint};

/// When a start is over, first calls included.
#[cfg(target_os = "linux")]
const STARTED: Duration = Duration::from_secs(1);

/// Serves over HTTP until told to stop.
pub(super) async fn run(arguments: Up) -> Result<ExitCode, Complaint> {
    let demo = if arguments.demo { Some(Arc::new(Demo::start().await?)) } else { None };
    let origin = Origin::of(arguments.config.as_deref());
    let config = with_demo(demo.as_deref(), origin.settle().map_err(Misconfigured::report)?);
    let at = arguments.listen.or(config.listen).unwrap_or(DEFAULT_ADDRESS);
    let key = the_key();
    let idle = HttpSettings::default().idle_session;
    let shared = Shared::join(&config, idle).await?;
    let ring = shared.keys.clone();
    let lock = Arc::new(Lock::from(credentials(&config, key.as_ref(), &ring, at)?));
    let (listener, address) = listen(at).await?;
    let admin = welcome_admin(&config, &ring).await?;
    let served = Served::new(&arguments.bounds, &config, shared)?;
    let mut settings = HttpSettings {
        lock: lock.clone(),
        allowed_hosts: arguments.allow_host,
        allowed_origins: arguments.allow_origin,
        ..HttpSettings::default()
    };
    let stop = serve::stop_on_signal();
    settings.allow_address(address.ip());
    let doors = Arc::new(Doors::new(served.house.clone(), settings));
    doors.replace(served.single.clone());
    let serving = tokio::spawn(serve_doors(doors.clone(), listener, stop.clone()));
    // Whoever has not said what to serve learns what there could be.
    let wanted = if origin.is_file() { Wanted::just(&config) } else { Wanted::from(&config) };
    let mut findings = doctor::examine(wanted).await;
    if demo.is_some() {
        findings.retain(|finding| finding.name != demo::NOT_NEEDED);
    }
    let missing = doctor::missing_parts(&findings);
    let servers = served.single.keys().map(String::as_str).collect();
    let locked = Locked::of(key.is_some(), &config);
    let shown = Shown { address, missing: &missing, locked, servers, has_demo: demo.is_some() };
    terminal::print(&(shown.welcome(Paint::for_stdout()) + &admin));
    was_shown(&admin, &config)?;
    #[cfg(target_os = "linux")]
    tokio::spawn(forget_start());
    let end = served.end();
    let overruled = if arguments.listen.is_some() { vec!["listen"] } else { Vec::new() };
    let entrance = Some(Entrance { doors, lock, at, key, ring });
    let running = Running { origin, config, served, overruled, entrance, demo: demo.clone() };
    tokio::spawn(running.follow(stop));
    let seen_out = see_out(serving, end).await;
    // Not before the last request was answered.
    drop(demo);
    seen_out
}

/// Gives back what only starting took, once the first callers had their answers: these take pages of their own.
#[cfg(target_os = "linux")]
async fn forget_start() {
    tokio::time::sleep(STARTED).await;
    let _ = tokio::task::spawn_blocking(failwell_process::forget_start).await;
}

/// Serves one tool server over HTTP until told to stop.
pub(super) async fn serve_one(
    house: Arc<House>,
    at: SocketAddr,
    require_key: bool,
) -> Result<ExitCode, Complaint> {
    let config = Config { require_key, ..Config::default() };
    let ring = Shared::nothing(&config).keys;
    let lock = Arc::new(Lock::from(credentials(&config, the_key().as_ref(), &ring, at)?));
    let (listener, address) = listen(at).await?;
    let admin = welcome_admin(&config, &ring).await?;
    let settings = HttpSettings { lock, ..HttpSettings::default() };
    let stop = serve::stop_on_signal();
    let serving = tokio::spawn(serve_http(house.clone(), listener, settings, stop));
    terminal::print(&format!("{} is up on http://{address}/mcp\n{admin}", house.room().info().title));
    was_shown(&admin, &config)?;
    see_out(serving, || house.books().flush()).await
}

async fn listen(at: SocketAddr) -> Result<(TcpListener, SocketAddr), Complaint> {
    let listener = bind(at).await?;
    let address = listener.local_addr().unwrap_or(at);
    Ok((listener, address))
}

/// Waits until the server has stopped, then ends what stands behind it.
async fn see_out(serving: JoinHandle<Result<(), Fault>>, end: impl FnOnce()) -> Result<ExitCode, Complaint> {
    let served = serving.await;
    end();
    match served {
        Ok(Ok(())) => {
            terminal::print("\nstopped; every accepted request was answered\n");
            Ok(ExitCode::SUCCESS)
        }
        Ok(Err(fault)) => Err(serve::unexpected(&fault)),
        Err(_) => Err(Complaint::new("the server stopped unexpectedly", "report what the log above says")),
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener, Complaint> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Complaint::new(
            format!("{address} is in use by another program"),
            "stop that program, or choose another port: --listen 127.0.0.1:0 takes any free one",
        ),
        ErrorKind::PermissionDenied => Complaint::new(
            format!("{address} may not be listened on by this user"),
            "choose a port above 1023, such as --listen 127.0.0.1:8484",
        ),
        _ => Complaint::new(
            format!("cannot listen on {address}: {error}"),
            "check the address given to --listen or in the configuration",
        ),
    })
}

/// What the first screen shows.
struct Shown<'a> {
    address: SocketAddr,
    missing: &'a [String],
    locked: Locked,
    servers: Vec<&'a str>,
    has_demo: bool,
}

/// What a caller needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Locked {
    /// Nothing.
    No,
    /// The key of the environment, and nothing else will do.
    ByTheKey,
    /// Something the configuration knows.
    ByTheFile,
    /// A key that an admin makes.
    ByMadeKeys,
}

impl Locked {
    fn of(has_key: bool, config: &Config) -> Locked {
        match (has_key, config.keys.is_empty() && config.jwt.is_none()) {
            _ if config.require_key => Locked::ByMadeKeys,
            (false, true) => Locked::No,
            (true, true) => Locked::ByTheKey,
            (_, false) => Locked::ByTheFile,
        }
    }
}

impl Shown<'_> {
    /// One screen: what runs, what does not and why, what to try next.
    fn welcome(&self, paint: Paint) -> String {
        let base = format!("http://{}", self.address);
        let version = env!("CARGO_PKG_VERSION");
        let name = paint.bold("failwell");
        let mut text =
            format!("{name} {version} is up on {}\n\n{}\n", paint.bold(&base), paint.bold("running"));
        text.push_str(&self.paths());
        if self.has_demo {
            text.push_str(
                "  tasks      an emulated account of Remember The Milk; it is gone when this stops\n",
            );
        }
        text.push_str(match self.locked {
            Locked::No => "",
            Locked::ByTheKey => "  every caller needs the key in FAILWELL_KEY\n",
            Locked::ByTheFile => "  every caller needs a key or token that the configuration knows\n",
            Locked::ByMadeKeys => "  every caller needs a key; an admin makes them with POST /v1/keys\n",
        });
        if !self.missing.is_empty() {
            text.push_str(&format!("\n{}  (failwell doctor says more)\n", paint.bold("not running")));
            self.missing.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
        text.push_str(&format!("\n{}\n{}\nstop with Ctrl-C\n", paint.bold("try"), self.suggestions(&base)));
        text
    }

    fn paths(&self) -> String {
        let mut text = String::new();
        for (path, what) in [
            ("/mcp", "MCP, every version from 2024-11-05 to 2026-07-28"),
            ("/rpc", "the same tools over plain JSON-RPC 2.0"),
            ("/v1/tools", "the same tools over REST, described by /openapi.json"),
            ("/v1/…", "sessions, keys, operations and live events beside them"),
            ("/metrics", "numbers for Prometheus; /healthz and /readyz for whoever watches"),
        ] {
            text.push_str(&format!("  {path:<10} {what}\n"));
        }
        if self.servers.len() > 1 {
            let all: Vec<String> = self.servers.iter().map(|server| format!("/mcp/{server}")).collect();
            text.push_str(&format!("  each alone {}\n", all.join(" ")));
        }
        text
    }

    fn suggestions(&self, base: &str) -> String {
        let key = match self.locked {
            Locked::No => "",
            Locked::ByTheKey => " -H \"X-API-Key: $FAILWELL_KEY\"",
            Locked::ByTheFile | Locked::ByMadeKeys => " -H 'X-API-Key: …'",
        };
        let json = "-H 'content-type: application/json'";
        let prefix = if self.servers.len() > 1 { "lobby__" } else { "" };
        let mut text = String::new();
        if self.has_demo {
            let prefix = if self.servers.len() > 1 { "tasks__" } else { "" };
            for (tool, body) in demo::FIRST_MINUTE {
                text.push_str(&format!("  curl -s {base}/v1/tools/{prefix}{tool} {json}{key} -d '{body}'\n"));
            }
            return text;
        }
        if self.servers.contains(&"lobby") {
            for (tool, body) in
                [("echo", r#"{"text":"hello"}"#), ("fail", r#"{"reason":"gateway/UPSTREAM_TIMEOUT"}"#)]
            {
                text.push_str(&format!("  curl -s {base}/v1/tools/{prefix}{tool} {json}{key} -d '{body}'\n"));
            }
        } else {
            text.push_str(&format!("  curl -s {base}/v1/tools{key}\n"));
        }
        text.push_str(&format!("  failwell probe {base}/mcp{}\n", key.replace("-H", "--header")));
        text
    }
}
