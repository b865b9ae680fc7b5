//! A client of the session era in memory.

use std::time::Duration;

use failwell_transport::{StdioSettings, serve_stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::world::World;

/// Timeout of every wait, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Talk {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    last: u64,
    stop: CancellationToken,
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Talk {
    /// Starts a session with these capabilities.
    pub(crate) async fn begin(world: &World, capabilities: Value) -> Talk {
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
        let mut talk = Talk { lines: BufReader::new(reader).lines(), writer, last: 0, stop };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}});
        talk.ask("initialize", hello).await;
        talk.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        talk
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.expect("written");
    }

    /// The next message.
    pub(crate) async fn hear(&mut self) -> Value {
        let line =
            timeout(PATIENCE, self.lines.next_line()).await.expect("in time").expect("read").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Sends a request without waiting for its response.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Sends a request and waits for its response. Other messages are skipped.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        loop {
            let message = self.hear().await;
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }
}
