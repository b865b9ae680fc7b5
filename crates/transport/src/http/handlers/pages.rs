//! Pages for operators.

use failwell_rpc::Caller;
use failwell_toolbox::MetricsText;
use http::Response;

use crate::http::body::{Body, whole};
use crate::http::router::Mount;

/// Liveness: the process responds.
pub(in crate::http) fn health(_: &Mount, _: &Caller) -> Response<Body> {
    whole(200, "application/json", r#"{"status":"ok"}"#)
}

/// Readiness: new requests are served.
pub(in crate::http) fn ready(mount: &Mount, _: &Caller) -> Response<Body> {
    if mount.pipeline.closing().is_cancelled() {
        return whole(503, "application/json", r#"{"status":"shutting down"}"#);
    }
    if mount.pipeline.check_records().is_err() {
        return whole(503, "application/json", r#"{"status":"the ledger cannot be written"}"#);
    }
    whole(200, "application/json", r#"{"status":"ready"}"#)
}

/// Metrics for Prometheus, of the servers that the caller may see.
pub(in crate::http) fn metrics(mount: &Mount, caller: &Caller) -> Response<Body> {
    let mut own = MetricsText::default();
    mount.settings.counters.write(&mut own);
    let bodies = mount.settings.bodies.held() + mount.settings.refused_bodies.held();
    own.single("failwell_http_body_bytes", "gauge", bodies);
    whole(200, "text/plain; version=0.0.4", mount.pipeline.metrics_for(caller) + &own.into_text())
}
