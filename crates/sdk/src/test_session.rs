//! A session for tests: a client of the session era that talks to a server in the same process over stdio framing.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use failwell_pipeline::Pipeline;
use failwell_rpc::Revision;
use failwell_toolbox::Toolbox;
use failwell_transport::{StdioSettings, serve_stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::run::pipeline;
use crate::test_client::CallResult;

/// The time for one message to arrive, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// The capacity of the connection in each direction, in bytes.
const BUFFER: usize = 1 << 20;
/// The most bytes of received messages that [`TestSession::received`] keeps.
const MOST_RECEIVED: usize = 4 << 20;

/// A client with a session. Unlike [`TestClient`](crate::TestClient) it sees every message, so it can test questions,
/// notifications, cancellation and concurrent calls.
pub struct TestSession {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    last_id: u64,
    received: String,
    _stop: DropGuard,
}

impl TestSession {
    /// Starts a session with this toolbox. The client declares these capabilities.
    pub async fn start(toolbox: Toolbox, capabilities: Value) -> Result<TestSession, Fault> {
        TestSession::with_pipeline(pipeline(toolbox)?, capabilities).await
    }

    /// Starts a session with a pipeline that has controls of its own.
    pub async fn with_pipeline(pipeline: Arc<Pipeline>, capabilities: Value) -> Result<TestSession, Fault> {
        let (ours, theirs) = tokio::io::duplex(BUFFER);
        let (input, output) = tokio::io::split(theirs);
        let stop = CancellationToken::new();
        tokio::spawn(serve_stdio(pipeline, input, output, StdioSettings::default(), stop.clone()));
        let (reader, writer) = tokio::io::split(ours);
        let mut session = TestSession {
            lines: BufReader::new(reader).lines(),
            writer,
            last_id: 0,
            received: String::new(),
            _stop: stop.drop_guard(),
        };
        let hello = json!({
            "protocolVersion": Revision::LATEST_SESSION.as_str(),
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "0"},
        });
        session.request("initialize", hello).await?;
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(session)
    }

    /// Sends a message.
    pub async fn send(&mut self, message: &Value) -> Result<(), Fault> {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.or_fault(&reason::SERVER_BUG)
    }

    /// Waits for the next message.
    pub async fn receive(&mut self) -> Result<Value, Fault> {
        let line =
            timeout(PATIENCE, self.lines.next_line()).await.map_err(|_| problem("no message in time"))?;
        let line =
            line.or_fault(&reason::SERVER_BUG)?.ok_or_else(|| problem("the server ended the session"))?;
        if self.received.len() < MOST_RECEIVED {
            self.received.push_str(&line);
        }
        serde_json::from_str(&line).or_fault(&reason::SERVER_BUG)
    }

    /// Sends a request without waiting for its response, and returns its id.
    pub async fn begin(&mut self, method: &str, params: Value) -> Result<u64, Fault> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        Ok(id)
    }

    /// Waits for a response to one of these requests. Other messages are skipped.
    pub async fn response_to(&mut self, ids: &[u64]) -> Result<(u64, Value), Fault> {
        loop {
            let message = self.receive().await?;
            let id = message.get("id").and_then(Value::as_u64).filter(|id| ids.contains(id));
            if let Some(id) = id.filter(|_| message.get("method").is_none()) {
                return Ok((id, message));
            }
        }
    }

    /// Sends a request, and returns the whole response.
    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value, Fault> {
        let id = self.begin(method, params).await?;
        Ok(self.response_to(&[id]).await?.1)
    }

    /// Calls a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<CallResult, Fault> {
        let params = json!({"name": tool, "arguments": arguments});
        Ok(CallResult::read(&self.request("tools/call", params).await?))
    }

    /// All messages received so far, up to 4 MiB: a test searches it for text that no client may see.
    pub fn received(&self) -> &str {
        &self.received
    }
}

fn problem(what: &'static str) -> Fault {
    Fault::new(&reason::SERVER_BUG).note("test session", what)
}
