//! A client of the emulated service that signs its calls.

use failwell_emulator_http::{RawReply, exchange_with};
use failwell_emulator_rtm::{Control, Emulator, Options, Permission, Seed, sign};
use serde_json::Value;

/// Wednesday, 11 November 2026, 14:30 in Berlin.
pub(crate) const NOW: &str = "2026-11-11T13:30:00Z";

pub(crate) struct Client {
    pub(crate) emulator: Emulator,
    pub(crate) control: Control,
    pub(crate) token: String,
    pub(crate) timeline: String,
    pub(crate) version: &'static str,
}

pub(crate) async fn start(seed: Seed) -> Client {
    start_with(Options { seed, clock: Some(NOW.parse().unwrap()), ..Options::default() }).await
}

pub(crate) async fn start_with(options: Options) -> Client {
    let emulator = Emulator::start(options).await.unwrap();
    let control = emulator.control();
    let token = control.token(Permission::Delete);
    let mut client = Client { control, emulator, token, timeline: String::new(), version: "2" };
    client.timeline = client.ok("rtm.timelines.create", &[]).await["timeline"].as_str().unwrap().to_owned();
    client
}

impl Client {
    /// The answer's `rsp`, of a call with token and timeline.
    pub(crate) async fn call(&self, method: &str, arguments: &[(&str, &str)]) -> Value {
        let mut all = vec![
            ("format", "json"),
            ("v", self.version),
            ("auth_token", &self.token),
            ("timeline", &self.timeline),
        ];
        all.extend(arguments);
        self.bare(method, &all).await
    }

    /// The answer's `rsp`, of a signed call with these arguments and the key.
    pub(crate) async fn bare(&self, method: &str, arguments: &[(&str, &str)]) -> Value {
        let reply = self.raw(method, arguments).await.unwrap();
        let answer: Value = serde_json::from_str(&reply.body).unwrap_or_else(|_| panic!("{}", reply.body));
        answer["rsp"].clone()
    }

    pub(crate) async fn raw(&self, method: &str, arguments: &[(&str, &str)]) -> std::io::Result<RawReply> {
        let body = self.form(method, arguments);
        self.send("POST", "/services/rest/", &body).await
    }

    /// A signed form.
    pub(crate) fn form(&self, method: &str, arguments: &[(&str, &str)]) -> String {
        let mut all = vec![("method", method), ("api_key", self.emulator.api_key())];
        all.extend(arguments);
        // What is given later wins, as in the form.
        let all: std::collections::BTreeMap<&str, &str> = all.into_iter().collect();
        let all: Vec<(&str, &str)> = all.into_iter().collect();
        let signature = sign(self.emulator.secret(), all.iter().copied());
        encode(all.iter().copied().chain([("api_sig", signature.as_str())]))
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: &str) -> std::io::Result<RawReply> {
        self.send_from("host: 127.0.0.1", method, path, body).await
    }

    /// With these headers in place of the usual `Host`.
    pub(crate) async fn send_from(
        &self,
        headers: &str,
        method: &str,
        path: &str,
        body: &str,
    ) -> std::io::Result<RawReply> {
        let headers = format!("{headers}\r\ncontent-type: application/x-www-form-urlencoded");
        exchange_with(self.emulator.address(), method, path, &headers, body).await
    }

    pub(crate) async fn ok(&self, method: &str, arguments: &[(&str, &str)]) -> Value {
        let answer = self.call(method, arguments).await;
        assert_eq!(answer["stat"], "ok", "{method}: {answer}");
        answer
    }

    /// The code of a call that is refused.
    pub(crate) async fn refused(&self, method: &str, arguments: &[(&str, &str)]) -> String {
        let answer = self.call(method, arguments).await;
        assert_eq!(answer["stat"], "fail", "{method}: {answer}");
        answer["err"]["code"].as_str().unwrap().to_owned()
    }

    /// Adds a task, and says where it is.
    pub(crate) async fn add(&self, name: &str) -> [String; 3] {
        let answer = self.ok("rtm.tasks.add", &[("name", name), ("parse", "1")]).await;
        path(&answer)
    }

    pub(crate) async fn on(&self, method: &str, path: &[String; 3], arguments: &[(&str, &str)]) -> Value {
        self.ok(method, &with_path(path, arguments)).await
    }

    pub(crate) async fn refused_on(
        &self,
        method: &str,
        path: &[String; 3],
        arguments: &[(&str, &str)],
    ) -> String {
        self.refused(method, &with_path(path, arguments)).await
    }

    pub(crate) async fn undo(&self, answer: &Value) -> Value {
        let id = answer["transaction"]["id"].as_str().unwrap();
        self.call("rtm.transactions.undo", &[("transaction_id", id)]).await
    }
}

fn with_path<'a>(path: &'a [String; 3], arguments: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let [list, series, task] = path;
    let mut all = vec![("list_id", list.as_str()), ("taskseries_id", series), ("task_id", task)];
    all.extend(arguments);
    all
}

/// The three ids of the first task of an answer.
pub(crate) fn path(answer: &Value) -> [String; 3] {
    let list = &answer["list"];
    let series = &list["taskseries"][0];
    [&list["id"], &series["id"], &series["task"][0]["id"]].map(|id| id.as_str().unwrap().to_owned())
}

pub(crate) fn encode<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let encoded = |text: &str| -> String {
        let byte = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        };
        text.bytes().map(byte).collect()
    };
    let pairs = pairs.into_iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}
