//! A circuit breaker shared by all nodes: an HTTP upstream that fails on one node is left alone by all.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_pipeline::SharedState;
use sha2::{Digest, Sha256};

use crate::upstream::connection_pool::circuit_open;
use crate::upstream::settings::{Endpoint, UpstreamSettings};

/// `None` for a child process, which belongs to one node.
pub(crate) struct CircuitBreaker(Option<(Arc<dyn SharedState>, String)>);

impl CircuitBreaker {
    pub(crate) fn new(settings: &UpstreamSettings, state: Arc<dyn SharedState>) -> CircuitBreaker {
        let url = match &settings.endpoint {
            Endpoint::Http { url, .. } if state.node().is_some() => url,
            Endpoint::Http { .. } | Endpoint::Child { .. } => return CircuitBreaker(None),
        };
        // Hashed, because the URL may contain a key. The URL is used because names may differ between nodes.
        let mut name = hex::encode(Sha256::digest(url.as_bytes()));
        name.truncate(32);
        CircuitBreaker(Some((state, name)))
    }

    /// Fails while the circuit is open. Without shared state, each node decides for itself.
    pub(crate) async fn check(&self) -> Result<(), Fault> {
        let Some((state, name)) = &self.0 else { return Ok(()) };
        match state.resting(name).await {
            Ok(Some(wait)) => Err(circuit_open(wait)),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Opens the circuit for this long.
    pub(crate) async fn open(&self, wait: Duration) {
        if let Some((state, name)) = &self.0 {
            let _ = state.rest(name, wait).await;
        }
    }
}
