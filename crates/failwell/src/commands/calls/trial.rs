//! Starts servers of the configuration to see whether they work.

use std::time::{Duration, Instant};

use failwell_gateway::UpstreamSettings;
use serde::Serialize;
use tokio::task::JoinSet;

use super::client::ServerClient;
use super::failure::server_failure;
use crate::config::endpoint_problem;

/// How one server did.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct Trial {
    pub(in crate::commands) name: String,
    pub(in crate::commands) ok: bool,
    /// The number of tools.
    pub(in crate::commands) tools: Option<usize>,
    pub(in crate::commands) seconds: f64,
    /// Why it does not work.
    pub(in crate::commands) error: Option<String>,
}

/// Starts all servers at once, lists their tools and ends them. `done` gets each as it is known.
pub(in crate::commands) async fn try_all(
    upstreams: Vec<UpstreamSettings>,
    mut done: impl FnMut(&Trial),
) -> Vec<Trial> {
    let mut running: JoinSet<Trial> = upstreams.into_iter().map(try_one).collect();
    let mut trials = Vec::new();
    while let Some(ended) = running.join_next().await {
        if let Ok(trial) = ended {
            done(&trial);
            trials.push(trial);
        }
    }
    trials
}

async fn try_one(settings: UpstreamSettings) -> Trial {
    let (name, began) = (settings.name.clone(), Instant::now());
    let listed = match endpoint_problem(&settings.endpoint) {
        Some(why) => Err(format!("the program cannot be started: {why}")),
        None => list(settings).await,
    };
    let seconds = rounded(began.elapsed());
    match listed {
        Ok(tools) => Trial { name, ok: true, tools: Some(tools), seconds, error: None },
        Err(why) => Trial { name, ok: false, tools: None, seconds, error: Some(why) },
    }
}

async fn list(settings: UpstreamSettings) -> Result<usize, String> {
    let client = ServerClient::new(settings).map_err(|fault| server_failure(&fault))?;
    client.tools().await.map(|tools| tools.len()).map_err(|fault| server_failure(&fault))
}

/// Seconds with one digit after the point.
fn rounded(time: Duration) -> f64 {
    (time.as_secs_f64() * 10.0).round() / 10.0
}
