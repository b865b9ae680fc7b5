//! Per-client queues for clients that read slowly, so that they delay no other client.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use failwell_toolbox::Context;
use futures_util::FutureExt;

use crate::upstream::client::event::UpstreamEvent;
use crate::upstream::connection::request_mux::MOST_EVENTS;

#[derive(Default)]
pub(crate) struct SlowClients(Vec<SlowClient>);

struct SlowClient {
    cx: Context,
    /// The delivery in progress.
    delivery: DeliveryFuture,
    /// Events to deliver next, in order.
    next: VecDeque<UpstreamEvent>,
}

type DeliveryFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

impl SlowClients {
    /// Delivers an event at once, or queues it behind the client's earlier events.
    pub(crate) fn pass(&mut self, notice: UpstreamEvent) {
        let is_full = self.0.iter().map(|client| 1 + client.next.len()).sum::<usize>() >= MOST_EVENTS;
        let reads =
            |client: &&mut SlowClient| notice.client().is_some_and(|cx| client.cx.shares_stream_with(cx));
        match self.0.iter_mut().find(reads) {
            // The queue is full: notifications are dropped and questions declined, but responses are kept.
            Some(_) if is_full && !matches!(notice, UpstreamEvent::Answer(..)) => notice.refuse(),
            Some(client) => client.next.push_back(notice),
            None => {
                let cx = notice.client().cloned();
                let Some(mut delivery) = delivery(notice) else { return };
                // Most clients accept an event at once.
                if let (None, Some(cx), false) = ((&mut delivery).now_or_never(), cx, is_full) {
                    self.0.push(SlowClient { cx, delivery, next: VecDeque::new() });
                }
            }
        }
    }

    /// Waits until one client has read everything; forever if none is slow.
    pub(crate) async fn finish_one(&mut self) {
        poll_fn(|turn| {
            let before = self.0.len();
            self.0.retain_mut(|client| {
                while client.delivery.poll_unpin(turn).is_ready() {
                    let Some(delivery) = client.after() else { return false };
                    client.delivery = delivery;
                }
                true
            });
            if self.0.len() < before { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl SlowClient {
    /// The next delivery that has to be awaited.
    fn after(&mut self) -> Option<DeliveryFuture> {
        while let Some(notice) = self.next.pop_front() {
            if let Some(delivery) = delivery(notice) {
                return Some(delivery);
            }
        }
        None
    }
}

/// Starts a delivery; `None` if it is already complete.
fn delivery(notice: UpstreamEvent) -> Option<DeliveryFuture> {
    match notice {
        UpstreamEvent::Client(notice) => Some(Box::pin(notice.deliver())),
        other => {
            other.dispatch();
            None
        }
    }
}
