//! The device server in memory, and a client of it.

use std::sync::Arc;
use std::time::Duration;

use failwell_controls::{Settings as PipelineSettings, build_pipeline};
use failwell_device::{DeviceSettings, DriverKind, Reach, Settings, device};
use failwell_journal::{Journal, LogStyle, MemoryLog};
use failwell_pipeline::{Call, IncomingRequest, Pipeline};
use failwell_process::Launcher;
use failwell_rpc::Caller;
use failwell_rpc::Dialect;
use failwell_sdk::{Json, TestSession};
use serde_json::{Value, json};

/// The server and its journal.
pub(crate) struct World {
    pub(crate) pipeline: Arc<Pipeline>,
    log: MemoryLog,
}

/// A device driven by Appium at a URL.
pub(crate) fn phone(url: &str) -> DeviceSettings {
    let reach = Reach::Url { url: url.to_owned(), headers: Vec::new() };
    DeviceSettings::new("phone", DriverKind::Appium, reach)
}

/// Settings with short waits for tests.
pub(crate) fn settings(devices: Vec<DeviceSettings>) -> Settings {
    let mut settings = Settings::new(devices, Launcher::at("/nonexistent"));
    settings.timeout = Duration::from_secs(20);
    settings
}

impl World {
    pub(crate) fn new(settings: Settings) -> World {
        let log = MemoryLog::default();
        let server = device(settings).expect("the server builds");
        let telemetry = Journal::to(LogStyle::Json, log.clone());
        let pipeline = build_pipeline(Arc::new(server), PipelineSettings::default(), telemetry)
            .expect("the pipeline builds");
        World { pipeline, log }
    }

    /// The response to another caller.
    pub(crate) async fn stranger(&self, tool: &str, arguments: Value) -> Value {
        let call = Call::tool(tool.to_owned(), Json::from(&arguments));
        let caller = Caller::keyholder("stranger");
        let incoming = IncomingRequest::in_process(Dialect::Rpc, &caller);
        let reply = self.pipeline.handle_call(incoming, Ok(call)).await.reply;
        serde_json::from_slice(&reply.expect("an answer").body).expect("JSON")
    }

    /// The whole journal.
    pub(crate) fn journal(&self) -> String {
        self.pipeline.journal().flush();
        self.log.text()
    }
}

/// A client whose calls must end as the test says.
pub(crate) struct Talk(TestSession);

impl Talk {
    pub(crate) async fn begin(world: &World) -> Talk {
        Talk(TestSession::with_pipeline(world.pipeline.clone(), json!({})).await.expect("a session"))
    }

    /// A client with a session on a phone.
    pub(crate) async fn on_phone(world: &World) -> Talk {
        let mut talk = Talk::begin(world).await;
        talk.done("start_session", json!({})).await;
        talk
    }

    /// Calls a tool without waiting for its response.
    pub(crate) async fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.0.begin("tools/call", json!({"name": tool, "arguments": arguments})).await.expect("sent")
    }

    pub(crate) async fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id});
        let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        self.0.send(&message).await.expect("sent");
    }

    /// The next response to one of these requests.
    pub(crate) async fn next_of(&mut self, ids: &[u64]) -> (u64, Value) {
        self.0.response_to(ids).await.expect("a response")
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.0.request(method, params).await.expect("a response")
    }

    /// All received messages.
    pub(crate) fn received(&self) -> &str {
        self.0.received()
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await["result"].take()
    }

    /// Calls a tool that must succeed, and returns its object.
    pub(crate) async fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let shown = arguments.to_string();
        let mut result = self.call(tool, arguments).await;
        assert!(
            result["isError"] != json!(true) && result["structuredContent"].is_object(),
            "{tool} {shown}: {result}"
        );
        result["structuredContent"].take()
    }

    /// Calls a tool that must fail with this reason, and returns the whole result.
    pub(crate) async fn fails(&mut self, tool: &str, arguments: Value, reason: &str) -> Value {
        let shown = arguments.to_string();
        let result = self.call(tool, arguments).await;
        assert_eq!(fault(&result)["reason"], json!(reason), "{tool} {shown}: {result}");
        result
    }
}

/// The fault of a failed result.
pub(crate) fn fault(result: &Value) -> &Value {
    &result["_meta"]["dev.failwell/fault"]
}
