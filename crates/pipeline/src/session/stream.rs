//! A bounded, ordered queue of frames to one client. Every transport reads from such a stream.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};

/// One frame with its sequence number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Counts from 1.
    pub number: u64,
    /// One JSON message.
    pub bytes: Bytes,
}

/// Whether read frames are retained for a client that reconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameRetention {
    /// A frame is dropped once it is read.
    Nothing,
    /// Recent frames are retained, so that a client can resume.
    Recent,
}

/// The result of a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamRead {
    Frame(Frame),
    /// The reader should disconnect, and reconnect after this duration. The remaining frames are retained.
    Pause(Duration),
    /// No more frames follow.
    End,
}

#[derive(Debug)]
pub struct Stream {
    state: Mutex<StreamState>,
    keep: FrameRetention,
    readable: Notify,
    writable: Notify,
}

#[derive(Debug, Default)]
struct StreamState {
    frames: VecDeque<Frame>,
    written: u64,
    read: u64,
    unread: usize,
    held: usize,
    reader: StreamReader,
    pause: Option<Duration>,
    finished: bool,
    copy: Option<mpsc::Sender<Frame>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum StreamReader {
    #[default]
    Expected,
    Away,
    Gone,
}

/// The maximum number of frames that are queued or retained.
const LONGEST: u64 = 256;
/// The maximum number of bytes that are queued or retained, unless a single frame is larger.
const LARGEST: usize = 16 * 1024 * 1024;
/// The maximum time that a writer waits for a slow reader.
const SLOWEST_READER: Duration = Duration::from_secs(30);

impl Stream {
    pub fn new(keep: FrameRetention) -> Stream {
        Stream { state: Mutex::default(), keep, readable: Notify::new(), writable: Notify::new() }
    }

    /// Creates a stream that continues after this frame, because the reader has read up to it elsewhere.
    pub fn behind(after: u64) -> Stream {
        let stream = Stream::new(FrameRetention::Recent);
        {
            let mut state = stream.state.lock();
            (state.written, state.read) = (after, after);
        }
        stream
    }

    /// Returns a copy of all present and future frames, until the stream ends. A slow receiver misses frames.
    pub fn copied(&self) -> mpsc::Receiver<Frame> {
        let (copy, copies) = mpsc::channel(2 * LONGEST as usize);
        let mut state = self.state.lock();
        for frame in &state.frames {
            let _ = copy.try_send(frame.clone());
        }
        if !state.finished {
            state.copy = Some(copy);
        }
        copies
    }

    /// Adds a frame under the number that it has on another node.
    pub fn push_as(&self, frame: Frame) {
        let mut state = self.state.lock();
        state.written = state.written.max(frame.number.saturating_sub(1));
        drop(state);
        self.push_now(frame.bytes);
    }

    /// Adds a frame. Waits while the stream is full, and abandons a reader that stays slow.
    pub async fn push(&self, bytes: impl Into<Bytes>) -> Result<(), Fault> {
        let bytes = bytes.into();
        loop {
            let writable = self.writable.notified();
            if self.try_push(&bytes)? {
                return Ok(());
            }
            if tokio::time::timeout(SLOWEST_READER, writable).await.is_err() {
                self.abandon();
            }
        }
    }

    /// Waits until the stream is not full. A sender that waits here first never queues behind it.
    pub async fn wait_for_space(&self) {
        loop {
            let writable = self.writable.notified();
            if self.has_space() {
                return;
            }
            writable.await;
        }
    }

    /// Whether a frame can be added, or will be dropped, without waiting.
    fn has_space(&self) -> bool {
        let state = self.state.lock();
        state.finished || state.reader != StreamReader::Expected || !state.is_full()
    }

    /// Adds a frame without waiting, even past the limit: notifications must not block their sender. At twice
    /// the limit the new frame is dropped. Queued frames are never lost.
    pub fn push_now(&self, bytes: impl Into<Bytes>) {
        let mut state = self.state.lock();
        let overfull = state.reader == StreamReader::Expected && state.is_as_full_as(2);
        if state.reader == StreamReader::Gone || state.finished || overfull {
            return;
        }
        state.append(bytes.into());
        state.trim();
        drop(state);
        self.readable.notify_one();
    }

    fn try_push(&self, bytes: &Bytes) -> Result<bool, Fault> {
        let mut state = self.state.lock();
        if state.reader == StreamReader::Gone || state.finished {
            return Err(Fault::new(&reason::SERVER_CANCELLED).note("stream", "the reader is gone"));
        }
        if state.reader == StreamReader::Expected && state.is_full() {
            return Ok(false);
        }
        state.append(bytes.clone());
        state.trim();
        drop(state);
        self.readable.notify_one();
        Ok(true)
    }

    /// Waits for the next frame after this number.
    pub async fn next(&self, after: u64) -> StreamRead {
        loop {
            let readable = self.readable.notified();
            match self.peek(after) {
                Some(next) => return next,
                None => readable.await,
            }
        }
    }

    /// Waits until a read would not block, without reading.
    pub async fn wait_readable(&self) {
        loop {
            let readable = self.readable.notified();
            if self.has_something() {
                return;
            }
            readable.await;
        }
    }

    /// Whether a read would not block.
    pub fn has_something(&self) -> bool {
        let state = self.state.lock();
        !state.frames.is_empty() || state.pause.is_some() || state.finished
    }

    /// The number of the last frame that was read.
    pub fn position(&self) -> u64 {
        self.state.lock().read
    }

    /// The number of the last frame that was added.
    pub fn written(&self) -> u64 {
        self.state.lock().written
    }

    /// Asks the reader to disconnect and reconnect. Only a stream that retains frames can pause.
    pub fn pause(&self, retry: Duration) {
        if self.keep == FrameRetention::Recent {
            self.state.lock().pause = Some(retry);
            self.wake();
        }
    }

    fn peek(&self, after: u64) -> Option<StreamRead> {
        let mut state = self.state.lock();
        let found = state.frames.iter().find(|frame| frame.number > after).cloned();
        let peek = match found {
            Some(frame) => {
                state.mark_read(&frame);
                state.reader = StreamReader::Expected;
                if self.keep == FrameRetention::Nothing {
                    state.frames.retain(|kept| kept.number > frame.number);
                    state.held = state.unread;
                }
                Some(StreamRead::Frame(frame))
            }
            None => match state.pause.take() {
                Some(retry) => Some(StreamRead::Pause(retry)),
                None if state.finished || state.reader == StreamReader::Gone => Some(StreamRead::End),
                None => None,
            },
        };
        drop(state);
        self.writable.notify_waiters();
        peek
    }

    /// Ends the stream after its last frame.
    pub fn finish(&self) {
        let mut state = self.state.lock();
        state.finished = true;
        state.copy = None;
        drop(state);
        self.wake();
    }

    /// The reader is disconnected but may reconnect. Frames are retained; the oldest are evicted first.
    pub fn detach(&self) {
        let mut state = self.state.lock();
        state.reader =
            if self.keep == FrameRetention::Recent { StreamReader::Away } else { StreamReader::Gone };
        drop(state);
        self.wake();
    }

    /// The reader will not reconnect.
    pub fn abandon(&self) {
        self.state.lock().reader = StreamReader::Gone;
        self.wake();
    }

    fn wake(&self) {
        self.readable.notify_one();
        self.writable.notify_waiters();
    }
}

impl StreamState {
    /// Whether the unread frames have reached the limit.
    fn is_full(&self) -> bool {
        self.is_as_full_as(1)
    }

    /// Whether the unread frames have reached this multiple of the limit.
    fn is_as_full_as(&self, times: u8) -> bool {
        let waiting = self.written - self.read;
        waiting >= LONGEST * u64::from(times) || (waiting > 0 && self.unread >= LARGEST * usize::from(times))
    }

    fn append(&mut self, bytes: Bytes) {
        self.written += 1;
        self.unread += bytes.len();
        self.held += bytes.len();
        let frame = Frame { number: self.written, bytes };
        if let Some(copy) = &self.copy {
            let _ = copy.try_send(frame.clone());
        }
        self.frames.push_back(frame);
    }

    fn trim(&mut self) {
        while self.frames.len() as u64 > LONGEST || (self.held > LARGEST && self.frames.len() > 1) {
            // Unread frames of an expected reader are never evicted.
            let unread = |frame: &Frame| self.reader == StreamReader::Expected && frame.number > self.read;
            if self.frames.front().is_none_or(unread) {
                return;
            }
            let Some(lost) = self.frames.pop_front() else { return };
            self.held -= lost.bytes.len();
            self.mark_read(&lost);
        }
    }

    fn mark_read(&mut self, frame: &Frame) {
        if frame.number > self.read {
            self.read = frame.number;
            self.unread = self.unread.saturating_sub(frame.bytes.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, FrameRetention, Stream, StreamRead};

    async fn frame(stream: &Stream, after: u64) -> Frame {
        match stream.next(after).await {
            StreamRead::Frame(frame) => frame,
            other => panic!("no frame but {other:?}"),
        }
    }

    #[tokio::test]
    async fn frames_come_in_order_and_end() {
        let stream = Stream::new(FrameRetention::Nothing);
        stream.push("a").await.expect("pushed");
        stream.push("b").await.expect("pushed");
        stream.finish();
        let first = frame(&stream, 0).await;
        assert_eq!((first.number, &first.bytes[..]), (1, &b"a"[..]));
        assert_eq!(frame(&stream, 1).await.bytes, "b");
        assert_eq!(stream.next(2).await, StreamRead::End);
    }

    #[tokio::test]
    async fn a_reader_that_comes_back_gets_what_it_missed() {
        let stream = Stream::new(FrameRetention::Recent);
        stream.push("a").await.expect("pushed");
        frame(&stream, 0).await;
        stream.detach();
        stream.push("b").await.expect("kept");
        assert_eq!(frame(&stream, 1).await.bytes, "b");
        assert_eq!(frame(&stream, 0).await.bytes, "a");
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_are_bounded_too_but_one_frame_always_fits() {
        let stream = Stream::new(FrameRetention::Recent);
        let big = vec![b'x'; super::LARGEST];
        stream.push(big.clone()).await.expect("one fits");
        assert!(stream.push(big.clone()).await.is_err(), "a second one waits for a reader that never comes");
        let stream = Stream::new(FrameRetention::Recent);
        stream.detach();
        for _ in 0..3 {
            stream.push(big.clone()).await.expect("kept for later");
        }
        assert_eq!(stream.state.lock().frames.len(), 1, "only the last is kept");
    }

    #[tokio::test]
    async fn a_notice_never_costs_what_waits_already() {
        let stream = Stream::new(FrameRetention::Nothing);
        for n in 0..super::LONGEST {
            stream.push(n.to_string()).await.expect("room");
        }
        for _ in 0..1_000 {
            stream.push_now("notice");
        }
        for n in 0..super::LONGEST {
            assert_eq!(frame(&stream, n).await.bytes, n.to_string());
        }
        assert_eq!(frame(&stream, super::LONGEST).await.bytes, "notice");
        assert_eq!(stream.state.lock().frames.len() as u64, super::LONGEST - 1, "and they are bounded");
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_never_reads_is_given_up() {
        let stream = Stream::new(FrameRetention::Nothing);
        for _ in 0..256 {
            stream.push("x").await.expect("room");
        }
        assert!(stream.push("one too many").await.is_err());
        assert!(stream.push("gone for good").await.is_err());
    }
}

#[cfg(test)]
mod model;
