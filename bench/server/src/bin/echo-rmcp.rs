//! The official SDK with its fastest settings: the tool router is built once and shared. `/mcp` has no sessions and
//! answers with plain JSON; `/session` has the default sessions.

use axum::Router;
use axum::serve::ListenerExt;
use bench_server::lifecycle::{open, shutdown_requested};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, ServerCapabilities, ServerConfig};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use std::error::Error;
use std::sync::Arc;

struct EchoServer {
    tool_router: ToolRouter<EchoServer>,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[tool_router]
impl EchoServer {
    #[tool(description = "Returns the given text.")]
    async fn echo(&self, Parameters(given): Parameters<Echo>) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::text(given.text)])
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for EchoServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

type Service = StreamableHttpService<Arc<EchoServer>, LocalSessionManager>;

fn service(config: StreamableHttpServerConfig) -> Service {
    let server = Arc::new(EchoServer { tool_router: EchoServer::tool_router() });
    StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let config = StreamableHttpServerConfig::default;
    let stateless = config().with_legacy_session_mode(false).with_json_response(true);
    let router =
        Router::new().route_service("/mcp", service(stateless)).route_service("/session", service(config()));
    let listener = open().await?.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    tokio::select! {
        served = async { axum::serve(listener, router).await } => served?,
        () = shutdown_requested() => {}
    }
    Ok(())
}
