//! Random conversations with an upstream: every request gets one answer, and it is its own.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use failwell_pipeline::Next;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};

use super::{CloseReason, RequestMux};
use crate::upstream::connection::channel::PendingResponse;
use crate::upstream::response::UpstreamResponse;

/// The number picks one of the requests sent so far.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Send,
    Answer(usize),
    AnswerTwice(usize),
    Refuse(usize),
    Garble(usize),
    /// An answer to a request that was never sent.
    Invent,
    CallOff(usize),
    Drop(usize),
    Notice(usize),
    GoDown,
}

fn operation() -> impl Strategy<Value = Operation> {
    let which = || 0usize..12;
    prop_oneof![
        8 => Just(Operation::Send),
        6 => which().prop_map(Operation::Answer),
        2 => which().prop_map(Operation::AnswerTwice),
        2 => which().prop_map(Operation::Refuse),
        2 => which().prop_map(Operation::Garble),
        1 => Just(Operation::Invent),
        2 => which().prop_map(Operation::CallOff),
        1 => which().prop_map(Operation::Drop),
        1 => which().prop_map(Operation::Notice),
        1 => (0u8..6).prop_map(|n| if n == 0 { Operation::GoDown } else { Operation::Send }),
    ]
}

/// The expected result of a request; `None` while it waits.
#[derive(Debug, Clone, PartialEq)]
enum Due {
    Result(u64),
    Error(i64),
    Fault,
}

struct Model {
    line: Arc<RequestMux>,
    read: u64,
    sent: Vec<u64>,
    /// Pending requests.
    open: BTreeMap<u64, PendingResponse>,
    /// Requests the connection still knows.
    known: Vec<u64>,
    is_down: bool,
}

fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

impl Model {
    fn new() -> Model {
        let (line, _) = RequestMux::new(Arc::default());
        let (sent, open, known) = (Vec::new(), BTreeMap::new(), Vec::new());
        Model { line, read: 0, sent, open, known, is_down: false }
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Send => self.send(),
            Operation::Answer(which) => self.answer(which, Due::Result),
            Operation::AnswerTwice(which) => {
                self.answer(which, Due::Result);
                self.answer(which, |_| Due::Result(0));
            }
            Operation::Refuse(which) => self.answer(which, |number| Due::Error(number as i64)),
            Operation::Garble(which) => self.answer(which, |_| Due::Fault),
            Operation::Invent => {
                let open: Vec<u64> = self.open_and_known();
                self.take(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, self.sent.len() + 1_000));
                // An invalid response fails the only pending request. With several it cannot be attributed.
                if let [only] = open.as_slice() {
                    self.settle(*only, &Due::Fault);
                }
            }
            Operation::CallOff(which) => {
                if let Some(number) = self.pick(which) {
                    self.line.cancel(number);
                    self.known.retain(|known| *known != number);
                    // Requests that still wait fail.
                    if let Some(pending) = self.open.remove(&number) {
                        assert!(now(pending.answer).is_some_and(|answer| answer.is_err()));
                    }
                }
            }
            Operation::Drop(which) => {
                if let Some(number) = self.pick(which) {
                    self.open.remove(&number);
                }
            }
            Operation::Notice(which) => {
                let token = self.pick(which).unwrap_or(7_777);
                let params = format!(r#"{{"progressToken":{token},"progress":1}}"#);
                self.take(&format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#
                ));
            }
            Operation::GoDown => self.go_down(),
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
        match now(self.line.send("tools/call", |_, out| out.push_str("{}"), None)) {
            Some(Ok(pending)) => {
                assert!(!self.is_down);
                assert!(!self.sent.contains(&pending.number), "a number is used once");
                self.sent.push(pending.number);
                self.known.push(pending.number);
                self.open.insert(pending.number, pending);
            }
            Some(Err(_)) => assert!(self.is_down, "refused although the connection is there"),
            None => panic!("there is a reader, so nothing waits"),
        }
    }

    fn take(&self, text: &str) {
        self.line.receive(&Bytes::from(text.to_owned()));
    }

    fn answer(&mut self, which: usize, due: impl Fn(u64) -> Due) {
        let Some(number) = self.pick(which) else { return };
        let due = due(number);
        self.take(&match &due {
            Due::Result(mark) => {
                format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{"mark":{mark}}}}}"#)
            }
            Due::Error(code) => {
                format!(r#"{{"jsonrpc":"2.0","id":{number},"error":{{"code":{code},"message":"no"}}}}"#)
            }
            Due::Fault => format!(r#"{{"jsonrpc":"2.0","id":{number},"result":3}}"#),
        });
        if self.known.contains(&number) {
            self.settle(number, &due);
        }
    }

    /// The request has what it is due, and is over.
    fn settle(&mut self, number: u64, due: &Due) {
        self.known.retain(|known| *known != number);
        let Some(pending) = self.open.remove(&number) else { return };
        let answer = now(pending.answer).expect("an answer at once");
        let is_right = match (due, &answer) {
            (Due::Result(mark), Ok(UpstreamResponse::Result(result))) => {
                result.text() == format!(r#"{{"mark":{mark}}}"#)
            }
            (Due::Error(wanted), Ok(UpstreamResponse::Error { code, .. })) => code == wanted,
            (Due::Fault, Err(_)) => true,
            _ => false,
        };
        assert!(is_right, "request {number} was due {due:?} and got {answer:?}");
    }

    fn go_down(&mut self) {
        self.line.close(&CloseReason::Lost);
        self.is_down = true;
        for number in std::mem::take(&mut self.known) {
            self.settle(number, &Due::Fault);
        }
    }

    /// Reads what is written, as the other side does, and finds everybody else still waiting.
    fn check(&mut self) {
        while let Some(Next::Frame(frame)) = now(self.line.outgoing().next(self.read)) {
            self.read = frame.number;
        }
        let open = self.open_and_known();
        assert_eq!(self.line.is_busy(), !open.is_empty());
        for pending in self.open.values_mut() {
            assert!(now(pending.answer.as_mut()).is_none(), "request {} has an answer", pending.number);
        }
        assert_eq!(self.line.state.lock().waiting.len(), self.known.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_request_gets_one_answer_and_its_own(operations in proptest::collection::vec(operation(), 1..120)) {
        let mut model = Model::new();
        operations.iter().for_each(|operation| model.apply(*operation));
        model.go_down();
        assert!(model.open.is_empty(), "somebody waits for ever");
    }
}
