//! A planted secret in every dialect and over both transports: it reaches no caller, log or metric.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

use std::sync::Arc;
use std::time::Duration;

use failwell_controls::{GuardSet, Settings, build_pipeline};
use failwell_fault::{Echo, Fault, reason};
use failwell_journal::{Journal, LogStyle, MemoryLog};
use failwell_pipeline::Pipeline;
use failwell_policy::Guards;
use failwell_policy::guard::{Action, Category, GuardRule, GuardSettings};
use failwell_toolbox::{Content, Context, Info, Json, LogLevel, Question, Tool, ToolOutcome, Toolbox};
use failwell_transport::{StdioSettings, serve_http, serve_stdio};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// Assembled at run time, so that no line of this file looks like a key.
fn secret() -> String {
    format!("ghp{}{}", "_", "z9Y8x7W6v5U4".repeat(3))
}

/// The same secret, encoded.
const ENCODED: &str = "Z2hwX3o5WTh4N1c2djVVNHo5WTh4N1c2djVVNHo5WTh4N1c2djVVNA==";

#[derive(Deserialize, JsonSchema)]
struct Leak {
    /// The way to leak the secret.
    how: String,
    /// Text to return.
    #[serde(default)]
    text: String,
}

async fn leak(given: Leak, cx: Context) -> Result<ToolOutcome, Fault> {
    let secret = secret();
    match given.how.as_str() {
        "text" => Ok(ToolOutcome::text(format!("the key is {secret}"))),
        "key" => Ok(ToolOutcome::text("x").structured(Json::from(&json!({&secret: {"a": &secret}})))),
        "encoded" => Ok(ToolOutcome::text(format!("see {ENCODED}"))),
        "hidden" => Ok(ToolOutcome::text(secret.chars().flat_map(|c| [c, '\u{200b}']).collect::<String>())),
        "marked" => Ok(ToolOutcome::text(secret).marked_as_error()),
        "fault" => Err(Fault::new(&reason::MCP_UNKNOWN_TOOL)
            .fact("name", Echo::of_caller(&secret))
            .note("upstream", secret.clone())
            .capture("stderr", secret.into_bytes())),
        "failed" => Ok(ToolOutcome::text("x")
            .with(Content::text(&secret))
            .failed(Fault::new(&reason::SERVER_BUG).note("said", secret))),
        "log" => {
            cx.log(LogLevel::Error, "leak", json!({&secret: &secret})).await;
            cx.progress(1.0, Some(1.0), Some(&secret)).await;
            Ok(ToolOutcome::text("told"))
        }
        "ask" => {
            let form = json!({"type": "object", "properties": {"name": {"type": "string"}}});
            let answers = cx.ask(&[("name", Question::form(&format!("is it {secret}?"), form))]).await?;
            Ok(ToolOutcome::text(answers.raw("name").map_or("", |json| json.text()).to_owned()))
        }
        "confirm" => {
            let form = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}});
            let answers = cx.ask(&[("sure", Question::form("Are you sure?", form))]).await?;
            Ok(ToolOutcome::text(answers.raw("sure").map_or("", |json| json.text()).to_owned()))
        }
        "panic" => panic!("with {secret}"),
        _ => Ok(ToolOutcome::text(given.text)),
    }
}

const WAYS: [&str; 11] =
    ["text", "key", "encoded", "hidden", "marked", "fault", "failed", "log", "ask", "panic", "echo"];

struct World {
    pipeline: Arc<Pipeline>,
    lines: MemoryLog,
    /// Everything that any caller received.
    sent: Vec<u8>,
}

impl World {
    fn new(action: Action, style: LogStyle) -> World {
        World::with(GuardRule::everywhere(action), style)
    }

    fn with(secrets: GuardRule, style: LogStyle) -> World {
        let settings = GuardSettings { secrets, ..GuardSettings::default() };
        let guard_set = GuardSet::new(Guards::compile(settings).expect("the guards compile"));
        let info = Info { name: "leaky", title: "Leaky", version: "1", instructions: "" };
        let tool = Tool::new("leak", "Leaks.", leak).expect("a tool");
        let lines = MemoryLog::default();
        let journal = Journal::to(style, lines.clone());
        let settings = Settings { guard_set: Some(guard_set), ..Settings::default() };
        let pipeline =
            build_pipeline(Arc::new(Toolbox::new(info).tool(tool)), settings, journal).expect("a pipeline");
        World { pipeline, lines, sent: Vec::new() }
    }

    fn journal(&self) -> String {
        self.pipeline.journal().flush();
        self.lines.text()
    }
}

fn holds_secret(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).replace('\u{200b}', "");
    text.contains(&secret()) || text.contains(&ENCODED[..24])
}

fn call(id: u64, how: &str, meta: Value) -> Value {
    let arguments = json!({"how": how, "text": secret()});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "leak", "arguments": arguments, "_meta": meta}})
}

fn modern() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "progressToken": 7,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "io.modelcontextprotocol/logLevel": "debug"})
}

fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}}})
}

/// One exchange on a new connection, read to its end.
async fn post(world: &mut World, address: &str, path: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("connected");
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = Vec::new();
    let reading = stream.read_to_end(&mut answer);
    // An unanswered question keeps its stream open: the bytes received until then count.
    let _ = tokio::time::timeout(Duration::from_secs(3), reading).await;
    world.sent.extend_from_slice(&answer);
    String::from_utf8_lossy(&answer).into_owned()
}

async fn over_http(world: &mut World) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve_http(
        world.pipeline.clone(),
        listener,
        failwell_rest::http_settings(),
        stop.clone(),
    ));
    let begun = post(world, &address, "/mcp", "", &hello().to_string()).await;
    let session =
        begun.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session").trim();
    let session = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let level =
        json!({"jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": {"level": "debug"}});
    post(world, &address, "/mcp", &session, &level.to_string()).await;
    for (index, how) in WAYS.iter().enumerate() {
        let id = index as u64 + 10;
        let meta = json!({"progressToken": id});
        post(world, &address, "/mcp", &session, &call(id, how, meta).to_string()).await;
        let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: leak\r\n";
        post(world, &address, "/mcp", headers, &call(id, how, modern()).to_string()).await;
        let arguments = json!({"how": how, "text": secret()});
        let plain = json!({"jsonrpc": "2.0", "id": id, "method": "leak", "params": arguments});
        post(world, &address, "/rpc", "", &plain.to_string()).await;
        post(world, &address, "/v1/tools/leak", "", &arguments.to_string()).await;
        let problem = "Accept: application/problem+json\r\n";
        post(world, &address, "/v1/tools/leak", problem, &arguments.to_string()).await;
    }
    let unknown = json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": secret()}});
    post(world, &address, "/mcp", &session, &unknown.to_string()).await;
    post(world, &address, &format!("/v1/tools/{}", secret()), "", "{}").await;
    stop.cancel();
    let _ = tokio::time::timeout(Duration::from_secs(20), serving).await.expect("it stops");
}

async fn over_stdio(world: &mut World) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(theirs);
    let (read, mut write) = tokio::io::split(ours);
    let stop = CancellationToken::new();
    let serving =
        tokio::spawn(serve_stdio(world.pipeline.clone(), input, output, StdioSettings::default(), stop));
    let mut lines = BufReader::new(read).lines();
    let mut requests = vec![hello()];
    requests.extend(
        WAYS.iter()
            .enumerate()
            .map(|(index, how)| call(index as u64 + 1, how, json!({"progressToken": index}))),
    );
    let wanted = requests.len();
    for request in requests {
        write.write_all(format!("{request}\n").as_bytes()).await.expect("sent");
    }
    let mut answered = 0;
    while answered < wanted {
        let line = tokio::time::timeout(Duration::from_secs(20), lines.next_line()).await;
        let line = line.expect("an answer in time").expect("a line").expect("more to come");
        world.sent.extend_from_slice(line.as_bytes());
        let message: Value = serde_json::from_str(&line).expect("every line is JSON");
        match message.get("method").and_then(Value::as_str) {
            Some("elicitation/create") => {
                let answer = json!({"jsonrpc": "2.0", "id": message["id"],
                    "result": {"action": "accept", "content": {"name": secret()}}});
                write.write_all(format!("{answer}\n").as_bytes()).await.expect("sent");
            }
            Some(_) => {}
            None => answered += 1,
        }
    }
    drop(write);
    drop(lines);
    let _ = tokio::time::timeout(Duration::from_secs(20), serving).await.expect("it stops");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_reaches_only_its_recipient() {
    failwell_pipeline::keep_panics_quiet();
    for (action, style) in [
        (Action::Redact, LogStyle::Json),
        (Action::Block, LogStyle::Json),
        (Action::AuditOnly, LogStyle::Text),
        (Action::Off, LogStyle::Json),
    ] {
        let mut world = World::new(action, style);
        over_http(&mut world).await;
        over_stdio(&mut world).await;
        let journal = world.journal();
        assert!(!holds_secret(journal.as_bytes()), "{action:?}: the journal holds it");
        assert!(!holds_secret(world.pipeline.metrics().as_bytes()), "{action:?}: the numbers hold it");
        let passes = matches!(action, Action::AuditOnly | Action::Off);
        let sent = String::from_utf8_lossy(&world.sent).into_owned();
        assert_eq!(holds_secret(&world.sent), passes, "{action:?}: {sent:.20000}");
        assert_eq!(sent.contains("policy/BLOCKED"), action == Action::Block);
        assert_eq!(sent.contains("[redacted: secrets/github_token]"), action == Action::Redact);
        assert_eq!(journal.contains("github_token"), action != Action::Off || journal.contains("redacted"));
        if style == LogStyle::Json {
            journal.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).expect("a JSON line")));
        }
        let counted = world.pipeline.metrics().contains("failwell_guard_findings_total{guard=\"secrets\"");
        assert_eq!(counted, action != Action::Off);
    }
}

/// A request blocked before the call has no effect. One blocked after it reports a completed effect.
#[tokio::test]
async fn what_is_blocked_says_where_and_whether_it_was_done() {
    let mut world = World::new(Action::Block, LogStyle::Json);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let stop = CancellationToken::new();
    tokio::spawn(serve_http(world.pipeline.clone(), listener, failwell_rest::http_settings(), stop.clone()));
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: leak\r\n";
    let before = post(&mut world, &address, "/mcp", headers, &call(1, "text", modern()).to_string()).await;
    assert!(
        before.contains(r#""where":"/arguments/text""#) && before.contains(r#""effect":"none""#),
        "{before}"
    );
    let quiet = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "leak", "arguments": {"how": "text"}, "_meta": modern()}});
    let after = post(&mut world, &address, "/mcp", headers, &quiet.to_string()).await;
    assert!(
        after.contains(r#""where":"/result/content/0/text""#) && after.contains(r#""effect":"complete""#),
        "{after}"
    );
    stop.cancel();
}

/// A sealed state is random text. A guard that finds it suspicious must not break the next round.
#[tokio::test]
async fn a_sealed_state_passes_every_guard_unchanged() {
    for action in [Action::Redact, Action::Block] {
        let entropy =
            GuardRule { categories: Some(vec![Category::Entropy]), ..GuardRule::everywhere(action) };
        let mut world = World::with(entropy, LogStyle::Json);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let stop = CancellationToken::new();
        tokio::spawn(serve_http(
            world.pipeline.clone(),
            listener,
            failwell_rest::http_settings(),
            stop.clone(),
        ));
        let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: leak\r\n";
        let mut request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "leak", "arguments": {"how": "confirm"}, "_meta": modern()}});
        let asked = post(&mut world, &address, "/mcp", headers, &request.to_string()).await;
        let asked: Value = serde_json::from_str(asked.lines().last().expect("a body")).expect("JSON");
        assert_eq!(asked["result"]["resultType"], "input_required", "{action:?}: {asked}");
        request["params"]["requestState"] = asked["result"]["requestState"].clone();
        request["params"]["inputResponses"] = json!({"sure": {"action": "accept", "content": {"ok": true}}});
        let done = post(&mut world, &address, "/mcp", headers, &request.to_string()).await;
        assert!(done.contains(r#"\"ok\":true"#), "{action:?}: {done}");

        // Other params are inspected as ever.
        request["params"]["inputResponses"]["sure"]["content"]["note"] =
            json!("kX7bQ2vN9pLw4RtY8sDf3GhJ6mZc1AeU5");
        let noted = post(&mut world, &address, "/mcp", headers, &request.to_string()).await;
        let expected = if action == Action::Block { "policy/BLOCKED" } else { "[redacted: secrets/entropy]" };
        assert!(noted.contains(expected) && !noted.contains("kX7bQ2vN9pLw4"), "{action:?}: {noted}");
        stop.cancel();
    }
}
