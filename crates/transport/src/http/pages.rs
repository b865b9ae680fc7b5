//! Pages for operators.

use http::Response;

use super::body::{Body, whole};
use super::router::Mount;

/// Liveness: the process responds.
pub(super) fn health(_: &Mount) -> Response<Body> {
    whole(200, "application/json", r#"{"status":"ok"}"#)
}

/// Readiness: the server accepts new requests.
pub(super) fn ready(mount: &Mount) -> Response<Body> {
    if mount.pipeline.closing().is_cancelled() {
        return whole(503, "application/json", r#"{"status":"shutting down"}"#);
    }
    whole(200, "application/json", r#"{"status":"ready"}"#)
}

/// Metrics for Prometheus.
pub(super) fn metrics(mount: &Mount) -> Response<Body> {
    whole(200, "text/plain; version=0.0.4", mount.pipeline.metrics())
}
