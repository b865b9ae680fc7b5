use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use failwell_fault::{Fault, Secret};
use failwell_policy::Keys;
use failwell_server::House;
use failwell_transport::{Doors, HttpSettings, serve_doors, serve_http};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::configured::Misconfigured;
use super::reload::{Origin, Routes, Running};
use super::serve;
use super::served::Served;
use super::shared::Shared;
use crate::cli::Up;
use crate::complaint::Complaint;
use crate::config::DEFAULT_ADDRESS;
use crate::doctor;
use crate::terminal::{self, Paint};

/// Serves over HTTP until told to stop.
pub(super) async fn run(arguments: Up) -> Result<ExitCode, Complaint> {
    let origin = Origin::of(arguments.config.as_deref());
    let config = origin.settle().map_err(Misconfigured::report)?;
    let at = arguments.listen.or(config.listen).unwrap_or(DEFAULT_ADDRESS);
    let key = the_key();
    let keys = guarded(key.as_ref(), at)?;
    let (listener, address) = listen(at).await?;
    let idle = HttpSettings::default().idle_session;
    let shared = Shared::join(&config.state, idle).await?;
    let served = Served::new(&arguments.bounds, &config, shared)?;
    let mut settings = HttpSettings {
        keys,
        allowed_hosts: arguments.allow_host,
        allowed_origins: arguments.allow_origin,
        ..HttpSettings::default()
    };
    let stop = serve::stop_on_signal();
    settings.allow_address(address.ip());
    let doors = Arc::new(Doors::new(served.house.clone(), settings));
    doors.replace(served.single.clone());
    let serving = tokio::spawn(serve_doors(doors.clone(), listener, stop.clone()));
    let missing = doctor::missing_parts(&doctor::examine().await);
    let servers = served.single.keys().map(String::as_str).collect();
    let shown = Shown { address, missing: &missing, locked: key.is_some(), servers };
    terminal::print(&shown.welcome(Paint::for_stdout()));
    let end = served.end();
    let overruled = if arguments.listen.is_some() { vec!["listen"] } else { Vec::new() };
    let routes: Routes = Box::new(move |houses| doors.replace(houses));
    let running = Running { origin, config, served, overruled, routes: Some(routes) };
    tokio::spawn(running.follow(stop));
    see_out(serving, end).await
}

/// Serves one tool server over HTTP until told to stop.
pub(super) async fn serve_one(house: Arc<House>, at: SocketAddr) -> Result<ExitCode, Complaint> {
    let keys = guarded(the_key().as_ref(), at)?;
    let (listener, address) = listen(at).await?;
    let settings = HttpSettings { keys, ..HttpSettings::default() };
    let stop = serve::stop_on_signal();
    let serving = tokio::spawn(serve_http(house.clone(), listener, settings, stop));
    terminal::print(&format!("{} is up on http://{address}/mcp\n", house.room().info().title));
    see_out(serving, || house.books().flush()).await
}

async fn listen(at: SocketAddr) -> Result<(TcpListener, SocketAddr), Complaint> {
    let listener = bind(at).await?;
    let address = listener.local_addr().unwrap_or(at);
    Ok((listener, address))
}

fn the_key() -> Option<Secret<String>> {
    std::env::var("FAILWELL_KEY").ok().filter(|key| !key.is_empty()).map(Secret::new)
}

/// The keys callers may present; without one only this machine is served.
fn guarded(key: Option<&Secret<String>>, at: SocketAddr) -> Result<Keys, Complaint> {
    if key.is_none() && !at.ip().is_loopback() {
        return Err(Complaint::new(
            format!("{at} can be reached from other machines, and there is no key"),
            "set FAILWELL_KEY to a long random text, or listen on 127.0.0.1",
        ));
    }
    Ok(key.iter().fold(Keys::default(), |keys, key| keys.with("environment", key)))
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
    locked: bool,
    servers: Vec<&'a str>,
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
        if self.locked {
            text.push_str("  every caller needs the key in FAILWELL_KEY\n");
        }
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
        let key = if self.locked { " -H \"X-API-Key: $FAILWELL_KEY\"" } else { "" };
        let json = "-H 'content-type: application/json'";
        let prefix = if self.servers.len() > 1 { "lobby__" } else { "" };
        let mut text = String::new();
        if self.servers.contains(&"lobby") {
            for (tool, body) in
                [("echo", r#"{"text":"hello"}"#), ("fail", r#"{"reason":"gateway/UPSTREAM_TIMEOUT"}"#)]
            {
                text.push_str(&format!("  curl -s {base}/v1/tools/{prefix}{tool} {json}{key} -d '{body}'\n"));
            }
        } else {
            text.push_str(&format!("  curl -s {base}/v1/tools{key}\n"));
        }
        text.push_str(&format!("  failwell probe {base}/mcp\n"));
        text
    }
}
