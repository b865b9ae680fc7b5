//! A client of one MCP server: the gateway's connection to an upstream, without the gateway's policy and ledger.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use failwell_fault::{Fault, OrFault, reason};
use failwell_gateway::{Gateway, UpstreamSettings};
use failwell_journal::{Journal, LogStyle};
use failwell_pipeline::{
    Controls, FrameRetention, IncomingMessage, IncomingRequest, Pipeline, PipelineSettings, Record,
    RecordSink, Recorder, RequestEra, SharedIds, Stream, StreamRead, keep_panics_quiet,
};
use failwell_process::Launcher;
use failwell_rpc::{Caller, Incoming, Limits, Message, Revision, read};
use failwell_toolbox::{Info, List, PortFuture, ToolServer};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

const INFO: Info = Info::new("failwell", env!("CARGO_PKG_VERSION"));
/// Maximum number of pages of a list.
const MOST_PAGES: usize = 100;

/// A connection to one server, opened with the first request.
pub(super) struct ServerClient {
    gateway: Gateway,
    server: Arc<dyn ToolServer>,
    pipeline: Arc<Pipeline>,
    last_fault: Arc<LastFault>,
}

/// The answer to a call.
pub(super) struct CallAnswer {
    /// The result, or the JSON-RPC error.
    pub(super) answer: Value,
    /// The fault behind an error, with what the operator may know of it.
    pub(super) fault: Option<Arc<Fault>>,
}

impl ServerClient {
    pub(super) fn new(settings: UpstreamSettings) -> Result<ServerClient, Fault> {
        keep_panics_quiet();
        let name = settings.name.clone();
        let request_deadline = settings.start_timeout + settings.timeout;
        let gateway = Gateway::new(INFO, vec![settings], Vec::new(), &Launcher::of_this_program()?);
        let server = gateway.single(&name);
        let last_fault = Arc::<LastFault>::default();
        // The failure is printed once, as the answer.
        let recorder = Recorder::from(Journal::to(LogStyle::Json, std::io::sink()));
        let recorder = recorder.with_ledger(last_fault.clone());
        let bounds = PipelineSettings { request_deadline, ..PipelineSettings::default() };
        let pipeline = Pipeline::new(server.clone(), bounds, Controls::default(), recorder)?;
        Ok(ServerClient { gateway, server, pipeline, last_fault })
    }

    /// The definitions of all tools.
    pub(super) async fn tools(&self) -> Result<Vec<Value>, Fault> {
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            let page = self.server.list(List::Tools, cursor.take(), self.pipeline.own_context()).await?;
            let mut page: Value = serde_json::from_str(page.members.text()).or_fault(&reason::SERVER_BUG)?;
            if let Some(Value::Array(found)) = page.get_mut("tools").map(Value::take) {
                tools.extend(found);
            }
            cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    /// Calls a tool. `progress` gets every notification that arrives in the meantime.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        mut progress: impl FnMut(&Value),
    ) -> Result<CallAnswer, Fault> {
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta()});
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let Incoming::One(Ok(Message::Request(request))) = read(text.as_bytes(), &Limits::default()) else {
            return Err(Fault::new(&reason::SERVER_BUG).note("client", "the request cannot be read"));
        };
        let (caller, outlet) = (Caller::anonymous(), Arc::new(Stream::new(FrameRetention::Nothing)));
        let incoming = IncomingRequest {
            message: IncomingMessage::Mcp(request, RequestEra::Modern(None)),
            caller: &caller,
            session: None,
            connection: "terminal",
            ids: SharedIds::Allowed,
            outlet: outlet.clone(),
            cancel: CancellationToken::new(),
            trace: None,
        };
        let handling = self.pipeline.handle(incoming);
        tokio::pin!(handling);
        let mut seen = 0;
        let reply = loop {
            tokio::select! {
                biased;
                read = outlet.next(seen) => match read {
                    StreamRead::Frame(frame) => {
                        seen = frame.number;
                        progress(&serde_json::from_slice(&frame.bytes).unwrap_or_default());
                    }
                    StreamRead::Pause(_) | StreamRead::End => break (&mut handling).await,
                },
                reply = &mut handling => break reply,
            }
        };
        let answer = reply.and_then(|reply| serde_json::from_slice(&reply.body).ok()).unwrap_or_default();
        Ok(CallAnswer { answer, fault: self.last_fault.lock().take() })
    }

    /// Ends the connection, and a server that was started for it.
    pub(super) fn stop(&self) {
        self.gateway.stop();
    }
}

impl Drop for ServerClient {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The members of `_meta` that every modern request has. Questions of the server cannot be answered here.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": Revision::LATEST.as_str(),
        "io.modelcontextprotocol/clientInfo": {"name": "failwell", "version": env!("CARGO_PKG_VERSION")},
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 1,
    })
}

/// Keeps the fault of the last exchange. The reader at the terminal is the operator, so its private half may be shown.
#[derive(Default)]
struct LastFault(Mutex<Option<Arc<Fault>>>);

impl LastFault {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Fault>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordSink for LastFault {
    fn admit(&self) -> Result<(), Fault> {
        Ok(())
    }

    fn is_critical(&self) -> bool {
        false
    }

    fn sample(&self, _refused_from: IpAddr, _reason: &'static str) -> bool {
        true
    }

    fn bodies(&self) -> Option<usize> {
        None
    }

    fn note(&self, record: Box<Record>) {
        *self.lock() = record.ended_as.fault().cloned();
    }

    fn keep(&self, record: Box<Record>) -> PortFuture<'_, Result<(), Fault>> {
        self.note(record);
        Box::pin(std::future::ready(Ok(())))
    }

    fn is_crowded(&self) -> bool {
        false
    }

    fn wait_for_space(&self) -> PortFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
