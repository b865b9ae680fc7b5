//! The small pages for operators.

use failwell_server::House;
use http::Response;

use super::body::{Body, whole};

/// Alive: the process answers.
pub(super) fn health() -> Response<Body> {
    whole(200, "application/json", r#"{"status":"ok"}"#)
}

/// Ready: new requests are taken.
pub(super) fn ready(house: &House) -> Response<Body> {
    if house.closing().is_cancelled() {
        return whole(503, "application/json", r#"{"status":"shutting down"}"#);
    }
    whole(200, "application/json", r#"{"status":"ready"}"#)
}

/// Numbers for Prometheus.
pub(super) fn metrics(house: &House) -> Response<Body> {
    whole(200, "text/plain; version=0.0.4", house.metrics())
}
