//! The echo server over HTTP.

use bench_gateway::echo::{Answer, answer};
use bench_server::lifecycle::{open, shutdown_requested};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::error::Error;
use tokio::net::TcpListener;

async fn respond(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    if request.method() != Method::POST {
        return Ok(empty(StatusCode::METHOD_NOT_ALLOWED));
    }
    let body = request.into_body().collect().await?.to_bytes();
    let mut opened = false;
    let body = match answer(&body) {
        Answer::Now(body) => body,
        Answer::SessionOpened(body) => {
            opened = true;
            body
        }
        Answer::Later(wait, body) => {
            tokio::time::sleep(wait).await;
            body
        }
        Answer::Nothing => return Ok(empty(StatusCode::ACCEPTED)),
    };
    let mut response = Response::new(Full::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if opened {
        response.headers_mut().insert("mcp-session-id", HeaderValue::from_static("bench"));
    }
    Ok(response)
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

async fn serve(listener: TcpListener) -> Result<(), Box<dyn Error>> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(respond)));
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = open().await?;
    tokio::select! {
        served = serve(listener) => served,
        () = shutdown_requested() => Ok(()),
    }
}
