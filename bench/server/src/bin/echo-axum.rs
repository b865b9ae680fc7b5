//! The lower bound: an axum handler that decodes one kind of request and checks nothing.

use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use bench_server::lifecycle::{open, shutdown_requested};
use serde::{Deserialize, Serialize};
use std::error::Error;

#[derive(Deserialize)]
struct Request {
    id: u64,
    params: Params,
}

#[derive(Deserialize)]
struct Params {
    arguments: Arguments,
}

#[derive(Deserialize)]
struct Arguments {
    text: String,
}

#[derive(Serialize)]
struct Answer {
    jsonrpc: &'static str,
    id: u64,
    result: Outcome,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    result_type: &'static str,
    content: [Content; 1],
}

#[derive(Serialize)]
struct Content {
    r#type: &'static str,
    text: String,
}

async fn echo(Json(request): Json<Request>) -> Json<Answer> {
    let content = [Content { r#type: "text", text: request.params.arguments.text }];
    Json(Answer { jsonrpc: "2.0", id: request.id, result: Outcome { result_type: "complete", content } })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let router = Router::new().route("/mcp", post(echo));
    let listener = open().await?.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    tokio::select! {
        served = async { axum::serve(listener, router).await } => served?,
        () = shutdown_requested() => {}
    }
    Ok(())
}
