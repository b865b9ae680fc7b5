use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Secret;
use failwell_rpc::Era;

use crate::session::state::{SharedState, SingleNode};

#[derive(Debug, Clone)]
pub struct PipelineSettings {
    pub request_deadline: Duration,
    pub task_deadline: Duration,
    /// The maximum number of requests in flight.
    pub most_in_flight: usize,
    /// The maximum number of open subscriptions.
    pub most_listeners: usize,
    /// The maximum size of a response, in bytes.
    pub largest_answer: usize,
    /// How a failed tool is reported on MCP.
    pub tool_failures: ToolFailures,
    /// The only supported era; `None` for both.
    pub only: Option<Era>,
    /// The name of the pipeline on its node; empty for the main pipeline.
    pub pipeline: String,
    /// State shared with other nodes.
    pub state: Arc<dyn SharedState>,
    /// The key that all nodes seal with; a new key by default.
    pub seal_key: Option<Secret<[u8; 32]>>,
}

/// How a failed tool is reported on MCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolFailures {
    /// A result with `isError`, which the model sees.
    #[default]
    Result,
    /// A JSON-RPC error, as `--tool-failures=error` requests.
    Error,
}

impl Default for PipelineSettings {
    fn default() -> Self {
        PipelineSettings {
            request_deadline: Duration::from_secs(300),
            task_deadline: Duration::from_secs(3_600),
            most_in_flight: 1_024,
            most_listeners: 256,
            largest_answer: 16 * 1024 * 1024,
            tool_failures: ToolFailures::default(),
            only: None,
            pipeline: String::new(),
            state: Arc::new(SingleNode),
            seal_key: None,
        }
    }
}
