use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;

use super::bell::Bell;
use super::remote::Unheard;

/// How often the two sides of an exchange may take turns before others get theirs.
const MOST_TURNS: usize = 32;

/// A connection somebody holds. It has no task of its own: whoever waits for something on it moves it along, on their
/// own thread. Dropped, it is closed.
pub(super) struct Held {
    sender: SendRequest<Full<Bytes>>,
    connection: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    bell: Arc<Bell>,
    ring: Waker,
}

/// What became of a request.
pub(super) enum Sent {
    Answered(Response<Incoming>),
    /// Not a byte of it was written.
    Unsent(Box<Request<Full<Bytes>>>, hyper::Error),
    Lost(Unheard),
}

impl Held {
    pub(super) fn new(
        sender: SendRequest<Full<Bytes>>,
        connection: impl Future<Output = ()> + Send + 'static,
    ) -> Held {
        let bell = Arc::new(Bell::default());
        let ring = Waker::from(bell.clone());
        Held { sender, connection: Some(Box::pin(connection)), bell, ring }
    }

    /// Sends a request, and waits for the head of its answer.
    pub(super) async fn send(&mut self, request: Request<Full<Bytes>>) -> Sent {
        let answer = self.sender.try_send_request(request);
        match self.along(answer).await {
            Ok(response) => Sent::Answered(response),
            Err(mut failed) => match failed.take_message() {
                Some(unsent) => Sent::Unsent(Box::new(unsent), failed.into_error()),
                None => Sent::Lost(Unheard::lost(failed.into_error())),
            },
        }
    }

    /// Waits for something that comes over this connection, and moves the connection along meanwhile.
    pub(super) async fn along<F: Future>(&mut self, wanted: F) -> F::Output {
        let mut wanted = pin!(wanted);
        poll_fn(|cx| self.poll_along(cx, wanted.as_mut())).await
    }

    fn poll_along<F: Future>(&mut self, cx: &mut Context<'_>, mut wanted: Pin<&mut F>) -> Poll<F::Output> {
        self.bell.begin(cx.waker());
        for _ in 0..MOST_TURNS {
            self.turn();
            if let Poll::Ready(found) = wanted.as_mut().poll(&mut Context::from_waker(&self.ring)) {
                self.bell.end();
                return Poll::Ready(found);
            }
            if !self.bell.rang() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Moves the connection along as far as it gets now.
    fn turn(&mut self) {
        if let Some(connection) = &mut self.connection
            && connection.as_mut().poll(&mut Context::from_waker(&self.ring)).is_ready()
        {
            self.connection = None;
        }
    }

    /// Whether it can take another request now.
    pub(super) fn is_ready(&mut self) -> bool {
        self.turn();
        self.connection.is_some() && self.sender.is_ready()
    }
}
