use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_pipeline::Pipeline;
use failwell_rest::Authenticator;
use failwell_transport::{
    BodyBudget, HttpSettings, Mounts, ShutdownReport, serve_http, serve_mounts, stop_on_signal,
};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::endpoint::{ServedEndpoint, create_admin_key, credentials, the_key, was_shown};
use super::first_screen::{FirstScreen, RequiredCredentials, Servers, StoppedLine, admin_key};
use super::reload::{ConfigSource, ServedConfig};
use super::serve;
use super::served_gateway::ServedGateway;
use super::service_manager;
use crate::cli::Up;
use crate::commands::backends::shared::SharedBackends;
use crate::commands::config_file::ConfigFileError;
use crate::commands::servers::demo::{self, Demo, with_demo};
use crate::complaint::Complaint;
use crate::config::{Builtin, Config, DEFAULT_ADDRESS};
use crate::doctor::{self, ConfiguredParts};
use crate::terminal;

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
    let admin = create_admin_key(&config, &key_store).await?;
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
    service_manager::report_until(stop.clone());
    let servers = Servers {
        starting: served.start_servers(),
        lazy: served.lazy_servers(),
        failure_text: Arc::new(served.failure_text()),
    };
    let credentials = RequiredCredentials::of(key.is_some(), &config);
    let first_screen = FirstScreen {
        address,
        file: source.file().map(Path::to_owned),
        state: config.state_folder(),
        credentials,
        suggestions: suggestions(&config, address, credentials, demo.is_some()),
        admin: &admin,
        note: demo.as_ref().map(|_| demo::NOTE),
    };
    let missing = missing_parts(&config, &served.disabled, demo.is_some());
    tokio::select! {
        () = first_screen.show(servers, missing) => {}
        () = stop.cancelled() => {}
    }
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

/// What configured servers need and this machine lacks, and the guards that do not work.
async fn missing_parts(config: &Config, disabled: &[String], has_demo: bool) -> Vec<String> {
    let mut findings = doctor::examine(ConfiguredParts::just(config)).await;
    if has_demo {
        findings.retain(|finding| finding.name != demo::NOT_NEEDED);
    }
    let mut missing = doctor::missing_parts(&findings);
    missing.extend(disabled.iter().cloned());
    missing
}

/// Calls to try at once.
fn suggestions(
    config: &Config,
    address: SocketAddr,
    credentials: RequiredCredentials,
    has_demo: bool,
) -> Vec<String> {
    let header = credentials.shell_header();
    let key = header.map_or(String::new(), |header| format!(" -H {header}"));
    let prefixed = config.servers.len() + config.upstreams.len() > 1;
    let call = |server: &str, tool: &str, body: &str| {
        let name = if prefixed { format!("{server}__{tool}") } else { tool.to_owned() };
        format!(
            "curl -s http://{address}/v1/tools/{name} -H 'content-type: application/json'{key} -d '{body}'"
        )
    };
    if has_demo {
        return demo::FIRST_MINUTE.iter().map(|(tool, body)| call("tasks", tool, body)).collect();
    }
    match config.servers.contains(&Builtin::Demo) {
        true => vec![call("lobby", "echo", r#"{"text":"hello"}"#)],
        false => vec![format!("curl -s http://{address}/v1/tools{key}")],
    }
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
    let admin = create_admin_key(&config, &key_store).await?;
    let settings = HttpSettings { authenticator, ..failwell_rest::http_settings() };
    let stop = stop_on_signal();
    let serving = tokio::spawn(serve_http(pipeline.clone(), listener, settings, stop.clone()));
    service_manager::report_until(stop);
    let info = pipeline.server().info();
    match terminal::is_interactive() {
        true => terminal::print(&format!(
            "{} is up on http://{address}/mcp\nstop with Ctrl-C\n{}",
            info.title,
            admin_key(&admin)
        )),
        false => {
            let credentials = RequiredCredentials::of(false, &config);
            let (state, suggestions) = (config.state_folder(), Vec::new());
            FirstScreen { address, file: None, state, credentials, admin: &admin, note: None, suggestions }
                .print_line_of(info.name);
        }
    }
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
            terminal::print(&stopped(report));
            Ok(ExitCode::SUCCESS)
        }
        Ok(Err(fault)) => Err(serve::unexpected(&fault)),
        Err(_) => Err(Complaint::new("the server stopped unexpectedly", "report the error in the log above")),
    }
}

/// The last line: for a person at a terminal, otherwise JSON.
fn stopped(report: ShutdownReport) -> String {
    if terminal::is_interactive() {
        return format!("\nstopped; {}\n", summary(report));
    }
    let ShutdownReport { running, ended, undelivered } = report;
    StoppedLine { event: "stopped", finished: running.saturating_sub(ended), ended, undelivered }.text()
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
