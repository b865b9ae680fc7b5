//! The official SDK at its fastest: a handler written by hand instead of the macros' router, no sessions and plain
//! JSON answers on `/mcp`; on `/session` the sessions it keeps by default.

use axum::Router;
use axum::serve::ListenerExt;
use bench_server::stand::{open, told_to_stop};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};
use serde::Deserialize;
use serde_json::Value;
use std::error::Error;
use std::sync::Arc;

#[derive(Clone)]
struct EchoServer;

#[derive(Deserialize)]
struct Echo {
    text: String,
}

impl ServerHandler for EchoServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "echo" {
            return Err(ErrorData::invalid_params("unknown tool", None));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let given: Echo = serde_json::from_value(arguments)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        Ok(CallToolResult::success(vec![ContentBlock::text(given.text)]).into())
    }
}

fn service(config: StreamableHttpServerConfig) -> StreamableHttpService<EchoServer, LocalSessionManager> {
    StreamableHttpService::new(|| Ok(EchoServer), Arc::new(LocalSessionManager::default()), config)
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
        () = told_to_stop() => {}
    }
    Ok(())
}
