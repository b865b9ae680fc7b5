//! Gateways and proxies of other projects, with a few calls each: they are slow, and serve the session era only.

use crate::bars::{Bars, over_stdio};
use crate::process::{Process, free_address, sibling_program};
use crate::run::Measurements;
use crate::stage::Stage;
use crate::stdio::Client;
use bench_server::figures::Figures;
use bench_server::load::{Target, round};
use bench_server::message::{Echo, Era};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The measuring time of each.
const LENGTH: Duration = Duration::from_secs(3);
const ECHO: Echo = Echo { path: "/mcp", tool: "echo", size: 64 };

/// The path of a peer from the environment, set by the script that starts the benchmark. `None` if it is not installed.
fn installed(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.exists())
}

pub async fn measure(stage: &Stage, measured: &Measurements, bars: &mut Bars) -> Result<(), String> {
    let (upstream, child) = (stage.upstream, sibling_program("upstream-stdio")?.display().to_string());
    println!("\npeers, one client, one call after another, 64 B, {LENGTH:?} each");
    println!(
        "{:<40}{:>10}{:>10}{:>10}{:>12}{:>8}",
        "peer", "calls/s", "p50 µs", "p99 µs", "cpu µs/req", "MB"
    );
    let url = format!("http://{upstream}/mcp");
    if let Some(python) = installed("BENCH_FASTMCP") {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/fastmcp_proxy.py");
        for (name, behind) in [("FastMCP proxy, HTTP", &url), ("FastMCP proxy, stdio", &child)] {
            let at = free_address()?;
            over_http(name, Command::new(&python).args([script, behind, &at.port().to_string()]), at).await;
        }
    }
    if let Some(program) = installed("BENCH_MCP_PROXY") {
        let at = free_address()?;
        let port = at.port().to_string();
        over_http("mcp-proxy, stdio", Command::new(&program).args(["--port", &port, "--", &child]), at).await;
        let arguments = ["--transport", "streamablehttp", &url];
        over_lines("mcp-proxy, HTTP, client over stdio", Command::new(&program).args(arguments));
    }
    if let (Some(node), Some(script)) = (installed("BENCH_NODE"), installed("BENCH_SUPERGATEWAY")) {
        let at = free_address()?;
        let mut command = Command::new(&node);
        command.arg(script).args(["--stdio", &child, "--outputTransport", "streamableHttp", "--stateful"]);
        command.args(["--logLevel", "none", "--port", &at.port().to_string()]);
        over_http("supergateway, stdio", &mut command, at).await;
    }
    if let Some(program) = installed("BENCH_GATEKIT") {
        let mut fastest: Option<f64> = None;
        for (name, reach) in [
            ("Gatekit, stdio, client over stdio", format!("command: [{child:?}]")),
            ("Gatekit, HTTP, client over stdio", format!("transport: http\n      url: {url:?}")),
        ] {
            let text = format!("proxy:\n  transport: stdio\n  upstreams:\n    - name: up\n      {reach}\n");
            let file = stage.folder.write("gatekit.yaml", &text)?;
            let mut command = Command::new(&program);
            let rate = over_lines(name, command.arg("--config").arg(&file).current_dir(&stage.folder.0));
            fastest = fastest.into_iter().chain(rate).reduce(f64::max);
        }
        if let (Some(theirs), Some(ours)) = (fastest, over_stdio(measured)) {
            bars.at_least("failwell, a shared child: calls/s, times Gatekit", ours / theirs, 20.0, "x");
        }
    }
    Ok(())
}

async fn over_http(name: &str, command: &mut Command, at: SocketAddr) {
    let measured = async {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = Process::listening(quiet, at)?;
        let target = Target { address: at, echo: ECHO, era: Era::Session };
        // Warm-up.
        round(target, 1, Duration::from_millis(300)).await?;
        let before = process.cpu();
        let (times, length) = round(target, 1, LENGTH).await?;
        Ok((Figures::of(times, length, process.cpu() - before), process.memory().resident))
    };
    tell(name, measured.await);
}

fn over_lines(name: &str, command: &mut Command) -> Option<f64> {
    let mut measured = || {
        let mut client = Client::start(command.stderr(Stdio::null()), "2025-06-18")?;
        let tool = if name.starts_with("Gatekit") { "up__echo" } else { "echo" };
        let echo = Echo { tool, ..ECHO };
        client.keep_asking(echo, Duration::from_millis(300))?;
        let before = client.process.cpu();
        let times = client.keep_asking(echo, LENGTH)?;
        let cpu = client.process.cpu() - before;
        Ok((Figures::of(times, LENGTH, cpu), client.process.memory().resident))
    };
    tell(name, measured())
}

/// Prints why a peer cannot be measured. The run goes on.
fn tell(name: &str, measured: Result<(Figures, f64), String>) -> Option<f64> {
    match measured {
        Ok((figures, memory)) => {
            let Figures { rate, p50, p99, cpu } = figures;
            println!("{name:<40}{rate:>10.0}{p50:>10.0}{p99:>10.0}{cpu:>12.0}{memory:>8.0}");
            Some(rate)
        }
        Err(error) => {
            println!("{name:<40}  {}", error.chars().take(200).collect::<String>());
            None
        }
    }
}
