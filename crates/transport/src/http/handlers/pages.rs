//! Pages for operators.

use std::pin::Pin;
use std::sync::Arc;

use failwell_fault::{Fault, Pointer, Rule, Violation, reason};
use failwell_pipeline::UnreadyPart;
use failwell_rpc::Caller;
use failwell_toolbox::MetricsText;
use http::Response;
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::http::access::authorize::authenticate;
use crate::http::body::{Body, whole};
use crate::http::request::RequestHead;
use crate::http::router::Mount;

/// Liveness: the process responds.
pub(in crate::http) fn health(_: &Mount, _: &Caller) -> Response<Body> {
    whole(200, "application/json", r#"{"status":"ok"}"#)
}

/// Readiness: new requests are served. `?verbose` lists the parts that do not work.
pub(in crate::http) fn ready<'a>(
    mount: &'a Arc<Mount>,
    head: &'a RequestHead<'a>,
    _: Incoming,
    _: Caller,
) -> Pin<Box<dyn Future<Output = Response<Body>> + Send + 'a>> {
    Box::pin(async move {
        let (code, status) = match (mount.pipeline.closing().is_cancelled(), mount.pipeline.check_records()) {
            (true, _) => (503, "shutting down"),
            (false, Err(_)) => (503, "the ledger cannot be written"),
            (false, Ok(())) => (200, "ready"),
        };
        let verbose = match is_verbose(head) {
            Ok(verbose) => verbose,
            Err(fault) => return mount.refuse(fault, head, None).await,
        };
        let answer = match verbose {
            true => json!({"status": status, "not_ready": unready_parts(mount, head).await}),
            false => json!({"status": status}),
        };
        whole(code, "application/json", answer.to_string())
    })
}

/// Reads `?verbose`, with or without a value.
fn is_verbose(head: &RequestHead<'_>) -> Result<bool, Fault> {
    let given = head.query_pairs().find(|(name, _)| name == "verbose").map(|(_, value)| value);
    match given.as_deref() {
        None | Some("false") => Ok(false),
        Some("" | "true") => Ok(true),
        Some(_) => {
            let wrong = Violation::new(Pointer::root().then("verbose"), Rule::Choice);
            Err(Fault::new(&reason::HTTP_QUERY).violation(wrong.limit(vec!["true", "false"])))
        }
    }
}

/// The parts that do not work. Names are left out for callers without the credentials that are needed here.
async fn unready_parts(mount: &Mount, head: &RequestHead<'_>) -> Vec<Value> {
    let reader = authenticate(head, &mount.settings).await.ok();
    let is_known = reader.is_some();
    let parts = mount.pipeline.unready_parts(reader.as_ref()).into_iter();
    let shown = parts.map(|UnreadyPart { part, name, state }| match name.filter(|_| is_known) {
        Some(name) => json!({"part": part, "name": name, "state": state}),
        None => json!({"part": part, "state": state}),
    });
    shown.collect()
}

/// Metrics for Prometheus, of the servers that the caller may see.
pub(in crate::http) fn metrics(mount: &Mount, caller: &Caller) -> Response<Body> {
    let mut own = MetricsText::default();
    mount.settings.counters.write(&mut own);
    let bodies = mount.settings.bodies.held() + mount.settings.refused_bodies.held();
    own.single("failwell_http_body_bytes", "gauge", "Memory of request bodies, in bytes.", bodies);
    whole(200, "text/plain; version=0.0.4", mount.pipeline.metrics_for(caller) + &own.into_text())
}
