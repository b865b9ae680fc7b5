//! A server over HTTP is the same one for all nodes: when it fails one of them, all let it rest.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_server::SharedState;
use sha2::{Digest, Sha256};

use crate::seat::resting;
use crate::settings::{Reach, UpstreamSettings};

/// Where an upstream's rests are told; a child is its node's own, and its failures are nobody else's concern.
pub(crate) struct Rests(Option<(Arc<dyn SharedState>, String)>);

impl Rests {
    pub(crate) fn of(settings: &UpstreamSettings, state: Arc<dyn SharedState>) -> Rests {
        let url = match &settings.reach {
            Reach::Http { url, .. } if state.node().is_some() => url,
            Reach::Http { .. } | Reach::Child { .. } => return Rests(None),
        };
        // The address may hold a key, and is the same for all nodes though its name may not be.
        let digest = Sha256::digest(url.as_bytes());
        let name = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Rests(Some((state, name)))
    }

    /// Refuses while it rests. When nobody can say, each node knows for itself.
    pub(crate) async fn check(&self) -> Result<(), Fault> {
        let Some((state, name)) = &self.0 else { return Ok(()) };
        match state.resting(name).await {
            Ok(Some(wait)) => Err(resting(wait)),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// It rests from now on.
    pub(crate) async fn tell(&self, wait: Duration) {
        if let Some((state, name)) = &self.0 {
            let _ = state.rest(name, wait).await;
        }
    }
}

/// A wait about as long, and never the same for two: those that failed together do not come back together.
pub(crate) fn never_alike(wait: Duration) -> Duration {
    let jitter = f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX);
    wait.mul_f64(0.75 + jitter / 2.0)
}
