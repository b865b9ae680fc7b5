//! Calls over standard input and output.

use crate::process::Process;
use bench_server::message::{Echo, Era, FIRST, NumberedMessage};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A client of one program, in the session era.
pub struct Client {
    pub process: Process,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    /// Starts the program and opens a session.
    pub fn start(command: &mut Command, version: &str) -> Result<Client, String> {
        let mut process = Process::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()))?;
        let (input, output) = process.pipes().ok_or("no pipes")?;
        let mut client = Client { process, input, output: BufReader::new(output) };
        let info = json!({"name": "bench", "version": "0.1.0"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
        client.send(
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
                .to_string()
                .as_bytes(),
        )?;
        client.receive()?;
        client
            .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string().as_bytes())?;
        Ok(client)
    }

    fn send(&mut self, line: &[u8]) -> Result<(), String> {
        let sent = self.input.write_all(line.trim_ascii_end()).and_then(|()| self.input.write_all(b"\n"));
        sent.and_then(|()| self.input.flush()).map_err(|error| error.to_string())
    }

    /// The next response. Notifications are skipped.
    fn receive(&mut self) -> Result<Vec<u8>, String> {
        loop {
            let mut line = Vec::new();
            let read = self.output.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
            if read == 0 {
                return Err("it ended".to_owned());
            }
            let message: Value = serde_json::from_slice(&line).unwrap_or_default();
            if message.get("id").is_some() && message.get("method").is_none() {
                return Ok(line);
            }
        }
    }

    /// Sends one call after another for this time. Returns the latency of each.
    pub fn keep_asking(&mut self, echo: Echo, length: Duration) -> Result<Vec<Duration>, String> {
        let mut call = NumberedMessage::line(echo, Era::Session);
        let (mut times, mut number) = (Vec::new(), FIRST);
        let until = Instant::now() + length;
        while Instant::now() < until {
            let asked = Instant::now();
            self.send(call.numbered(number))?;
            let answer = self.receive()?;
            times.push(asked.elapsed());
            NumberedMessage::answer(echo, answer, number)?;
            number += 1;
        }
        Ok(times)
    }

    /// Sends this many calls at once. Returns the time until the last response.
    pub fn pipelined(&mut self, tool: &str, count: usize) -> Result<Duration, String> {
        let call = |id: usize| {
            let params = json!({"name": tool, "arguments": {}});
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
        };
        self.send(call(1).as_bytes())?;
        self.receive()?;
        let began = Instant::now();
        for id in 0..count {
            self.send(call(100 + id).as_bytes())?;
        }
        for _ in 0..count {
            let answer: Value =
                serde_json::from_slice(&self.receive()?).map_err(|error| error.to_string())?;
            if answer["result"]["content"][0]["text"] != "done" {
                return Err(format!("a wrong answer: {answer}"));
            }
        }
        Ok(began.elapsed())
    }
}
