//! Exports spans in batches and retries them within a budget.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use failwell_audit::{ExportCounters, FlushRequest};
use failwell_journal::Redactor;
use failwell_pipeline::{Span, Spans};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::collector::{Collector, backoff};
use crate::export_result::ExportResult;
use crate::span_records;

/// Time to collect a batch.
const GATHER: Duration = Duration::from_millis(500);

pub(crate) struct SpanExporter {
    pub(crate) collector: Collector,
    pub(crate) spans: Spans,
    pub(crate) counters: Arc<ExportCounters>,
    pub(crate) flushes: mpsc::Receiver<FlushRequest>,
    pub(crate) most: usize,
    pub(crate) budget: Duration,
    pub(crate) service: (&'static str, &'static str),
    pub(crate) node: String,
    pub(crate) redactor: Redactor,
}

impl SpanExporter {
    /// Runs until the span queue is closed.
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
                flush = self.flushes.recv() => match flush {
                    Some(flush) => self.flush(&mut batch, flush).await,
                    None => return self.carry(&mut batch).await,
                },
            }
            self.counters.set_waiting((self.spans.queue.len() + batch.len()) as u64);
        }
    }

    /// Exports all queued spans.
    async fn flush(&mut self, batch: &mut Vec<Span>, flush: FlushRequest) {
        loop {
            while batch.len() < self.most {
                let Ok(span) = self.spans.queue.try_recv() else { break };
                batch.push(*span);
            }
            if batch.is_empty() {
                return flush.done();
            }
            self.carry(batch).await;
        }
    }

    /// Sends one batch until it arrives or its budget is spent.
    async fn carry(&mut self, batch: &mut Vec<Span>) {
        if batch.is_empty() {
            return;
        }
        let body = Bytes::from(span_records::request(batch, self.service, &self.node, &self.redactor));
        let give_up = Instant::now() + self.budget;
        let (count, oldest) = (batch.len(), batch.first().map(|span| span.ended));
        batch.clear();
        let (mut failures, mut last) = (0, None::<FlushRequest>);
        loop {
            let (after, why) = match self.collector.export(body.clone()).await {
                ExportResult::Accepted { refused, why } => {
                    let lag = oldest.and_then(|oldest| SystemTime::now().duration_since(oldest).ok());
                    let kept = count.saturating_sub(usize::try_from(refused).unwrap_or(usize::MAX));
                    self.counters.record_sent(kept, lag.unwrap_or_default());
                    if let Some(why) = why {
                        self.counters.record_dropped(refused, &why);
                    }
                    break;
                }
                ExportResult::Rejected(why) => {
                    self.counters.record_failure(&why);
                    self.counters.record_dropped(count as u64, &why);
                    break;
                }
                ExportResult::Retry { after, why } => (after, why),
            };
            self.counters.record_failure(&why);
            failures += 1;
            let next = Instant::now() + backoff(failures, after);
            if next > give_up || last.is_some() {
                self.counters.record_dropped(count as u64, &why);
                break;
            }
            tokio::select! {
                () = tokio::time::sleep_until(next) => {}
                // Shutdown: make one last attempt.
                flush = self.flushes.recv() => last = flush,
            }
        }
        if let Some(flush) = last {
            // Spans that arrived meanwhile get one attempt too.
            self.budget = Duration::ZERO;
            Box::pin(self.flush(batch, flush)).await;
        }
    }
}
