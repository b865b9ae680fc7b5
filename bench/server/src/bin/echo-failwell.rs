//! Failwell: one typed tool in a toolbox, served as `failwell up` does.

use bench_server::lifecycle::{open, shutdown_requested};
use failwell_controls::{Settings, build_pipeline};
use failwell_journal::Journal;
use failwell_toolbox::{Info, Tool, ToolOutcome, Toolbox};
use failwell_transport::serve_http;
use schemars::JsonSchema;
use serde::Deserialize;
use std::error::Error;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let info = Info { name: "echo", title: "Echo", version: "0.1.0", instructions: "" };
    let echo = Tool::new("echo", "Returns the given text.", |given: Echo, _| async move {
        Ok(ToolOutcome::text(given.text))
    });
    let toolbox = Toolbox::new(info).tool(echo.map_err(|fault| fault.to_string())?);
    let pipeline = build_pipeline(Arc::new(toolbox), Settings::default(), Journal::to_stderr());
    let stop = CancellationToken::new();
    let serving = serve_http(
        pipeline.map_err(|fault| fault.to_string())?,
        open().await?,
        failwell_rest::http_settings(),
        stop.clone(),
    );
    let serving = tokio::spawn(serving);
    shutdown_requested().await;
    stop.cancel();
    serving.await?.map(|_| ()).map_err(|fault| fault.to_string().into())
}
