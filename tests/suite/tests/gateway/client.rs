//! A client of either era, connected to the gateway by a pipe.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use failwell_controls::{Settings, build_pipeline};
use failwell_gateway::{Endpoint, Gateway, UpstreamSettings};
use failwell_pipeline::Pipeline;
use failwell_process::Launcher;
use failwell_rpc::{Era, meta};
use failwell_suite::MemoryJournal;
use failwell_toolbox::{Info, ToolServer};
use failwell_transport::{StdioSettings, serve_stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio_util::sync::CancellationToken;

/// A secret of the upstream that no caller may see.
pub(crate) const SECRETS: [&str; 6] =
    ["hunter2", "ghp_", "/srv/secret", "db.internal", "Traceback", "ignore all previous"];

pub(crate) struct GatewayClient {
    pub(crate) gateway: Gateway,
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    input: WriteHalf<DuplexStream>,
    next: u64,
    written: MemoryJournal,
    pub(crate) transcript: String,
    era: Era,
    pub(crate) pipeline: Arc<Pipeline>,
    serving: tokio::task::JoinHandle<Result<failwell_transport::ShutdownReport, failwell_fault::Fault>>,
    /// The capabilities of the client. In the session era they are fixed by the handshake.
    pub(crate) capabilities: Value,
}

pub(crate) fn evil() -> UpstreamSettings {
    let reach = Endpoint::Child {
        program: PathBuf::from(env!("CARGO_BIN_EXE_evil")),
        arguments: Vec::new(),
        folder: std::env::temp_dir(),
        environment: vec![("MODE".to_owned(), failwell_fault::Secret::new("test".to_owned()))],
        inherited: vec!["PATH".to_owned()],
    };
    // Long, because the machine may be busy. Tests that wait for the time limit set their own.
    let (timeout, list_wait) = (Duration::from_secs(30), Duration::from_secs(10));
    UpstreamSettings { timeout, list_wait, ..UpstreamSettings::new("ev", reach) }
}

/// The same upstream, with additional environment variables.
pub(crate) fn evil_with(variables: &[(&str, &str)]) -> UpstreamSettings {
    let mut settings = evil();
    if let Endpoint::Child { environment, .. } = &mut settings.endpoint {
        for (name, value) in variables {
            environment.push(((*name).to_owned(), failwell_fault::Secret::new((*value).to_owned())));
        }
    }
    settings
}

impl GatewayClient {
    pub(crate) async fn new(upstreams: Vec<UpstreamSettings>) -> GatewayClient {
        GatewayClient::of(Era::Session, upstreams).await
    }

    pub(crate) async fn of(era: Era, upstreams: Vec<UpstreamSettings>) -> GatewayClient {
        let launcher = Launcher::at(env!("CARGO_BIN_EXE_supervisor"));
        let info = Info { name: "gateway", title: "Gateway", version: "1", instructions: "" };
        let gateway = Gateway::new(info, upstreams, Vec::new(), &launcher);
        GatewayClient::joining(gateway, MemoryJournal::default(), era).await
    }

    /// Another client of the same gateway.
    pub(crate) async fn at_reference(&self, era: Era) -> GatewayClient {
        GatewayClient::joining(self.gateway.clone(), self.written.clone(), era).await
    }

    /// Another client of the same gateway, through this wrapper.
    pub(crate) async fn before(
        &self,
        server: Arc<dyn ToolServer>,
        settings: Settings,
        era: Era,
    ) -> GatewayClient {
        GatewayClient::entering(server, settings, self.gateway.clone(), self.written.clone(), era, usual())
            .await
    }

    /// Another client of the same gateway, with these capabilities.
    pub(crate) async fn able(&self, era: Era, capabilities: Value) -> GatewayClient {
        let server = Arc::new(self.gateway.clone());
        let (gateway, written) = (self.gateway.clone(), self.written.clone());
        GatewayClient::entering(server, Settings::default(), gateway, written, era, capabilities).await
    }

    /// Another client of the same gateway in the session era, through this wrapper and with these capabilities.
    pub(crate) async fn able_before(
        &self,
        server: Arc<dyn ToolServer>,
        capabilities: Value,
    ) -> GatewayClient {
        let (gateway, written) = (self.gateway.clone(), self.written.clone());
        GatewayClient::entering(server, Settings::default(), gateway, written, Era::Session, capabilities)
            .await
    }

    async fn joining(gateway: Gateway, written: MemoryJournal, era: Era) -> GatewayClient {
        let server = Arc::new(gateway.clone());
        GatewayClient::entering(server, Settings::default(), gateway, written, era, usual()).await
    }

    async fn entering(
        server: Arc<dyn ToolServer>,
        settings: Settings,
        gateway: Gateway,
        written: MemoryJournal,
        era: Era,
        capabilities: Value,
    ) -> GatewayClient {
        let journal = written.journal().clone();
        let pipeline = build_pipeline(server, settings, journal).expect("the pipeline builds");
        gateway.announce_to(pipeline.hub());
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(theirs);
        let (settings, stop) = (StdioSettings::default(), CancellationToken::new());
        let serving = tokio::spawn(serve_stdio(pipeline.clone(), read, write, settings, stop));
        let (read, input) = tokio::io::split(ours);
        let lines = BufReader::new(read).lines();
        let transcript = String::new();
        let mut world = GatewayClient {
            gateway,
            lines,
            input,
            next: 0,
            written,
            transcript,
            era,
            pipeline,
            serving,
            capabilities,
        };
        if era == Era::Modern {
            return world;
        }
        let capabilities = world.capabilities.clone();
        let client = json!({"name": "t", "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});
        let answer = world.ask("initialize", hello).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
        world.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        world
    }

    /// Disconnects, and waits until the session has ended.
    pub(crate) async fn leave(self) {
        let GatewayClient { lines, input, serving, .. } = self;
        drop((lines, input));
        let _ = tokio::time::timeout(Duration::from_secs(20), serving).await.expect("it ends");
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    /// Sends the exact text of a message.
    pub(crate) async fn send_line(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.expect("the gateway reads");
    }

    /// Sends a request without waiting, and returns its id.
    pub(crate) async fn start(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        let mut params = params;
        if self.era == Era::Modern {
            let capabilities = self.capabilities.clone();
            let mut meta = params["_meta"].take().as_object().cloned().unwrap_or_default();
            meta.insert(meta::PROTOCOL_VERSION.to_owned(), json!("2026-07-28"));
            meta.insert(meta::CLIENT_CAPABILITIES.to_owned(), capabilities);
            meta.insert(meta::CLIENT_INFO.to_owned(), json!({"name": "t", "version": "1"}));
            params["_meta"] = Value::Object(meta);
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    pub(crate) async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.hear_line().await).expect("JSON")
    }

    /// Receives the exact text of a message.
    pub(crate) async fn hear_line(&mut self) -> String {
        let line = tokio::time::timeout(Duration::from_secs(60), self.lines.next_line()).await;
        let line = line.expect("an answer in time").expect("readable").expect("not the end");
        self.transcript.push_str(&line);
        line
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        loop {
            let message = self.hear().await;
            if message["id"] == id {
                return message;
            }
        }
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Calls until the circuit breaker of the upstream is open. The first pause is a quarter of a second, which a slow machine
    /// may miss; each is twice as long as the one before.
    pub(crate) async fn call_until_it_rests(&mut self, tool: &str) -> Value {
        for _ in 0..10 {
            let answer = self.call(tool, json!({})).await;
            match failed(&answer).1 {
                "gateway/CIRCUIT_OPEN" => return answer,
                reason => assert_eq!(reason, "gateway/UPSTREAM_DOWN", "{answer}"),
            }
        }
        panic!("it never rests: {}", self.transcript)
    }

    /// Lists the tools until every upstream is present: on a cold machine they start slowly.
    pub(crate) async fn list_of_all(&mut self) -> Value {
        let mut list = Value::Null;
        for _ in 0..6 {
            list = self.ask("tools/list", json!({})).await;
            if list["result"]["_meta"]["dev.failwell/unreachable"].is_null() {
                return list;
            }
        }
        panic!("not every server is reachable: {list}")
    }

    /// Checks that the client received no secret of the upstream.
    pub(crate) fn nothing_leaked(&self) {
        for secret in SECRETS {
            assert!(!self.transcript.contains(secret), "{secret} reached the caller");
        }
    }

    /// The whole journal.
    pub(crate) fn journal(&self) -> String {
        self.written.text()
    }
}

/// The default capabilities of a client.
fn usual() -> Value {
    json!({"elicitation": {}, "sampling": {}})
}

/// The text of a tool's result.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

/// The code and the reason of an error.
pub(crate) fn failed(answer: &Value) -> (i64, &str) {
    let code = answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error in {answer}"));
    (code, answer["error"]["data"]["reason"].as_str().unwrap_or_default())
}
