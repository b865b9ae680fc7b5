//! Spans on their way: gathered, sent, tried again within a budget.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use failwell_audit::{Hurry, Redactor, Span, Spans, Tally};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::collector::{Collector, rest};
use crate::fate::Fate;
use crate::steps;

/// How long spans gather before they go.
const GATHER: Duration = Duration::from_millis(500);

pub(crate) struct SpanCourier {
    pub(crate) collector: Collector,
    pub(crate) spans: Spans,
    pub(crate) tally: Arc<Tally>,
    pub(crate) hurries: mpsc::Receiver<Hurry>,
    pub(crate) most: usize,
    pub(crate) budget: Duration,
    pub(crate) service: (&'static str, &'static str),
    pub(crate) node: String,
    pub(crate) redactor: Redactor,
}

impl SpanCourier {
    /// Carries until nobody makes spans any more.
    pub(crate) async fn run(mut self) {
        let mut batch: Vec<Span> = Vec::new();
        let mut due = Instant::now();
        loop {
            tokio::select! {
                span = self.spans.queue.recv() => match span {
                    Some(span) => {
                        if batch.is_empty() {
                            due = Instant::now() + GATHER;
                        }
                        batch.push(*span);
                        if batch.len() >= self.most {
                            self.carry(&mut batch).await;
                        }
                    }
                    None => return self.carry(&mut batch).await,
                },
                () = tokio::time::sleep_until(due), if !batch.is_empty() => self.carry(&mut batch).await,
                hurry = self.hurries.recv() => match hurry {
                    Some(hurry) => self.hurry(&mut batch, hurry).await,
                    None => return self.carry(&mut batch).await,
                },
            }
            self.tally.waits((self.spans.queue.len() + batch.len()) as u64);
        }
    }

    /// Everything that waits goes now.
    async fn hurry(&mut self, batch: &mut Vec<Span>, hurry: Hurry) {
        loop {
            while batch.len() < self.most {
                let Ok(span) = self.spans.queue.try_recv() else { break };
                batch.push(*span);
            }
            if batch.is_empty() {
                return hurry.done();
            }
            self.carry(batch).await;
        }
    }

    /// One batch, until it has arrived or its budget is spent.
    async fn carry(&mut self, batch: &mut Vec<Span>) {
        if batch.is_empty() {
            return;
        }
        let body = Bytes::from(steps::request(batch, self.service, &self.node, &self.redactor));
        let give_up = Instant::now() + self.budget;
        let (count, oldest) = (batch.len(), batch.first().map(|span| span.ended));
        batch.clear();
        let (mut failures, mut last) = (0, None::<Hurry>);
        loop {
            let (after, why) = match self.collector.offer(body.clone()).await {
                Fate::Taken { refused, why } => {
                    let lag = oldest.and_then(|oldest| SystemTime::now().duration_since(oldest).ok());
                    let kept = count.saturating_sub(usize::try_from(refused).unwrap_or(usize::MAX));
                    self.tally.arrived(kept, lag.unwrap_or_default());
                    if let Some(why) = why {
                        self.tally.dropped(refused, &why);
                    }
                    break;
                }
                Fate::Never(why) => {
                    self.tally.failed(&why);
                    self.tally.dropped(count as u64, &why);
                    break;
                }
                Fate::Later { after, why } => (after, why),
            };
            self.tally.failed(&why);
            failures += 1;
            let next = Instant::now() + rest(failures, after);
            if next > give_up || last.is_some() {
                self.tally.dropped(count as u64, &why);
                break;
            }
            tokio::select! {
                () = tokio::time::sleep_until(next) => {}
                // The end is near: once more, and that is it.
                hurry = self.hurries.recv() => last = hurry,
            }
        }
        if let Some(hurry) = last {
            // What came meanwhile goes the same way, once.
            self.budget = Duration::ZERO;
            Box::pin(self.hurry(batch, hurry)).await;
        }
    }
}
