//! A stdio connection inside the process.

use failwell_fault::Fault;
use failwell_rpc::{Era, Revision};
use failwell_transport::{ShutdownReport, StdioSettings, serve_stdio};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::soon;
use crate::received_message::ReceivedMessage;
use crate::requests;
use crate::world::{LARGEST, World};

/// The client's end.
pub(crate) struct Stdio {
    pub(crate) revision: Revision,
    pub(crate) stop: CancellationToken,
    input: Option<DuplexStream>,
    lines: Lines<BufReader<DuplexStream>>,
    served: JoinHandle<Result<ShutdownReport, Fault>>,
}

impl Stdio {
    /// A new connection without handshake.
    pub(crate) fn raw(world: &World, revision: Revision) -> Stdio {
        let (input, their_input) = tokio::io::duplex(64 * 1024);
        let (their_output, output) = tokio::io::duplex(64 * 1024);
        let stop = CancellationToken::new();
        let settings = StdioSettings { largest_line: LARGEST, ..StdioSettings::default() };
        let serving = serve_stdio(world.pipeline.clone(), their_input, their_output, settings, stop.clone());
        let served = tokio::spawn(serving);
        let lines = BufReader::new(output).lines();
        Stdio { revision, stop, input: Some(input), lines, served }
    }

    /// A connection after the handshake, if the revision has one.
    pub(crate) async fn open(world: &World, revision: Revision) -> Stdio {
        let mut client = Stdio::raw(world, revision);
        if revision.era() == Era::Session {
            client.send(requests::initialize(revision, "\"hello\"")).await;
            let hello = client.next().await;
            assert_eq!(hello.value["result"]["protocolVersion"], revision.as_str(), "{}", hello.text);
            client.send(requests::INITIALIZED).await;
        }
        client
    }

    /// Sends a line.
    pub(crate) async fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().expect("the input is open");
        let written = async {
            input.write_all(line.as_ref()).await?;
            input.write_all(b"\n").await
        };
        soon("sending", written).await.expect("the server reads");
    }

    /// The next message.
    pub(crate) async fn next_of_any_kind(&mut self) -> ReceivedMessage {
        let line = soon("an answer", self.lines.next_line()).await.expect("readable");
        let line = line.expect("the server still writes");
        ReceivedMessage::read(line.as_bytes()).expect("every line is a message")
    }

    /// The next answer.
    pub(crate) async fn next(&mut self) -> ReceivedMessage {
        loop {
            let seen = self.next_of_any_kind().await;
            if seen.value.get("method").is_none() {
                return seen;
            }
        }
    }

    /// Sends a valid request, and returns the responses that arrived before its own.
    pub(crate) async fn still_works(&mut self) -> Vec<ReceivedMessage> {
        self.send(requests::good(self.revision, "\"still works\"")).await;
        let mut before = Vec::new();
        loop {
            let seen = self.next().await;
            if seen.is_answer_to("\"still works\"") {
                assert!(seen.first_text().contains("simple text"), "{}", seen.text);
                return before;
            }
            before.push(seen);
        }
    }

    /// Closes the input, waits until the server ends, and returns its last messages.
    pub(crate) async fn finish(mut self) -> Vec<ReceivedMessage> {
        drop(self.input.take());
        let mut rest = Vec::new();
        while let Some(line) = soon("the end", self.lines.next_line()).await.expect("readable") {
            rest.push(ReceivedMessage::read(line.as_bytes()).expect("every line is a message"));
        }
        soon("the server's end", self.served).await.expect("no panic").expect("no fault");
        rest
    }
}
