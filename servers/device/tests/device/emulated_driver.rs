//! A WebDriver emulator in this process. A rule of the test decides its behaviour; otherwise it behaves
//! correctly.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The reaction of the driver to a command.
#[derive(Clone)]
pub(crate) enum Act {
    /// Responds with this value.
    Value(Value),
    /// Responds with a W3C error.
    Error(u16, &'static str),
    /// Responds after this time.
    After(Duration, Value),
    /// Never responds.
    Hang,
    /// Closes the connection, as a crashed driver does.
    Cut,
    /// Responds with invalid content.
    InvalidResponse(&'static str),
    /// Responds without a content length.
    Chunked(Vec<u8>),
}

type Rule = dyn Fn(&str, &Value) -> Option<Act> + Send + Sync;

pub(crate) struct EmulatedDriver {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
    rule: Arc<Mutex<Arc<Rule>>>,
    serving: JoinHandle<()>,
}

impl Drop for EmulatedDriver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The default screen.
pub(crate) const SCREEN: &str = r#"<AppiumAUT><XCUIElementTypeApplication name="Shop" label="Shop" x="0" y="0" width="390" height="844">
<XCUIElementTypeTextField name="user" label="User name" x="20" y="100" width="350" height="40"/>
<XCUIElementTypeButton name="login" label="Log in" x="20" y="200" width="350" height="44"/>
<XCUIElementTypeButton name="cancel" label="Cancel" x="20" y="260" width="350" height="44"/></XCUIElementTypeApplication></AppiumAUT>"#;

/// A PNG file of one pixel.
pub(crate) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

impl EmulatedDriver {
    /// Starts a driver. Commands have the form `POST /session/1/element/login/click`.
    pub(crate) async fn start() -> EmulatedDriver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let nothing: Arc<Rule> = Arc::new(|_, _| None);
        let rule = Arc::new(Mutex::new(nothing));
        let (log, rules) = (seen.clone(), rule.clone());
        let serving = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (log, rules) = (log.clone(), rules.clone());
                tokio::spawn(async move {
                    let _ = serve(socket, &log, &rules).await;
                });
            }
        });
        EmulatedDriver { url, seen, rule, serving }
    }

    /// Sets the rule for the following commands.
    pub(crate) fn when(&self, rule: impl Fn(&str, &Value) -> Option<Act> + Send + Sync + 'static) {
        *self.rule.lock().unwrap() = Arc::new(rule);
    }

    /// Sets the reaction to every command with this suffix.
    pub(crate) fn on(&self, end: &'static str, act: Act) {
        self.when(move |command, _| command.ends_with(end).then(|| act.clone()));
    }

    /// The number of commands with this suffix.
    pub(crate) fn count(&self, end: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|(command, _)| command.ends_with(end)).count()
    }

    /// All commands so far.
    pub(crate) fn commands(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|(command, _)| command.clone()).collect()
    }

    /// The body of the last command with this suffix.
    pub(crate) fn last(&self, end: &str) -> Value {
        let seen = self.seen.lock().unwrap();
        seen.iter().rev().find(|(command, _)| command.ends_with(end)).expect("it was sent").1.clone()
    }
}

async fn serve(
    mut socket: TcpStream,
    log: &Mutex<Vec<(String, Value)>>,
    rules: &Mutex<Arc<Rule>>,
) -> std::io::Result<()> {
    let mut arrived = Vec::new();
    let (command, body) = loop {
        if let Some(request) = parse(&arrived) {
            break request;
        }
        if socket.read_buf(&mut arrived).await? == 0 {
            return Ok(());
        }
    };
    log.lock().unwrap().push((command.clone(), body.clone()));
    let rule = rules.lock().unwrap().clone();
    match rule(&command, &body).unwrap_or_else(|| usual(&command, &body)) {
        Act::Value(value) => answer(&mut socket, 200, &json!({"value": value}).to_string()).await,
        Act::Error(status, error) => {
            let value =
                json!({"error": error, "message": "MARK-words of the driver", "stacktrace": "MARK-stack"});
            answer(&mut socket, status, &json!({"value": value}).to_string()).await
        }
        Act::After(pause, value) => {
            tokio::time::sleep(pause).await;
            answer(&mut socket, 200, &json!({"value": value}).to_string()).await
        }
        Act::Hang => {
            std::future::pending::<()>().await;
            Ok(())
        }
        Act::Cut => Ok(()),
        Act::InvalidResponse(text) => answer(&mut socket, 200, text).await,
        Act::Chunked(bytes) => {
            socket
                .write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n")
                .await?;
            for piece in bytes.chunks(1 << 16) {
                socket.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
                socket.write_all(piece).await?;
                socket.write_all(b"\r\n").await?;
            }
            socket.write_all(b"0\r\n\r\n").await
        }
    }
}

async fn answer(socket: &mut TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).await?;
    socket.write_all(body.as_bytes()).await?;
    socket.shutdown().await
}

/// A complete request: its method and path, and its body.
fn parse(bytes: &[u8]) -> Option<(String, Value)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut describe = head.lines().next()?.split(' ');
    let command = format!("{} {}", describe.next()?, describe.next()?);
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let length: usize = length.unwrap_or(0);
    let body = bytes.get(end + 4..end + 4 + length)?;
    Some((command, serde_json::from_slice(body).unwrap_or_default()))
}

/// The reaction of a correct driver.
fn usual(command: &str, body: &Value) -> Act {
    let (method, path) = command.split_once(' ').unwrap();
    let below =
        path.strip_prefix("/session/").and_then(|rest| rest.split_once('/')).map_or("", |(_, below)| below);
    let capabilities =
        json!({"platformName": "iOS", "appium:deviceName": "iPhone", "appium:app": "MARK-path"});
    Act::Value(match (method, path, below) {
        ("GET", "/status", _) => json!({"ready": true}),
        ("POST", "/session", _) => json!({"sessionId": "1", "capabilities": capabilities}),
        ("GET", _, "source") => json!(SCREEN),
        ("GET", _, "screenshot") => json!(PIXEL),
        ("GET", _, "window/rect") => json!({"x": 0, "y": 0, "width": 390, "height": 844}),
        ("GET", _, "alert/text") => return Act::Error(404, "no such alert"),
        ("POST", _, "element") => {
            let wanted = body["value"].as_str().unwrap_or_default();
            let known = ["user", "login", "cancel"].into_iter().find(|name| *name == wanted);
            match known {
                Some(name) => json!({"element-6066-11e4-a52e-4f735466cecf": name}),
                None => return Act::Error(404, "no such element"),
            }
        }
        ("GET", _, below) if below.ends_with("/rect") => {
            json!({"x": 20, "y": 200, "width": 350, "height": 44})
        }
        ("GET", _, below) if below.ends_with("/displayed") || below.ends_with("/enabled") => json!(true),
        ("GET", _, below) if below.ends_with("/text") => json!("Log in"),
        ("POST", _, "execute/sync") => return Act::Error(404, "unknown command"),
        _ => Value::Null,
    })
}

/// A screenshot of this size, as a driver sends it.
pub(crate) fn picture(bytes: usize) -> String {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\x92\0\0\x09\xe4".to_vec();
    png.resize(bytes, 7);
    STANDARD.encode(png)
}
