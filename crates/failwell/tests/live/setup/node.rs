//! The real program serving over HTTP, and a client for tests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::folder::Folder;
use super::several::{self, OtherNodes};
use crate::canary;
use crate::ledger::alive;

/// A running `failwell up`: one process, or several behind one address. Dropping it ends them.
pub(crate) struct Node {
    child: Child,
    /// The address for requests: the process's own, or that of the proxy.
    pub(crate) address: SocketAddr,
    own: SocketAddr,
    journal: Arc<Mutex<String>>,
    others: Option<OtherNodes>,
}

/// One HTTP response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Reads to the end of the connection.
    fn read(mut stream: TcpStream) -> Answer {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        let body = if chunked { unchunked(body) } else { body.to_owned() };
        Answer { status, head: head.to_ascii_lowercase(), body }
    }

    /// The body, or the last event in it.
    pub(crate) fn json(&self) -> Value {
        let last = self.body.lines().rev().find_map(|line| line.strip_prefix("data: "));
        serde_json::from_str(last.unwrap_or(&self.body)).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let prefix = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(prefix.as_str()).map(str::to_owned))
    }

    pub(crate) fn text(&self) -> String {
        let json = self.json();
        let result = json.get("result").unwrap_or(&json);
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {self:?}")).to_owned()
    }

    /// The reason of a fault.
    pub(crate) fn reason(&self) -> String {
        let json = self.json();
        let data = [&json["error"]["data"], &json["detail"], &json];
        let found = data.iter().find_map(|data| data["reason"].as_str());
        found.unwrap_or_else(|| panic!("no reason: {self:?}")).to_owned()
    }
}

/// The address in the line that says that the program is up.
fn address_in(line: &str) -> Option<SocketAddr> {
    let started: Value = serde_json::from_str(line).ok()?;
    started["address"].as_str()?.strip_prefix("http://")?.parse().ok()
}

impl Node {
    /// Starts one process, or as many as `FAILWELL_NODES` says.
    pub(crate) fn up(folder: &Folder, arguments: &[&str]) -> Node {
        let mut node = Node::alone(folder, arguments);
        if several::wanted() > 1 {
            let others = OtherNodes::start(node.own, folder, arguments);
            node.address = others.address();
            node.others = Some(others);
        }
        node
    }

    /// Starts one process.
    pub(crate) fn alone(folder: &Folder, arguments: &[&str]) -> Node {
        Node::with_state(folder, arguments, "state")
    }

    /// The same, with the state in this folder.
    pub(crate) fn with_state(folder: &Folder, arguments: &[&str], state: &str) -> Node {
        let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
        command.arg("up").args(["--listen", "127.0.0.1:0"]).args(arguments);
        Node::spawn(command, folder, state).0
    }

    /// Starts the command with the configuration of the folder.
    pub(crate) fn start(command: Command, folder: &Folder) -> Node {
        Node::start_showing(command, folder).0
    }

    /// The same, and captures its standard output.
    pub(crate) fn start_showing(command: Command, folder: &Folder) -> (Node, Arc<Mutex<String>>) {
        Node::spawn(command, folder, "state")
    }

    fn spawn(mut command: Command, folder: &Folder, state: &str) -> (Node, Arc<Mutex<String>>) {
        command.current_dir(&folder.0).env_remove("FAILWELL_KEY").stdin(Stdio::null());
        command.env("FAILWELL_STATE", folder.0.join(state));
        command.env("XDG_CONFIG_HOME", folder.0.join("config"));
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("failwell starts");
        let journal = Arc::<Mutex<String>>::default();
        let (errors, keeping) = (child.stderr.take().expect("standard error"), journal.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                let mut journal = keeping.lock().expect("told");
                journal.push_str(&line);
                journal.push('\n');
            }
        });
        let mut lines = BufReader::new(child.stdout.take().expect("standard output")).lines();
        let started = lines.next().and_then(Result::ok).unwrap_or_default();
        let address = address_in(&started);
        let place = canary::place();
        let shown = Arc::new(Mutex::new(started + "\n"));
        let showing = shown.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut shown = showing.lock().expect("shown");
                shown.push_str(&line);
                shown.push('\n');
            }
            canary::write(place.as_deref(), "stdout", &showing.lock().expect("shown"));
        });
        let address =
            address.unwrap_or_else(|| panic!("it does not start: {}", journal.lock().expect("told")));
        (Node { child, address, own: address, journal, others: None }, shown)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.pid().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Kills the process with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("reaped");
        self.others.iter_mut().flat_map(|others| &mut others.nodes).for_each(Node::kill);
    }

    /// The processes beside the first one.
    fn others(&self) -> &[Node] {
        self.others.as_ref().map_or(&[], |others| &others.nodes)
    }

    /// Its standard error so far.
    pub(crate) fn journal(&self) -> String {
        let own = self.journal.lock().expect("told").clone();
        self.others().iter().fold(own, |all, other| all + &other.journal())
    }

    /// Waits until standard error contains `text` at least `times` times.
    pub(crate) fn waits_for(&self, text: &str, times: usize) {
        self.others().iter().for_each(|other| other.waits_for(text, times));
        let is_told = || self.journal.lock().expect("told").matches(text).count() >= times;
        assert!(within(Duration::from_secs(60), is_told), "{text:?} was not told: {}", self.journal());
    }

    /// Waits until this many requests are in flight, without the metrics request itself.
    pub(crate) fn works_on(&self, requests: usize) {
        let wanted = format!("failwell_requests_in_flight {requests}");
        let is_so = || self.numbers().lines().any(|line| line == wanted);
        assert!(within(Duration::from_secs(30), is_so), "never {requests} at once: {}", self.numbers());
    }

    /// Sends a request on a new connection and reads the whole response.
    pub(crate) fn send(&self, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        Answer::read(self.open(verb, path, headers, body))
    }

    /// The text of `/metrics`, or nothing if the node does not respond.
    fn numbers(&self) -> String {
        let mut text = String::new();
        let asked = TcpStream::connect(self.own).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            let head = format!("GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.own);
            stream.write_all(head.as_bytes())?;
            stream.read_to_string(&mut text)
        });
        asked.map_or_else(|_| String::new(), |_| text)
    }

    /// Sends a request. The test reads the response.
    pub(crate) fn open(&self, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        open(self.address, verb, path, headers, body)
    }

    /// Sends a message within a session and reads the whole response.
    pub(crate) fn say(&self, session: &str, message: &Value) -> Answer {
        self.send("POST", "/mcp", &[("Mcp-Session-Id", session)], &message.to_string())
    }

    /// Sends a request within a session. The test reads its events.
    pub(crate) fn events(&self, session: &str, message: &Value) -> Events {
        let headers = [("Mcp-Session-Id", session), ("Accept", "text/event-stream, application/json")];
        Events::of(self.open("POST", "/mcp", &headers, &message.to_string()))
    }

    /// Resumes an event stream after the event `last`.
    pub(crate) fn resume(&self, session: &str, last: &str) -> Events {
        let headers = [("Mcp-Session-Id", session), ("Accept", "text/event-stream"), ("Last-Event-ID", last)];
        Events::of(self.open("GET", "/mcp", &headers, ""))
    }

    /// Sends a request of the modern era.
    pub(crate) fn modern(&self, method: &str, name: &str, params: Value) -> Answer {
        let mut params = params;
        params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Mcp-Name", name)];
        let headers = if name.is_empty() { &headers[..2] } else { &headers[..] };
        self.send("POST", "/mcp", headers, &message.to_string())
    }

    pub(crate) fn tool(&self, name: &str, arguments: Value) -> Answer {
        self.send("POST", &format!("/v1/tools/{name}"), &[], &arguments.to_string())
    }

    /// Calls a tool on every process: each has children of its own.
    pub(crate) fn tool_on_each(&self, name: &str, arguments: &Value) {
        for address in std::iter::once(self.own).chain(self.others().iter().map(|other| other.own)) {
            Answer::read(open(address, "POST", &format!("/v1/tools/{name}"), &[], &arguments.to_string()));
        }
    }

    /// Starts a session at a path.
    pub(crate) fn initialize(&self, path: &str) -> Answer {
        self.send("POST", path, &[], &hello())
    }
}

fn open(address: SocketAddr, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a deadline");
    let mut head = format!(
        "{verb} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    let usual = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    for (name, value) in usual.iter().filter(|(name, _)| !headers.iter().any(|(given, _)| given == name)) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).expect("sent");
    stream
}

/// An `initialize` request.
pub(crate) fn hello() -> String {
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "t", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).to_string()
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(place) = canary::place() {
            canary::write(Some(&place), "metrics", &self.numbers());
            canary::write(Some(&place), "stderr", &self.journal());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An event stream.
pub(crate) struct Events {
    lines: std::io::Lines<BufReader<TcpStream>>,
    /// The id of the last event.
    pub(crate) last: String,
    /// The ids of all events so far.
    pub(crate) ids: Vec<String>,
}

impl Events {
    fn of(stream: TcpStream) -> Events {
        Events { lines: BufReader::new(stream).lines(), last: String::new(), ids: Vec::new() }
    }

    /// The next message. `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.lines.next()?.ok()?;
            if let Some(id) = line.strip_prefix("id: ") {
                self.last = id.to_owned();
                self.ids.push(id.to_owned());
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
        }
    }

    /// All remaining messages.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.next()).collect()
    }
}

/// Decodes a chunked body. A truncated chunk is left out.
fn unchunked(text: &str) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || after.len() < size {
            break;
        }
        whole.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    whole
}

/// Polls until the condition holds or the time is over.
pub(crate) fn within(limit: Duration, is: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while !is() {
        if began.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Waits for the end of a process.
pub(crate) fn ends(pid: &str) -> bool {
    let pid = pid.parse().expect("a number");
    within(Duration::from_secs(30), || !alive(pid))
}
