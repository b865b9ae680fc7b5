//! A client of the session era in memory, and its server.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use failwell_controls::{Settings as PipelineSettings, build_pipeline};
use failwell_device::{DeviceSettings, DriverKind, Reach, Settings, device};
use failwell_journal::{Journal, LogStyle};
use failwell_pipeline::{Call, IncomingRequest, Pipeline};
use failwell_process::Launcher;
use failwell_rpc::Caller;
use failwell_rpc::Dialect;
use failwell_sdk::Json;
use failwell_transport::{StdioSettings, serve_stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Timeout of every wait, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

#[derive(Clone, Default)]
struct JournalBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for JournalBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The server and its journal.
pub(crate) struct World {
    pub(crate) pipeline: Arc<Pipeline>,
    journal: JournalBuffer,
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
        let journal = JournalBuffer::default();
        let server = device(settings).expect("the server builds");
        let telemetry = Journal::to(LogStyle::Json, journal.clone());
        let pipeline = build_pipeline(Arc::new(server), PipelineSettings::default(), telemetry)
            .expect("the pipeline builds");
        World { pipeline, journal }
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
        String::from_utf8(self.journal.0.lock().unwrap().clone()).expect("text")
    }
}

pub(crate) struct Talk {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    last: u64,
    stop: CancellationToken,
    /// All received messages.
    pub(crate) sent: String,
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Talk {
    pub(crate) async fn begin(world: &World) -> Talk {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = split(theirs);
        let stop = CancellationToken::new();
        tokio::spawn(serve_stdio(
            world.pipeline.clone(),
            input,
            output,
            StdioSettings::default(),
            stop.clone(),
        ));
        let (reader, writer) = split(ours);
        let mut talk =
            Talk { lines: BufReader::new(reader).lines(), writer, last: 0, stop, sent: String::new() };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        talk.ask("initialize", hello).await;
        talk.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        talk
    }

    /// A client with a session on a phone.
    pub(crate) async fn on_phone(world: &World) -> Talk {
        let mut talk = Talk::begin(world).await;
        talk.done("start_session", json!({})).await;
        talk
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.expect("written");
    }

    async fn hear(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await;
        let line = line.expect("in time").expect("read").expect("a line");
        if self.sent.len() < 4 << 20 {
            self.sent.push_str(&line);
        }
        serde_json::from_str(&line).expect("JSON")
    }

    /// Sends a request without waiting for its response.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Calls a tool without waiting for its response.
    pub(crate) async fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.request("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// The next response to one of these requests.
    pub(crate) async fn next_of(&mut self, ids: &[u64]) -> (u64, Value) {
        loop {
            let message = self.hear().await;
            let id = message["id"].as_u64();
            if let Some(id) = id.filter(|id| ids.contains(id) && message.get("method").is_none()) {
                return (id, message);
            }
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        self.next_of(&[id]).await.1
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
