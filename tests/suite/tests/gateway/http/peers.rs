//! Unmodified third-party servers over HTTP. `./x test gateway` installs them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use failwell_gateway::{Endpoint, UpstreamSettings};
use failwell_rpc::Era;
use serde_json::json;
use tokio::process::{Child, Command};

use super::cells::answering;
use crate::client::{GatewayClient, text};

pub(super) struct Peer {
    pub(super) address: SocketAddr,
    // Killed when dropped.
    _child: Child,
}

impl Peer {
    fn settings(&self, name: &str) -> UpstreamSettings {
        let reach = Endpoint::Http { url: format!("http://{}/mcp", self.address), headers: Vec::new() };
        UpstreamSettings { timeout: Duration::from_secs(60), ..UpstreamSettings::new(name, reach) }
    }
}

fn tools() -> PathBuf {
    let tools = std::env::var_os("FAILWELL_TOOLS").expect("run through `./x test`, which installs the peers");
    PathBuf::from(tools)
}

/// Starts a server on a free port, and waits until it takes connections.
pub(super) async fn serve(command: impl FnOnce(u16) -> Command) -> Peer {
    let port = failwell_suite::free_port();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let mut command = command(port);
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().expect("the peer starts");
    for _ in 0..1_800 {
        assert!(matches!(child.try_wait(), Ok(None)), "the peer ended at once");
        if tokio::net::TcpStream::connect(address).await.is_ok() {
            return Peer { address, _child: child };
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the peer does not listen");
}

pub(super) fn python(program: &str, port: u16) -> Command {
    let mut command = Command::new(tools().join("python/bin/python"));
    command.args(["-c", &program.replace("PORT", &port.to_string())]);
    command
}

/// The npm package `server-everything`, over one of its transports.
pub(super) fn everything(transport: &str, port: u16) -> Command {
    let npm = tools().join("npm");
    let mut command = Command::new(npm.join("bin/node"));
    let script = npm.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    command.arg(script).arg(transport).env("PORT", port.to_string());
    command
}

const FASTMCP: &str = "
from fastmcp import FastMCP, Context
server = FastMCP('peer')
@server.tool
def shout(text: str) -> str:
    return text.upper()
@server.tool
async def count(ctx: Context) -> str:
    for n in range(3):
        await ctx.report_progress(n + 1, 3)
    return 'counted'
server.run(transport='http', host='127.0.0.1', port=PORT, show_banner=False)
";

const MCP: &str = "
from mcp.server import MCPServer
server = MCPServer('peer')
@server.tool()
def shout(text: str) -> str:
    return text.upper()
server.run('streamable-http', host='127.0.0.1', port=PORT)
";

#[tokio::test(flavor = "multi_thread")]
async fn servers_from_npm_and_pypi_work_unchanged_over_http() {
    let everything = serve(|port| everything("streamableHttp", port));
    let fast = serve(|port| python(FASTMCP, port));
    let plain = serve(|port| python(MCP, port));
    let (everything, fast, plain) = tokio::join!(everything, fast, plain);
    for client in [Era::Session, Era::Modern] {
        let upstreams = vec![everything.settings("everything"), fast.settings("fast"), plain.settings("py")];
        let mut world = GatewayClient::of(client, upstreams).await;
        world.list_of_all().await;
        let echoed = world.call("everything__echo", json!({"message": "hi"})).await;
        assert_eq!(text(&echoed), "Echo: hi");
        for server in ["fast", "py"] {
            let shouted = world.call(&format!("{server}__shout"), json!({"text": "loud"})).await;
            assert_eq!(text(&shouted), "LOUD", "{client:?}");
        }
        assert_eq!(progress(&mut world, "fast__count", json!({})).await, 3, "{client:?}");
        let long = json!({"duration": 1, "steps": 4});
        let progress_count = progress(&mut world, "everything__trigger-long-running-operation", long).await;
        assert_eq!(progress_count, 4, "{client:?}");
        let model =
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "forty-two"}});
        let prompt = json!({"prompt": "?", "maxTokens": 10});
        let sampled =
            answering(&mut world, client, "everything__trigger-sampling-request", prompt, model).await;
        assert!(text(&sampled).contains("forty-two"), "{client:?}: {sampled}");
        world.gateway.stop();
    }
}

/// Calls a tool and counts how often it reports progress.
pub(super) async fn progress(world: &mut GatewayClient, tool: &str, arguments: serde_json::Value) -> usize {
    let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": 1}});
    let id = world.start("tools/call", params).await;
    let mut count = 0;
    loop {
        let message = world.hear().await;
        if message["id"] == id {
            assert!(message["result"]["content"].is_array(), "{message}");
            return count;
        }
        count += usize::from(message["method"] == "notifications/progress");
    }
}
