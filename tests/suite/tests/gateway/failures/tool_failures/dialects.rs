//! One server with a ledger and traces, called in every dialect.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use failwell_audit::{Ledger, LedgerReader, LedgerSettings, Query};
use failwell_controls::{GuardSet, Settings, Telemetry, build_pipeline};
use failwell_gateway::Gateway;
use failwell_pipeline::Pipeline;
use failwell_pipeline::{Span, Spans, Tracer};
use failwell_process::Launcher;
use failwell_rpc::{Revision, meta};
use failwell_suite::MemoryJournal;
use failwell_suite::client::requests;
use failwell_suite::client::wire::{Response, Wire, request};
use failwell_suite::program::Folder;
use failwell_toolbox::{Info, TASKS_EXTENSION, ToolServer, Toolbox};
use failwell_transport::{StdioSettings, serve_http, serve_stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::client::evil;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Stdio,
    HttpSession,
    HttpModern,
    Rest,
    Problem,
    Rpc,
}

pub(super) const DIALECTS: [Dialect; 6] = [
    Dialect::Stdio,
    Dialect::HttpSession,
    Dialect::HttpModern,
    Dialect::Rest,
    Dialect::Problem,
    Dialect::Rpc,
];

impl Dialect {
    pub(super) fn is_mcp(self) -> bool {
        matches!(self, Dialect::Stdio | Dialect::HttpSession | Dialect::HttpModern)
    }
}

pub(super) struct GatewayServer {
    pipeline: Arc<Pipeline>,
    telemetry: Telemetry,
    guard_set: Option<GuardSet>,
    address: SocketAddr,
    ledger: Ledger,
    spans: Spans,
    stop: CancellationToken,
    gateway: Gateway,
    folder: Folder,
}

impl GatewayServer {
    /// The upstream `ev` and these built-in tools.
    pub(super) async fn start(built_in: Toolbox, guard_set: Option<GuardSet>) -> GatewayServer {
        let launcher = Launcher::at(env!("CARGO_BIN_EXE_supervisor"));
        let info = Info { name: "gateway", title: "Gateway", version: "1", instructions: "" };
        let ours: Arc<dyn ToolServer> = Arc::new(built_in);
        let gateway = Gateway::new(info, vec![evil()], vec![(super::OURS.to_owned(), ours)], &launcher);
        let folder = Folder::create();
        let journal = MemoryJournal::default().journal().clone();
        let ledger = Ledger::start(LedgerSettings::in_folder(folder.path()), journal.clone());
        let (tracer, spans) = Tracer::new(1_000, 1);
        gateway.set_tracer(tracer.clone());
        let telemetry = Telemetry::from(journal).with_ledger(ledger.clone()).with_tracer(tracer);
        let pipeline = pipeline(&gateway, &guard_set, &telemetry);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let stop = CancellationToken::new();
        tokio::spawn(serve_http(pipeline.clone(), listener, failwell_rest::http_settings(), stop.clone()));
        GatewayServer { pipeline, telemetry, guard_set, address, ledger, spans, stop, gateway, folder }
    }

    /// Status and body; stdio has no status.
    pub(super) async fn call(&mut self, dialect: Dialect, tool: &str, arguments: &Value) -> (u16, Value) {
        while self.spans.queue.try_recv().is_ok() {}
        let plain = "application/json";
        let both = "application/json, text/event-stream";
        let response = match dialect {
            Dialect::Stdio => return (0, self.over_stdio(tool, arguments).await),
            Dialect::HttpSession => {
                let revision = Revision::V2025_11_25;
                let hello = requests::initialize(revision, "0");
                let begun =
                    self.post("/mcp", both, requests::headers(hello.as_bytes(), revision), &hello).await;
                let call = requests::tool(revision, "1", tool, arguments.clone());
                let mut headers = requests::headers(call.as_bytes(), revision);
                let session = begun
                    .header("mcp-session-id")
                    .unwrap_or_else(|| panic!("no session: {begun:?}"))
                    .to_owned();
                headers.push(("Mcp-Session-Id".to_owned(), session));
                self.post("/mcp", both, headers, &call).await
            }
            Dialect::HttpModern => {
                let params = json!({"name": tool, "arguments": arguments});
                return (200, self.modern("tools/call", &params).await);
            }
            Dialect::Rest | Dialect::Problem => {
                let accept = if dialect == Dialect::Rest { plain } else { "application/problem+json" };
                self.post(&format!("/v1/tools/{tool}"), accept, Vec::new(), &arguments.to_string()).await
            }
            Dialect::Rpc => {
                let call = json!({"jsonrpc": "2.0", "id": 1, "method": tool, "params": arguments});
                self.post("/rpc", plain, Vec::new(), &call.to_string()).await
            }
        };
        (response.status, response.message().value)
    }

    /// A request of the modern era, from a client that knows tasks.
    pub(super) async fn modern(&self, method: &str, params: &Value) -> Value {
        let revision = Revision::V2026_07_28;
        let mut params = params.clone();
        params["_meta"] = json!({meta::CLIENT_CAPABILITIES: {"extensions": {TASKS_EXTENSION: {}}}});
        let request = requests::request(revision, "1", method, &params);
        let mut headers = requests::headers(request.as_bytes(), revision);
        if let Some(task) = params["taskId"].as_str() {
            headers.push(("Mcp-Name".to_owned(), task.to_owned()));
        }
        self.post("/mcp", "application/json, text/event-stream", headers, &request).await.message().value
    }

    async fn post(
        &self,
        path: &str,
        accept: &str,
        mut headers: Vec<(String, String)>,
        body: &str,
    ) -> Response {
        headers.push(("Accept".to_owned(), accept.to_owned()));
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        let mut wire = Wire::connect(self.address).await;
        wire.write(&request("POST", path, &self.address.to_string(), &headers, body.as_bytes())).await;
        wire.response().await
    }

    async fn over_stdio(&self, tool: &str, arguments: &Value) -> Value {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(theirs);
        // A pipeline of its own: it closes when its client hangs up.
        let pipeline = pipeline(&self.gateway, &self.guard_set, &self.telemetry);
        let (settings, stop) = (StdioSettings::default(), CancellationToken::new());
        let serving = tokio::spawn(serve_stdio(pipeline, read, write, settings, stop));
        let (read, mut input) = tokio::io::split(ours);
        let revision = Revision::V2025_11_25;
        let call = requests::tool(revision, "1", tool, arguments.clone());
        let lines = [requests::initialize(revision, "0"), requests::INITIALIZED.to_owned(), call];
        input.write_all((lines.join("\n") + "\n").as_bytes()).await.expect("sent");
        let mut answers = BufReader::new(read).lines();
        let answer = loop {
            let line = tokio::time::timeout(Duration::from_secs(60), answers.next_line()).await;
            let line = line.expect("an answer in time").expect("readable").expect("not the end");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == 1 {
                break message;
            }
        };
        drop((input, answers));
        let _ = tokio::time::timeout(Duration::from_secs(20), serving).await.expect("it ends");
        answer
    }

    /// The newest line of the ledger that fits.
    pub(super) fn last_record(&self, fits: impl Fn(&Value) -> bool) -> Value {
        self.ledger.flush();
        let reading = LedgerReader::open(self.folder.path()).expect("readable").expect("a ledger");
        let rows = reading.select(&Query::default()).expect("readable");
        let lines = rows.iter().map(|row| serde_json::to_value(row.line()).expect("JSON"));
        let numbered = rows.iter().map(|row| row.head.seq).zip(lines).filter(|(_, line)| fits(line));
        numbered.max_by_key(|(number, _)| *number).expect("a record").1
    }

    /// The spans of the last call that have one of these methods.
    pub(super) fn spans_of(&mut self, methods: &[&str]) -> Vec<Span> {
        let spans = std::iter::from_fn(|| self.spans.queue.try_recv().ok());
        spans
            .filter(|span| span.method.as_deref().is_some_and(|method| methods.contains(&method)))
            .map(|span| *span)
            .collect()
    }

    pub(super) fn metrics(&self) -> String {
        self.pipeline.metrics()
    }
}

fn pipeline(gateway: &Gateway, guard_set: &Option<GuardSet>, telemetry: &Telemetry) -> Arc<Pipeline> {
    let settings = Settings { guard_set: guard_set.clone(), ..Settings::default() };
    build_pipeline(Arc::new(gateway.clone()), settings, telemetry.clone()).expect("a pipeline")
}

impl Drop for GatewayServer {
    fn drop(&mut self) {
        self.stop.cancel();
        self.gateway.stop();
    }
}
