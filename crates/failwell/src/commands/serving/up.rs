use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_gateway::{StartOutcome, StartingUpstream};
use failwell_pipeline::Pipeline;
use failwell_rest::Authenticator;
use failwell_transport::{
    BodyBudget, HttpSettings, Mounts, ShutdownReport, serve_http, serve_mounts, stop_on_signal,
};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::entrance::{ServedEndpoint, credentials, the_key, was_shown, welcome_admin};
use super::reload::{ConfigSource, ServedConfig};
use super::serve;
use super::served::ServedGateway;
use crate::cli::Up;
use crate::commands::backends::shared::SharedBackends;
use crate::commands::configured::ConfigFileError;
use crate::commands::servers::demo::{self, Demo, with_demo};
use crate::complaint::Complaint;
use crate::config::{Config, DEFAULT_ADDRESS};
use crate::doctor::{self, ConfiguredParts};
use crate::terminal::{self, Paint};

/// How long the first screen waits for upstreams that start, to tell which do not.
const FIRST_STARTS: Duration = Duration::from_secs(1);

/// Serves over HTTP until a signal stops it.
pub(in crate::commands) async fn run(arguments: Up) -> Result<ExitCode, Complaint> {
    let demo = if arguments.demo { Some(Arc::new(Demo::start().await?)) } else { None };
    let source = ConfigSource::of(arguments.config.as_deref(), &arguments.command);
    let config = with_demo(demo.as_deref(), source.settle().map_err(ConfigFileError::report)?);
    let at = arguments.listen.or(config.listen).unwrap_or(DEFAULT_ADDRESS);
    let key = the_key();
    let idle = failwell_rest::http_settings().idle_session;
    let shared = SharedBackends::join(&config, idle).await?;
    let key_store = shared.keys.clone();
    let authenticator = Arc::new(Authenticator::from(credentials(&config, key.as_ref(), &key_store, at)?));
    let (listener, address) = listen(at).await?;
    let admin = welcome_admin(&config, &key_store).await?;
    let served = ServedGateway::new(&arguments.bounds, &config, shared).await?;
    source.announce(&served.pipeline, &config);
    let mut settings = HttpSettings {
        authenticator: authenticator.clone(),
        allowed_hosts: arguments.allow_host,
        allowed_origins: arguments.allow_origin,
        drain: Duration::from_secs(arguments.bounds.drain),
        most_connections: config.listener.connections,
        most_per_address: config.listener.connections_per_address,
        most_sessions_per_caller: config.listener.sessions_per_caller,
        bodies: Arc::new(BodyBudget::new(
            config.listener.body_mb << 20,
            config.listener.body_mb_per_caller << 20,
        )),
        ..failwell_rest::http_settings()
    };
    let stop = stop_on_signal();
    settings.allow_address(address.ip());
    let mounts = Arc::new(Mounts::new(served.pipeline.clone(), settings));
    mounts.replace(served.single.clone());
    let serving = tokio::spawn(serve_mounts(mounts.clone(), listener, stop.clone()));
    let starting = served.start_upstreams();
    // Without a configuration, the first screen lists every part that could be served.
    let wanted =
        if source.is_chosen() { ConfiguredParts::just(&config) } else { ConfiguredParts::from(&config) };
    let mut findings = doctor::examine(wanted).await;
    if demo.is_some() {
        findings.retain(|finding| finding.name != demo::NOT_NEEDED);
    }
    let mut missing = doctor::missing_parts(&findings);
    missing.extend(served.disabled.iter().cloned());
    let broken = broken_servers(starting).await;
    missing.extend(broken.iter().map(|name| format!("{name} does not start; the log says why")));
    let working = served.single.keys().filter(|name| !broken.contains(name));
    let servers = working.map(String::as_str).collect();
    let locked = RequiredCredentials::of(key.is_some(), &config);
    let names = if served.single.len() > 1 { ToolNames::Prefixed } else { ToolNames::Own };
    let shown = FirstScreen { address, missing: &missing, locked, servers, names, has_demo: demo.is_some() };
    terminal::print(&(shown.welcome(Paint::for_stdout()) + &admin));
    was_shown(&admin, &config)?;
    let end = served.end();
    let overruled = if arguments.listen.is_some() { vec!["listen"] } else { Vec::new() };
    let endpoint = Some(ServedEndpoint { mounts, authenticator, at, key, key_store });
    let running = ServedConfig { source, config, served, overruled, endpoint, demo: demo.clone() };
    tokio::spawn(running.follow(stop));
    let ended = wait_for_end(serving, end).await;
    // The emulator must outlive the last request.
    drop(demo);
    ended
}

/// The upstreams of which it is soon known that they do not start.
async fn broken_servers(starting: Vec<StartingUpstream>) -> Vec<String> {
    let deadline = tokio::time::Instant::now() + FIRST_STARTS;
    let mut broken = Vec::new();
    for StartingUpstream { name, outcome } in starting {
        if let Ok(Ok(StartOutcome::Failed)) = tokio::time::timeout_at(deadline, outcome).await {
            broken.push(name);
        }
    }
    broken
}

/// Serves one tool server over HTTP until a signal stops it.
pub(super) async fn serve_one(
    pipeline: Arc<Pipeline>,
    at: SocketAddr,
    require_key: bool,
) -> Result<ExitCode, Complaint> {
    let config = Config { require_key, ..Config::default() };
    let key_store = SharedBackends::nothing(&config).keys;
    let authenticator =
        Arc::new(Authenticator::from(credentials(&config, the_key().as_ref(), &key_store, at)?));
    let (listener, address) = listen(at).await?;
    let admin = welcome_admin(&config, &key_store).await?;
    let settings = HttpSettings { authenticator, ..failwell_rest::http_settings() };
    let stop = stop_on_signal();
    let serving = tokio::spawn(serve_http(pipeline.clone(), listener, settings, stop));
    terminal::print(&format!("{} is up on http://{address}/mcp\n{admin}", pipeline.server().info().title));
    was_shown(&admin, &config)?;
    let end = || {
        serve::close(&pipeline);
        key_store.close();
    };
    wait_for_end(serving, end).await
}

async fn listen(at: SocketAddr) -> Result<(TcpListener, SocketAddr), Complaint> {
    let listener = bind(at).await?;
    let address = listener.local_addr().unwrap_or(at);
    Ok((listener, address))
}

/// Waits for the server to stop, then runs `end`.
async fn wait_for_end(
    serving: JoinHandle<Result<ShutdownReport, Fault>>,
    end: impl FnOnce(),
) -> Result<ExitCode, Complaint> {
    let served = serving.await;
    end();
    match served {
        Ok(Ok(report)) => {
            terminal::print(&format!("\nstopped; {}\n", summary(report)));
            Ok(ExitCode::SUCCESS)
        }
        Ok(Err(fault)) => Err(serve::unexpected(&fault)),
        Err(_) => Err(Complaint::new("the server stopped unexpectedly", "report the error in the log above")),
    }
}

/// The fate of the requests that were running when the shutdown began.
fn summary(report: ShutdownReport) -> String {
    let ShutdownReport { running, ended, undelivered } = report;
    let requests = |count: usize| format!("{count} request{}", if count == 1 { "" } else { "s" });
    let mut text = match (running, ended) {
        (0, 0) => "no request was running".to_owned(),
        (_, 0) => format!("{} finished", requests(running)),
        _ => format!(
            "{} finished, {} ended with server/SHUTDOWN",
            requests(running.saturating_sub(ended)),
            requests(ended)
        ),
    };
    if undelivered > 0 {
        text.push_str(&format!("; {} could not be answered in time", requests(undelivered)));
    }
    text
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

/// The contents of the first screen.
struct FirstScreen<'a> {
    address: SocketAddr,
    missing: &'a [String],
    locked: RequiredCredentials,
    servers: Vec<&'a str>,
    names: ToolNames,
    has_demo: bool,
}

/// Whether tools have the name of their server in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolNames {
    Own,
    Prefixed,
}

/// The credentials that a caller needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequiredCredentials {
    No,
    /// Only the key from `FAILWELL_KEY`.
    ByTheKey,
    /// A key or token of the configuration.
    ByTheFile,
    /// A key that an admin created.
    ByMadeKeys,
}

impl RequiredCredentials {
    fn of(has_key: bool, config: &Config) -> RequiredCredentials {
        match (has_key, config.keys.is_empty() && config.jwt.is_none()) {
            _ if config.require_key => RequiredCredentials::ByMadeKeys,
            (false, true) => RequiredCredentials::No,
            (true, true) => RequiredCredentials::ByTheKey,
            (_, false) => RequiredCredentials::ByTheFile,
        }
    }
}

impl FirstScreen<'_> {
    /// Running servers, missing parts with the reason, and calls to try.
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
            RequiredCredentials::No => "",
            RequiredCredentials::ByTheKey => "  every caller needs the key in FAILWELL_KEY\n",
            RequiredCredentials::ByTheFile => {
                "  every caller needs a key or token that the configuration knows\n"
            }
            RequiredCredentials::ByMadeKeys => {
                "  every caller needs a key; an admin makes them with POST /v1/keys\n"
            }
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
            ("/metrics", "metrics for Prometheus; /healthz and /readyz are health checks"),
        ] {
            text.push_str(&format!("  {path:<10} {what}\n"));
        }
        if self.names == ToolNames::Prefixed && !self.servers.is_empty() {
            let all: Vec<String> = self.servers.iter().map(|server| format!("/mcp/{server}")).collect();
            text.push_str(&format!("  each alone {}\n", all.join(" ")));
        }
        text
    }

    fn suggestions(&self, base: &str) -> String {
        let key = match self.locked {
            RequiredCredentials::No => "",
            RequiredCredentials::ByTheKey => " -H \"X-API-Key: $FAILWELL_KEY\"",
            RequiredCredentials::ByTheFile | RequiredCredentials::ByMadeKeys => " -H 'X-API-Key: …'",
        };
        let json = "-H 'content-type: application/json'";
        let prefix = if self.names == ToolNames::Prefixed { "lobby__" } else { "" };
        let mut text = String::new();
        if self.has_demo {
            let prefix = if self.names == ToolNames::Prefixed { "tasks__" } else { "" };
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
