//! A client for tests: calls a toolbox in the same process, through the same stages as a real client.

use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_pipeline::{
    FrameRetention, IncomingMessage, IncomingRequest, Pipeline, RequestEra, SharedIds, Stream,
};
use failwell_rpc::{Caller, Incoming, Limits, Message, Revision, read};
use failwell_toolbox::{TASKS_EXTENSION, Toolbox};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::run::pipeline;

/// The most rounds of questions that one call may take.
const MOST_ROUNDS: usize = 8;

/// A client of one toolbox. It speaks the newest revision, and can do everything a client can.
pub struct TestClient {
    pipeline: Arc<Pipeline>,
    answers: BTreeMap<String, Value>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// Whether the tool failed.
    pub is_error: bool,
    /// The structured result; `null` where there is none.
    pub structured: Value,
    /// All text blocks, joined by line breaks.
    pub text: String,
    /// The fault object of a failure; `null` otherwise.
    pub fault: Value,
}

impl TestClient {
    /// A client of this toolbox.
    pub fn new(toolbox: Toolbox) -> Result<TestClient, Fault> {
        Ok(TestClient { pipeline: pipeline(toolbox)?, answers: BTreeMap::new() })
    }

    /// Answers a question of this key: the result of an elicitation, a sampling or a list of roots.
    #[must_use]
    pub fn answering(mut self, key: &str, answer: Value) -> TestClient {
        self.answers.insert(key.to_owned(), answer);
        self
    }

    /// Calls a tool. Questions are answered as [`TestClient::answering`] says.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<CallResult, Fault> {
        let mut params = json!({"name": tool, "arguments": arguments});
        for _ in 0..MOST_ROUNDS {
            let answer = self.request("tools/call", params.clone()).await?;
            let result = answer.get("result").cloned().unwrap_or_default();
            if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
                return Ok(CallResult::read(&answer));
            }
            self.answer_questions(&result, &mut params);
        }
        Err(Fault::new(&reason::SERVER_BUG).note("test client", "the tool keeps asking"))
    }

    /// The definitions of all tools.
    pub async fn tools(&self) -> Result<Vec<Value>, Fault> {
        let answer = self.request("tools/list", json!({})).await?;
        Ok(answer.pointer("/result/tools").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    /// Sends a request of any method, and returns the whole JSON-RPC response.
    pub async fn request(&self, method: &str, mut params: Value) -> Result<Value, Fault> {
        if let Some(members) = params.as_object_mut() {
            members.insert("_meta".to_owned(), meta());
        }
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let Incoming::One(Ok(Message::Request(request))) = read(text.as_bytes(), &Limits::default()) else {
            return Err(Fault::new(&reason::SERVER_BUG).note("test client", "the request cannot be read"));
        };
        let caller = Caller::anonymous();
        let incoming = IncomingRequest {
            message: IncomingMessage::Mcp(request, RequestEra::Modern(None)),
            caller: &caller,
            session: None,
            connection: "test",
            ids: SharedIds::Allowed,
            outlet: Arc::new(Stream::new(FrameRetention::Nothing)),
            cancel: CancellationToken::new(),
            trace: None,
        };
        let reply = self.pipeline.handle(incoming).await;
        Ok(reply.and_then(|reply| serde_json::from_slice(&reply.body).ok()).unwrap_or_default())
    }

    fn answer_questions(&self, result: &Value, params: &mut Value) {
        let asked = result.get("inputRequests").and_then(Value::as_object);
        let declined = || json!({"action": "decline"});
        let answers: Map<String, Value> = asked
            .into_iter()
            .flat_map(Map::keys)
            .map(|key| (key.clone(), self.answers.get(key).cloned().unwrap_or_else(declined)))
            .collect();
        if let Some(members) = params.as_object_mut() {
            members.insert("inputResponses".to_owned(), answers.into());
            members
                .insert("requestState".to_owned(), result.get("requestState").cloned().unwrap_or_default());
        }
    }
}

impl CallResult {
    pub(crate) fn read(answer: &Value) -> CallResult {
        let result = answer.get("result").cloned().unwrap_or_default();
        let text = |block: &Value| block.get("text").and_then(Value::as_str).map(str::to_owned);
        let blocks = result.get("content").and_then(Value::as_array);
        let blocks: Vec<String> = blocks.into_iter().flatten().filter_map(text).collect();
        let in_result = result.pointer("/_meta/dev.failwell~1fault").cloned();
        let fault = in_result.or_else(|| answer.pointer("/error/data").cloned());
        CallResult {
            is_error: fault.is_some() || result.get("isError").and_then(Value::as_bool) == Some(true),
            structured: result.get("structuredContent").cloned().unwrap_or_default(),
            text: blocks.join("\n"),
            fault: fault.unwrap_or_default(),
        }
    }
}

/// The members of `_meta` that every modern request has.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": Revision::LATEST.as_str(),
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {}, "sampling": {}, "roots": {}, "extensions": {TASKS_EXTENSION: {}},
        },
    })
}
