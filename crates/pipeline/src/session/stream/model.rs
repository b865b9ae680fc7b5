//! Random operations. A model of the stream says what each of them does: which frames are accepted, evicted, copied
//! and read next, and who waits.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};
use tokio::sync::mpsc;

use super::{Frame, FrameRetention, LARGEST, LONGEST, Stream, StreamRead, StreamReader};

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
    let size = prop_oneof![60 => 1usize..64, 2 => Just(LARGEST / 3), 1 => Just(LARGEST + 1)];
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
    keep: FrameRetention,
    /// Every accepted frame; its number is its position, counted from 1.
    accepted: Vec<Bytes>,
    /// The last frame that was read, or evicted unread.
    read: u64,
    /// The oldest frame that is retained, or the next one if there is none.
    oldest: u64,
    reader: StreamReader,
    has_pause: bool,
    is_finished: bool,
    copies: mpsc::Receiver<Frame>,
    copied: usize,
}

impl Model {
    fn new(keep: FrameRetention) -> Model {
        let stream = Stream::new(keep);
        let copies = stream.copied();
        Model {
            stream,
            keep,
            accepted: Vec::new(),
            read: 0,
            oldest: 1,
            reader: StreamReader::Expected,
            has_pause: false,
            is_finished: false,
            copies,
            copied: 0,
        }
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Push(size) => self.push(size),
            Operation::PushNow(size) => {
                let bytes = self.bytes(size);
                let is_dropped = self.is_over() || self.is_full(2);
                self.stream.push_now(bytes.clone());
                if !is_dropped {
                    self.accept(bytes);
                }
            }
            Operation::Fill => (0..300).for_each(|_| self.push(1)),
            Operation::Read => self.read(self.read),
            Operation::ReadAgain(back) if self.keep == FrameRetention::Recent => {
                self.read(self.read.saturating_sub(back))
            }
            Operation::ReadAgain(_) => {}
            Operation::Detach => {
                self.stream.detach();
                self.reader =
                    if self.keep == FrameRetention::Recent { StreamReader::Away } else { StreamReader::Gone };
            }
            Operation::Pause => {
                self.stream.pause(Duration::from_millis(1));
                self.has_pause |= self.keep == FrameRetention::Recent;
            }
            Operation::Finish => {
                self.stream.finish();
                self.is_finished = true;
            }
            Operation::Abandon => {
                self.stream.abandon();
                self.reader = StreamReader::Gone;
            }
        }
        self.check();
    }

    fn is_over(&self) -> bool {
        self.is_finished || self.reader == StreamReader::Gone
    }

    /// Whether an expected reader has this multiple of the limit still to read.
    fn is_full(&self, times: usize) -> bool {
        let unread = self.accepted.iter().skip(self.read as usize);
        let (frames, bytes) = unread.fold((0, 0), |(frames, bytes), frame| (frames + 1, bytes + frame.len()));
        let has_reached = frames >= LONGEST as usize * times || frames > 0 && bytes >= LARGEST * times;
        self.reader == StreamReader::Expected && has_reached
    }

    fn bytes(&self, size: usize) -> Bytes {
        let mut bytes = vec![b'x'; 8 + size];
        bytes[..8].copy_from_slice(&(self.accepted.len() as u64 + 1).to_be_bytes());
        bytes.into()
    }

    fn push(&mut self, size: usize) {
        let bytes = self.bytes(size);
        match now(self.stream.push(bytes.clone())) {
            Some(Err(_)) => assert!(self.is_over(), "refused before it is over"),
            None => assert!(!self.is_over() && self.is_full(1), "it waits although there is room"),
            Some(Ok(())) => {
                assert!(!self.is_over() && !self.is_full(1), "there is no room");
                self.accept(bytes);
            }
        }
    }

    /// Frames make room only if they must: the oldest first, and no unread one of an expected reader.
    fn accept(&mut self, bytes: Bytes) {
        self.accepted.push(bytes);
        let (oldest, held) = self.retained();
        assert!(oldest >= self.oldest);
        let frames = self.accepted.len() as u64 + 1 - oldest;
        if oldest > self.oldest {
            let evicted = self.accepted[oldest as usize - 2].len();
            assert!(frames + 1 > LONGEST || held + evicted > LARGEST, "frame {} had a place", oldest - 1);
        }
        let is_large = frames > LONGEST || held > LARGEST;
        match self.reader {
            StreamReader::Expected => {
                assert!(oldest == self.oldest || oldest <= self.read + 1, "an unread frame is lost");
                assert!(!is_large || oldest > self.read || self.is_last(oldest), "read frames take the room");
            }
            _ => assert!(!is_large || self.is_last(oldest), "a reader that is away holds up to the limit"),
        }
        self.oldest = oldest;
        self.read = self.read.max(oldest - 1);
    }

    fn is_last(&self, number: u64) -> bool {
        number == self.accepted.len() as u64
    }

    /// The oldest retained frame, and the bytes of all of them.
    fn retained(&self) -> (u64, usize) {
        let state = self.stream.state.lock();
        let oldest = state.frames.front().map_or(state.written + 1, |frame| frame.number);
        (oldest, state.frames.iter().map(|frame| frame.bytes.len()).sum())
    }

    fn read(&mut self, after: u64) {
        let number = self.oldest.max(after + 1);
        let next = now(self.stream.next(after));
        match self.accepted.get(number as usize - 1) {
            Some(bytes) => {
                let Some(StreamRead::Frame(frame)) = next else {
                    panic!("{next:?} instead of frame {number}")
                };
                assert_eq!(frame.number, number, "after {after}");
                assert!(frame.bytes == *bytes, "frame {number} is another");
                self.read = self.read.max(number);
                self.reader = StreamReader::Expected;
                if self.keep == FrameRetention::Nothing {
                    self.oldest = number + 1;
                }
            }
            None if self.has_pause => {
                assert!(matches!(next, Some(StreamRead::Pause(_))), "{next:?}");
                self.has_pause = false;
            }
            None => assert_eq!(next, self.is_over().then_some(StreamRead::End)),
        }
    }

    fn check(&mut self) {
        while let Ok(frame) = self.copies.try_recv() {
            self.copied += 1;
            assert_eq!(frame.number, self.copied as u64, "copies are in order");
            assert!(frame.bytes == self.accepted[self.copied - 1], "copy {} is another", self.copied);
        }
        assert_eq!(self.copied, self.accepted.len(), "every frame is copied");
        assert_eq!((self.stream.written(), self.stream.position()), (self.accepted.len() as u64, self.read));
        let has_space = self.is_finished || !self.is_full(1);
        assert_eq!(now(self.stream.wait_for_space()).is_some(), has_space);
        let has_frames = self.oldest <= self.accepted.len() as u64;
        assert_eq!(self.stream.has_something(), has_frames || self.has_pause || self.is_finished);
        let state = self.stream.state.lock();
        let numbers: Vec<u64> = state.frames.iter().map(|frame| frame.number).collect();
        assert_eq!(numbers, Vec::from_iter(self.oldest..=self.accepted.len() as u64));
        assert!(numbers.len() as u64 <= 2 * LONGEST + 1, "{} frames", numbers.len());
        let held: usize = state.frames.iter().map(|frame| frame.bytes.len()).sum();
        let unread = state.frames.iter().filter(|frame| frame.number > state.read);
        let unread: usize = unread.map(|frame| frame.bytes.len()).sum();
        assert_eq!((state.held, state.unread), (held, unread), "bytes are counted");
    }
}

fn run(keep: FrameRetention, operations: &[Operation]) {
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
        run(FrameRetention::Nothing, &operations);
    }

    #[test]
    fn a_reader_that_comes_back_loses_the_oldest_frames_alone(operations in proptest::collection::vec(operation(), 1..200)) {
        run(FrameRetention::Recent, &operations);
    }
}
