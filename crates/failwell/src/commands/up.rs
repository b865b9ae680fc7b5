use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use failwell_fault::{Fault, Secret};
use failwell_policy::Keys;
use failwell_server::House;
use failwell_transport::{HttpSettings, serve_http};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::serve;
use crate::cli::Up;
use crate::complaint::Complaint;
use crate::doctor;
use crate::terminal::{self, Paint};

/// Serves over HTTP until told to stop.
pub(super) async fn run(arguments: Up) -> Result<ExitCode, Complaint> {
    let key = the_key();
    let keys = guarded(key.as_ref(), arguments.listen)?;
    let (listener, address) = listen(arguments.listen).await?;
    let house = serve::house(&arguments.bounds)?;
    let settings = HttpSettings {
        keys,
        allowed_hosts: arguments.allow_host,
        allowed_origins: arguments.allow_origin,
        ..HttpSettings::default()
    };
    let stop = serve::stop_on_signal();
    let serving = tokio::spawn(serve_http(house.clone(), listener, settings, stop));
    let missing = doctor::missing_parts(&doctor::examine().await);
    terminal::print(&welcome(address, &missing, key.is_some(), Paint::for_stdout()));
    see_out(&house, serving).await
}

/// Serves one tool server over HTTP until told to stop.
pub(super) async fn serve_one(house: Arc<House>, at: SocketAddr) -> Result<ExitCode, Complaint> {
    let keys = guarded(the_key().as_ref(), at)?;
    let (listener, address) = listen(at).await?;
    let settings = HttpSettings { keys, ..HttpSettings::default() };
    let stop = serve::stop_on_signal();
    let serving = tokio::spawn(serve_http(house.clone(), listener, settings, stop));
    terminal::print(&format!("{} is up on http://{address}/mcp\n", house.room().info().title));
    see_out(&house, serving).await
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

async fn see_out(house: &House, serving: JoinHandle<Result<(), Fault>>) -> Result<ExitCode, Complaint> {
    let served = serving.await;
    house.journal().flush();
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
            "check the address given to --listen",
        ),
    })
}

/// One screen: what runs, what does not and why, what to try next.
fn welcome(address: SocketAddr, missing: &[String], locked: bool, paint: Paint) -> String {
    let base = format!("http://{address}");
    let key = if locked { " -H \"X-API-Key: $FAILWELL_KEY\"" } else { "" };
    let json = "-H 'content-type: application/json'";
    let mut text = format!(
        "{} {} is up on {}\n\n{}\n",
        paint.bold("failwell"),
        env!("CARGO_PKG_VERSION"),
        paint.bold(&base),
        paint.bold("running")
    );
    for (path, what) in [
        ("/mcp", "MCP, every version from 2024-11-05 to 2026-07-28"),
        ("/rpc", "the same tools over plain JSON-RPC 2.0"),
        ("/v1/tools", "the same tools over REST, described by /openapi.json"),
        ("/metrics", "numbers for Prometheus; /healthz and /readyz for whoever watches"),
    ] {
        text.push_str(&format!("  {path:<10} {what}\n"));
    }
    if locked {
        text.push_str("  every caller needs the key in FAILWELL_KEY\n");
    }
    if !missing.is_empty() {
        text.push_str(&format!("\n{}  (failwell doctor says more)\n", paint.bold("not running")));
        missing.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    text.push_str(&format!(
        "\n{}\n  curl -s {base}/v1/tools/echo {json}{key} -d '{{\"text\":\"hello\"}}'\n  \
         curl -s {base}/v1/tools/fail {json}{key} -d '{{\"reason\":\"gateway/UPSTREAM_TIMEOUT\"}}'\n  \
         failwell probe {base}/mcp\n\nstop with Ctrl-C\n",
        paint.bold("try")
    ));
    text
}
