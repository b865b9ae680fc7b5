//! Random conversations with an upstream: every request gets one answer, and it is its own.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use failwell_pipeline::StreamRead;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};
use serde_json::Value;

use super::{CloseReason, RequestMux};
use crate::upstream::connection::channel::PendingResponse;
use crate::upstream::response::UpstreamResponse;

/// The number picks one of the requests sent so far.
#[derive(Debug, Clone, Copy)]
enum RequestOperation {
    Send,
    Answer(usize),
    AnswerTwice(usize),
    Refuse(usize),
    Garble(usize),
    /// An answer to a request that was never sent.
    Invent,
    Cancel(usize),
    Drop(usize),
    Notice(usize),
    Disconnect,
}

fn operation() -> impl Strategy<Value = RequestOperation> {
    let which = || 0usize..12;
    prop_oneof![
        8 => Just(RequestOperation::Send),
        6 => which().prop_map(RequestOperation::Answer),
        2 => which().prop_map(RequestOperation::AnswerTwice),
        2 => which().prop_map(RequestOperation::Refuse),
        2 => which().prop_map(RequestOperation::Garble),
        1 => Just(RequestOperation::Invent),
        2 => which().prop_map(RequestOperation::Cancel),
        1 => which().prop_map(RequestOperation::Drop),
        1 => which().prop_map(RequestOperation::Notice),
        1 => (0u8..6).prop_map(|n| if n == 0 { RequestOperation::Disconnect } else { RequestOperation::Send }),
    ]
}

/// The expected result of a request; `None` while it waits.
#[derive(Debug, Clone, PartialEq)]
enum ExpectedOutcome {
    Result(u64),
    Error(i64),
    Fault,
}

struct MuxModel {
    mux: Arc<RequestMux>,
    read: u64,
    sent: Vec<u64>,
    /// Pending requests.
    open: BTreeMap<u64, PendingResponse>,
    /// Requests the connection still knows.
    known: Vec<u64>,
    /// Methods that the other side has still to read, each with the number of its request.
    outgoing: VecDeque<(&'static str, u64)>,
    is_down: bool,
}

fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

impl MuxModel {
    fn new() -> MuxModel {
        let (mux, _) = RequestMux::new(Arc::default());
        let (sent, open, known) = (Vec::new(), BTreeMap::new(), Vec::new());
        MuxModel { mux, read: 0, sent, open, known, outgoing: VecDeque::new(), is_down: false }
    }

    fn apply(&mut self, operation: RequestOperation) {
        match operation {
            RequestOperation::Send => self.send(),
            RequestOperation::Answer(which) => self.answer(which, ExpectedOutcome::Result),
            RequestOperation::AnswerTwice(which) => {
                self.answer(which, ExpectedOutcome::Result);
                self.answer(which, |_| ExpectedOutcome::Result(0));
            }
            RequestOperation::Refuse(which) => {
                self.answer(which, |number| ExpectedOutcome::Error(number as i64))
            }
            RequestOperation::Garble(which) => self.answer(which, |_| ExpectedOutcome::Fault),
            RequestOperation::Invent => {
                let open: Vec<u64> = self.open_and_known();
                self.take(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, self.sent.len() + 1_000));
                // An invalid response fails the only pending request. With several it cannot be attributed.
                if let [only] = open.as_slice() {
                    self.settle(*only, &ExpectedOutcome::Fault);
                }
            }
            RequestOperation::Cancel(which) => {
                if let Some(number) = self.pick(which) {
                    self.mux.cancel(number);
                    if !self.is_down {
                        self.outgoing.push_back(("notifications/cancelled", number));
                    }
                    self.known.retain(|known| *known != number);
                    // Requests that still wait fail.
                    if let Some(pending) = self.open.remove(&number) {
                        assert!(now(pending.answer).is_some_and(|answer| answer.is_err()));
                    }
                }
            }
            RequestOperation::Drop(which) => {
                if let Some(number) = self.pick(which) {
                    self.open.remove(&number);
                }
            }
            RequestOperation::Notice(which) => {
                let token = self.pick(which).unwrap_or(7_777);
                let params = format!(r#"{{"progressToken":{token},"progress":1}}"#);
                self.take(&format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#
                ));
            }
            RequestOperation::Disconnect => self.go_down(),
        }
        self.check();
    }

    fn pick(&self, which: usize) -> Option<u64> {
        self.sent.iter().rev().nth(which).copied()
    }

    fn open_and_known(&self) -> Vec<u64> {
        self.known.iter().filter(|number| self.open.contains_key(number)).copied().collect()
    }

    fn send(&mut self) {
        match now(self.mux.send("tools/call", |_, out| out.push_str("{}"), None)) {
            Some(Ok(pending)) => {
                assert!(!self.is_down);
                assert!(!self.sent.contains(&pending.number), "a number is used once");
                self.sent.push(pending.number);
                self.outgoing.push_back(("tools/call", pending.number));
                self.known.push(pending.number);
                self.open.insert(pending.number, pending);
            }
            Some(Err(_)) => assert!(self.is_down, "refused although the connection is there"),
            None => panic!("there is a reader, so nothing waits"),
        }
    }

    fn take(&self, text: &str) {
        self.mux.receive(&Bytes::from(text.to_owned()));
    }

    fn answer(&mut self, which: usize, due: impl Fn(u64) -> ExpectedOutcome) {
        let Some(number) = self.pick(which) else { return };
        let due = due(number);
        self.take(&match &due {
            ExpectedOutcome::Result(mark) => {
                format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{"mark":{mark}}}}}"#)
            }
            ExpectedOutcome::Error(code) => {
                format!(r#"{{"jsonrpc":"2.0","id":{number},"error":{{"code":{code},"message":"no"}}}}"#)
            }
            ExpectedOutcome::Fault => format!(r#"{{"jsonrpc":"2.0","id":{number},"result":3}}"#),
        });
        if self.known.contains(&number) {
            self.settle(number, &due);
        }
    }

    /// The request has what it is due, and is over.
    fn settle(&mut self, number: u64, due: &ExpectedOutcome) {
        self.known.retain(|known| *known != number);
        let Some(pending) = self.open.remove(&number) else { return };
        let answer = now(pending.answer).expect("an answer at once");
        let is_right = match (due, &answer) {
            (ExpectedOutcome::Result(mark), Ok(UpstreamResponse::Result(result))) => {
                result.text() == format!(r#"{{"mark":{mark}}}"#)
            }
            (ExpectedOutcome::Error(wanted), Ok(UpstreamResponse::Error { code, .. })) => code == wanted,
            (ExpectedOutcome::Fault, Err(_)) => true,
            _ => false,
        };
        assert!(is_right, "request {number} was due {due:?} and got {answer:?}");
    }

    fn go_down(&mut self) {
        self.mux.close(&CloseReason::Lost);
        self.is_down = true;
        for number in std::mem::take(&mut self.known) {
            self.settle(number, &ExpectedOutcome::Fault);
        }
    }

    /// Reads what is written, as the other side does, and finds all others still waiting.
    fn check(&mut self) {
        while let Some(StreamRead::Frame(frame)) = now(self.mux.outgoing().next(self.read)) {
            self.read = frame.number;
            let message: Value = serde_json::from_slice(&frame.bytes).expect("JSON");
            let number = message.get("id").or_else(|| message.pointer("/params/requestId"));
            let arrived = (message["method"].as_str(), number.and_then(Value::as_u64));
            let expected = self.outgoing.pop_front().map(|(method, number)| (Some(method), Some(number)));
            assert_eq!(Some(arrived), expected, "each message is written once and in order");
        }
        assert!(self.outgoing.is_empty(), "{:?} was not written", self.outgoing);
        let open = self.open_and_known();
        assert_eq!(self.mux.is_busy(), !open.is_empty());
        for pending in self.open.values_mut() {
            assert!(now(pending.answer.as_mut()).is_none(), "request {} has an answer", pending.number);
        }
        assert_eq!(self.mux.state.lock().waiting.len(), self.known.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_request_gets_one_answer_and_its_own(operations in proptest::collection::vec(operation(), 1..120)) {
        let mut model = MuxModel::new();
        operations.iter().for_each(|operation| model.apply(*operation));
        model.go_down();
        assert!(model.open.is_empty(), "a request waits for ever");
    }
}
