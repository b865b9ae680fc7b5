//! The port through which a handler acts on its request: the pipeline implements it.

use std::any::Any;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_rpc::Json;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::context::event::Event;
use crate::context::log_level::LogLevel;
use crate::context::{Context, RequestInfo};
use crate::question::{Answers, Question};

/// A future that borrows its port.
pub type PortFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The session a request belongs to.
#[derive(Debug, Clone, Copy)]
pub struct SessionInfo<'a> {
    /// The number of the session, unique in this process.
    pub number: u64,
    /// Set when the session ends.
    pub ended: &'a CancellationToken,
    /// The log level that the client chose; `None` if it chose none.
    pub chosen_log_level: Option<LogLevel>,
}

/// The operations of a [`Context`] that the program serving the request provides.
pub trait RequestPort: Any + Debug + Send + Sync {
    /// Sends a notification to the client, unless the guards block it.
    fn notify(&self, frame: String) -> PortFuture<'_, ()>;
    /// Asks the client. The caller of this method has checked the capabilities.
    fn ask<'a>(&'a self, questions: &'a [(&'a str, Question)]) -> PortFuture<'a, Result<Answers, Fault>>;
    /// Turns the work into a task. A second call changes nothing.
    fn become_task(&self, request: &RequestInfo) -> Result<(), Fault>;
    /// Whether the work is a task.
    fn is_task(&self) -> bool;
    /// Records progress of the task: its status message and the time of the change. Other work ignores the
    /// call.
    fn touch_task(&self, message: &str);
    /// Sets the status message of the task, if the message is new.
    fn set_task_status(&self, message: String);
    /// Notifies every subscribed client of a change.
    fn announce(&self, event: Event);
    /// Records a failure under the request's reference. The request continues.
    fn report(&self, request: &RequestInfo, fault: Fault);
    /// Whether an operator watches the progress of requests.
    fn is_watched(&self) -> bool;
    /// Shows progress to the operators that watch.
    fn show_progress<'a>(&'a self, request: &'a RequestInfo, params: &'a Value) -> PortFuture<'a, ()>;
    /// Closes the client's connection for a while; see [`Context::pause_stream`].
    fn pause_stream(&self, retry: Duration);
    /// Whether both requests send to the same stream.
    fn shares_stream_with(&self, other: &dyn RequestPort) -> bool;
    /// The session; `None` for a request without a session.
    fn session(&self) -> Option<SessionInfo<'_>>;
    /// Returns a context for the same client outside this request, if the client is reachable there.
    fn detached(&self, request: &RequestInfo) -> Option<Context>;
    /// Returns the round state of a modern client under keys with this prefix.
    fn round_state(&self, prefix: &str) -> Vec<(String, Json)>;
    /// Stores a sealed value in the round state.
    fn remember(&self, key: &str, value: Json);
}
