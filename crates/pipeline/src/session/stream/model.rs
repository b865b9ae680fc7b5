//! Random operations, checked against the complete history of accepted frames.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};

use super::{Keep, LARGEST, LONGEST, Next, Stream, StreamReader};

#[derive(Debug, Clone, Copy)]
enum Operation {
    Push(usize),
    PushNow(usize),
    Fill,
    Read,
    /// Reads again from this many frames back, like a client that reconnects.
    ReadAgain(u64),
    Detach,
    Pause,
    Finish,
    Abandon,
}

fn operation() -> impl Strategy<Value = Operation> {
    let size = prop_oneof![30 => 1usize..64, 1 => Just(LARGEST / 3)];
    prop_oneof![
        12 => size.clone().prop_map(Operation::Push),
        4 => size.prop_map(Operation::PushNow),
        1 => Just(Operation::Fill),
        12 => Just(Operation::Read),
        2 => (0u64..8).prop_map(Operation::ReadAgain),
        2 => Just(Operation::Detach),
        1 => Just(Operation::Pause),
        1 => (0u8..8).prop_map(|n| if n == 0 { Operation::Finish } else { Operation::Read }),
        1 => (0u8..16).prop_map(|n| if n == 0 { Operation::Abandon } else { Operation::Read }),
    ]
}

/// Polls a future once, and drops it if it would wait.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

struct Model {
    stream: Stream,
    keep: Keep,
    /// Every accepted frame; its number is its position, counted from 1.
    accepted: Vec<Vec<u8>>,
    /// The last frame that the reader has.
    at: u64,
    /// Whether frames may have been evicted while the reader was disconnected.
    was_away: bool,
    is_finished: bool,
    /// Whether the stream abandoned the reader. A later read makes it a reader again.
    is_gone: bool,
}

impl Model {
    fn new(keep: Keep) -> Model {
        Model {
            stream: Stream::new(keep),
            keep,
            accepted: Vec::new(),
            at: 0,
            was_away: false,
            is_finished: false,
            is_gone: false,
        }
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Push(size) => self.push(size),
            Operation::PushNow(size) => {
                let bytes = self.bytes(size);
                self.stream.push_now(bytes.clone());
                self.note_accepted(bytes);
            }
            Operation::Fill => (0..300).for_each(|_| self.push(1)),
            Operation::Read => self.read(self.at),
            Operation::ReadAgain(back) if self.keep == Keep::Recent => {
                self.read(self.at.saturating_sub(back))
            }
            Operation::ReadAgain(_) => {}
            Operation::Detach => {
                self.stream.detach();
                self.was_away = true;
                self.is_gone = self.keep == Keep::Nothing;
            }
            Operation::Pause => self.stream.pause(Duration::from_millis(1)),
            Operation::Finish => {
                self.stream.finish();
                self.is_finished = true;
            }
            Operation::Abandon => {
                self.stream.abandon();
                self.is_gone = true;
                self.was_away = true;
            }
        }
        self.check();
    }

    fn is_over(&self) -> bool {
        self.is_finished || self.is_gone
    }

    fn bytes(&self, size: usize) -> Vec<u8> {
        let mut bytes = (self.accepted.len() as u64 + 1).to_be_bytes().to_vec();
        bytes.resize(bytes.len() + size, b'x');
        bytes
    }

    fn push(&mut self, size: usize) {
        let bytes = self.bytes(size);
        let pushed = now(self.stream.push(bytes.clone()));
        assert_eq!(
            pushed.as_ref().is_some_and(Result::is_err),
            self.is_over(),
            "refused only when it is over"
        );
        let before = self.accepted.len();
        self.note_accepted(bytes);
        let is_accepted = pushed.is_some_and(|pushed| pushed.is_ok());
        assert_eq!(
            self.accepted.len() - before,
            usize::from(is_accepted),
            "a push that waits has done nothing"
        );
    }

    fn note_accepted(&mut self, bytes: Vec<u8>) {
        if self.stream.written() > self.accepted.len() as u64 {
            assert!(!self.is_over());
            self.accepted.push(bytes);
        }
        assert_eq!(self.stream.written(), self.accepted.len() as u64);
    }

    fn read(&mut self, after: u64) {
        match now(self.stream.next(after)) {
            Some(Next::Frame(frame)) => {
                let known = self.accepted.get(frame.number as usize - 1).expect("an accepted frame");
                assert!(*known == frame.bytes, "frame {} is another", frame.number);
                let is_next = frame.number == after + 1;
                assert!(
                    is_next || frame.number > after && (self.was_away || after < self.at),
                    "{after} lost"
                );
                self.at = self.at.max(frame.number);
                self.is_gone = false;
                // Only the oldest frames are evicted: every frame after this one is still present.
                self.was_away &= self.at < self.accepted.len() as u64;
            }
            Some(Next::Pause(_)) => assert_eq!(self.keep, Keep::Recent),
            Some(Next::End) => {
                assert!(self.is_over() && after >= self.at);
                assert!(
                    self.was_away || self.at == self.accepted.len() as u64,
                    "ended before its last frame"
                );
            }
            None => {
                assert!(!self.is_over() && after >= self.accepted.len() as u64, "something is there to read")
            }
        }
    }

    fn check(&self) {
        let state = self.stream.state.lock();
        let numbers: Vec<u64> = state.frames.iter().map(|frame| frame.number).collect();
        assert!(numbers.windows(2).all(|pair| matches!(pair, [one, two] if one + 1 == *two)), "{numbers:?}");
        assert!(numbers.last().is_none_or(|last| *last == state.written));
        let most = if state.reader == StreamReader::Expected { 2 * LONGEST } else { 2 * LONGEST + 1 };
        assert!(numbers.len() as u64 <= most, "{} frames", numbers.len());
        let held: usize = state.frames.iter().map(|frame| frame.bytes.len()).sum();
        let unread = state.frames.iter().filter(|frame| frame.number > state.read);
        let unread: usize = unread.map(|frame| frame.bytes.len()).sum();
        assert_eq!((state.held, state.unread), (held, unread), "bytes are counted");
    }
}

fn run(keep: Keep, operations: &[Operation]) {
    // A waiting push arms a timer, which needs a runtime.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let _inside = runtime.enter();
    let mut model = Model::new(keep);
    operations.iter().for_each(|operation| model.apply(*operation));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn accepted_frames_are_read_in_order_and_once(operations in proptest::collection::vec(operation(), 1..200)) {
        run(Keep::Nothing, &operations);
    }

    #[test]
    fn a_reader_that_comes_back_loses_the_oldest_frames_alone(operations in proptest::collection::vec(operation(), 1..200)) {
        run(Keep::Recent, &operations);
    }
}
