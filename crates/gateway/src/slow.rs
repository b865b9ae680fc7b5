//! Clients that read more slowly than they are told things: what one of them is told waits for that one alone.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use failwell_server::Context;
use futures_util::FutureExt;

use crate::line::MOST_NOTICES;
use crate::notice::Notice;

/// The clients of one connection that are slow now.
#[derive(Default)]
pub(crate) struct SlowClients(Vec<SlowClient>);

struct SlowClient {
    cx: Context,
    /// What it is being told.
    telling: Telling,
    /// What it is told after that, answers in their place among the notices before them.
    next: VecDeque<Notice>,
}

type Telling = Pin<Box<dyn Future<Output = ()> + Send>>;

impl SlowClients {
    /// Passes a notice on: at once, or after what its client has yet to take.
    pub(crate) fn pass(&mut self, notice: Notice) {
        let is_full = self.0.iter().map(|client| 1 + client.next.len()).sum::<usize>() >= MOST_NOTICES;
        let reads = |client: &&mut SlowClient| notice.client().is_some_and(|cx| client.cx.reads_with(cx));
        match self.0.iter_mut().find(reads) {
            // Too much waits already: notices are lost, never an answer, and a question is declined.
            Some(_) if is_full && !matches!(notice, Notice::Answer(..)) => notice.refuse(),
            Some(client) => client.next.push_back(notice),
            None => {
                let cx = notice.client().cloned();
                let Some(mut telling) = telling(notice) else { return };
                // Most clients have room, and then nobody waits.
                if let (None, Some(cx), false) = ((&mut telling).now_or_never(), cx, is_full) {
                    self.0.push(SlowClient { cx, telling, next: VecDeque::new() });
                }
            }
        }
    }

    /// Waits until one of them has taken everything; for ever when none is slow.
    pub(crate) async fn one_is_done(&mut self) {
        poll_fn(|turn| {
            let before = self.0.len();
            self.0.retain_mut(|client| {
                while client.telling.poll_unpin(turn).is_ready() {
                    let Some(telling) = client.after() else { return false };
                    client.telling = telling;
                }
                true
            });
            if self.0.len() < before { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Whether nobody is slow.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl SlowClient {
    /// The next thing that may take a while.
    fn after(&mut self) -> Option<Telling> {
        while let Some(notice) = self.next.pop_front() {
            if let Some(telling) = telling(notice) {
                return Some(telling);
            }
        }
        None
    }
}

/// Tells a client; `None` when that was no more than handing something over.
fn telling(notice: Notice) -> Option<Telling> {
    match notice {
        Notice::Client(notice) => Some(Box::pin(notice.deliver())),
        other => {
            other.hand_over();
            None
        }
    }
}
