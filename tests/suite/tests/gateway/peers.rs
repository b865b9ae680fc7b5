//! Unmodified third-party servers as upstreams. `./x test gateway` installs them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use failwell_gateway::{Endpoint, UpstreamSettings};
use serde_json::json;

use crate::client::{GatewayClient, failed, text};

fn tools() -> PathBuf {
    let tools = std::env::var_os("FAILWELL_TOOLS").expect("run through `./x test`, which installs the peers");
    PathBuf::from(tools)
}

fn node(name: &str, script: &str, arguments: &[&str]) -> UpstreamSettings {
    let npm = tools().join("npm");
    let script = npm.join("node_modules/@modelcontextprotocol").join(script);
    let mut all = vec![script.display().to_string()];
    all.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    child(name, &npm.join("bin/node"), all)
}

fn python(name: &str, program: &str) -> UpstreamSettings {
    let arguments = vec!["-c".to_owned(), program.to_owned()];
    child(name, &tools().join("python/bin/python"), arguments)
}

fn child(name: &str, program: &Path, arguments: Vec<String>) -> UpstreamSettings {
    let reach = Endpoint::Child {
        program: program.to_owned(),
        arguments,
        folder: std::env::temp_dir(),
        environment: Vec::new(),
        inherited: vec!["PATH".to_owned(), "HOME".to_owned()],
    };
    UpstreamSettings { timeout: Duration::from_secs(60), ..UpstreamSettings::new(name, reach) }
}

const FASTMCP: &str = "
from fastmcp import FastMCP
server = FastMCP('peer')
@server.tool
def shout(text: str) -> str:
    return text.upper()
@server.tool
def fail() -> str:
    raise RuntimeError('password=hunter2 in /srv/secret')
server.run(show_banner=False)
";

const MCP: &str = "
from mcp.server import MCPServer
server = MCPServer('peer')
@server.tool()
def shout(text: str) -> str:
    return text.upper()
server.run('stdio')
";

#[tokio::test(flavor = "multi_thread")]
async fn servers_from_npm_and_pypi_work_unchanged() {
    let folder = std::env::temp_dir().join(format!("failwell-peers-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("note.txt"), "hello from a file").expect("a file");
    let folder_text = folder.canonicalize().expect("a path").display().to_string();
    let mut world = GatewayClient::new(vec![
        node("everything", "server-everything/dist/index.js", &["stdio"]),
        node("files", "server-filesystem/dist/index.js", &[&folder_text]),
        node("memory", "server-memory/dist/index.js", &[]),
        python("fast", FASTMCP),
        python("py", MCP),
    ])
    .await;
    let list = world.list_of_all().await;
    assert_eq!(list["result"]["_meta"], json!(null), "nothing to be told of any of them: {list}");
    let echoed = world.call("everything__echo", json!({"message": "hi"})).await;
    assert_eq!(text(&echoed), "Echo: hi");
    let path = format!("{folder_text}/note.txt");
    let read = world.call("files__read_text_file", json!({"path": path})).await;
    assert_eq!(text(&read), "hello from a file");
    let graph = world.call("memory__read_graph", json!({})).await;
    assert!(text(&graph).contains("entities"), "{graph}");
    for server in ["fast", "py"] {
        let shouted = world.call(&format!("{server}__shout"), json!({"text": "loud"})).await;
        assert_eq!(text(&shouted), "LOUD");
    }
    assert_eq!(failed(&world.call("files__nope", json!({})).await), (-32602, "mcp/UNKNOWN_TOOL"));
    world.gateway.stop();
    std::fs::remove_dir_all(&folder).expect("removed");
}
