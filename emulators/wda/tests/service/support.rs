//! A client of our own, on purpose a plain one: a socket, JSON.

use std::time::Duration;

use failwell_emulator_wda::{Control, Emulator, Options};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub(crate) const REFERENCE: &str = "element-6066-11e4-a52e-4f735466cecf";

pub(crate) struct Client {
    pub(crate) emulator: Emulator,
    pub(crate) control: Control,
    pub(crate) session: String,
}

/// With a session, before the login of the app.
pub(crate) async fn start() -> Client {
    let emulator = Emulator::start(Options::default()).await.unwrap();
    let mut client = Client { control: emulator.control(), emulator, session: String::new() };
    client.open().await;
    client
}

/// With a session, after the login.
pub(crate) async fn logged_in() -> Client {
    let client = start().await;
    client.type_into("username", "ada").await;
    client.type_into("password", "sesame").await;
    client.click("log-in").await;
    assert_eq!(client.control.dump()["user"], "ada");
    client
}

impl Client {
    pub(crate) async fn open(&mut self) {
        let (status, answer) =
            self.raw("POST", "/session", &json!({"capabilities": {"alwaysMatch": {}}})).await;
        assert_eq!(status, 200, "{answer}");
        self.session = answer["value"]["sessionId"].as_str().unwrap().to_owned();
        assert_eq!(answer["sessionId"], json!(self.session));
    }

    /// Status and value of a command within the session.
    pub(crate) async fn command(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let (status, answer) = self.raw(method, &format!("/session/{}{path}", self.session), &body).await;
        (status, answer["value"].clone())
    }

    pub(crate) async fn ok(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, value) = self.command(method, path, body).await;
        assert_eq!(status, 200, "{method} {path}: {value}");
        value
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.ok("GET", path, Value::Null).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        self.ok("POST", path, body).await
    }

    /// Status and name of the error of a command that must fail.
    pub(crate) async fn refused(&self, method: &str, path: &str, body: Value) -> (u16, String) {
        let (status, value) = self.command(method, path, body).await;
        assert!(status >= 400, "{method} {path}: {value}");
        (status, value["error"].as_str().unwrap().to_owned())
    }

    pub(crate) async fn find(&self, name: &str) -> String {
        let found = self.post("/element", json!({"using": "accessibility id", "value": name})).await;
        found[REFERENCE].as_str().unwrap().to_owned()
    }

    pub(crate) async fn click(&self, name: &str) {
        let id = self.find(name).await;
        self.post(&format!("/element/{id}/click"), json!({})).await;
    }

    pub(crate) async fn type_into(&self, name: &str, text: &str) {
        let id = self.find(name).await;
        self.post(&format!("/element/{id}/value"), json!({"value": [text]})).await;
    }

    pub(crate) async fn text(&self, name: &str) -> String {
        let id = self.find(name).await;
        self.get(&format!("/element/{id}/text")).await.as_str().unwrap().to_owned()
    }

    pub(crate) async fn rect(&self, name: &str) -> [i64; 4] {
        let id = self.find(name).await;
        let rect = self.get(&format!("/element/{id}/rect")).await;
        ["x", "y", "width", "height"].map(|side| rect[side].as_i64().unwrap())
    }

    pub(crate) async fn raw(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let (status, text) = self.exchange(method, path, body).await.expect("an answer");
        (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}")))
    }

    /// Status and body, or what became of the connection instead.
    pub(crate) async fn exchange(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> std::io::Result<(u16, String)> {
        timeout(Duration::from_secs(60), self.over_socket(method, path, body)).await.expect("an end in time")
    }

    async fn over_socket(&self, method: &str, path: &str, body: &Value) -> std::io::Result<(u16, String)> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(self.emulator.address()).await?;
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut bytes = vec![];
        stream.read_to_end(&mut bytes).await?;
        let text = String::from_utf8(bytes).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        };
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if length.and_then(|length| length.parse().ok()) != Some(body.len()) {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok((status, body.to_owned()))
    }
}
