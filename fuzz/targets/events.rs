//! Both parsers of server-sent events. The client's parser returns the same events wherever chunks end. The parser of
//! `failwell probe`, which shares no code with it, finds the same data.
#![no_main]

#[path = "../../crates/connect/src/events.rs"]
#[allow(dead_code, reason = "only the parser is used here")]
mod events;
#[path = "../../crates/probe/src/connection/wire/sse.rs"]
mod examiner;

/// Replaces the error type of the transport.
mod remote {
    #[derive(Debug)]
    pub(crate) enum SendError {
        TooLarge(#[allow(dead_code, reason = "printed when a target fails")] usize),
    }
}

/// Replaces a connection: all chunks are available at once.
mod wire {
    use bytes::Bytes;

    use super::remote::SendError;

    pub(crate) struct Wire(pub(crate) std::vec::IntoIter<Bytes>);

    impl Wire {
        pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, SendError> {
            Ok(self.0.next())
        }
    }
}

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use events::EventStream;
use libfuzzer_sys::fuzz_target;
use wire::Wire;

fuzz_target!(|bytes: &[u8]| {
    let whole = read(vec![Bytes::copy_from_slice(bytes)]);
    let single = bytes.chunks(1).map(Bytes::copy_from_slice).collect();
    assert_eq!(read(single), whole);
    // The parser of `failwell probe` ignores event names and reports empty events.
    if !bytes.windows(5).any(|window| window == b"event") {
        let mut other = examiner::events(bytes);
        other.retain(|data| !data.is_empty());
        assert_eq!(other, whole.messages);
    }
});

#[derive(Debug, PartialEq)]
struct Stream {
    messages: Vec<Vec<u8>>,
    last_id: Option<String>,
}

fn read(pieces: Vec<Bytes>) -> Stream {
    let mut events = EventStream::new(Box::new(Wire(pieces.into_iter())), usize::MAX);
    let mut messages = Vec::new();
    loop {
        let next = pin!(events.next());
        let Poll::Ready(next) = std::future::Future::poll(next, &mut Context::from_waker(Waker::noop()))
        else {
            panic!("it waits although everything is there");
        };
        match next.expect("no cap") {
            Some(data) => messages.push(data.to_vec()),
            None => break,
        }
    }
    let last_id = events.last_id().map(str::to_owned);
    assert!(last_id.as_ref().is_none_or(|id| !id.is_empty() && !id.contains(['\0', '\n', '\r'])));
    let _ = events.retry();
    Stream { messages, last_id }
}
