//! Supervision of handlers: every handler has a deadline, can be cancelled, and may panic safely.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll};

use failwell_fault::{Fault, reason};
use failwell_render::{Moment, Outcome, render};
use failwell_rpc::{Dialect, ExpectedResult, Id, Incoming, Limits, Message, ReplyTo, Revision, read};
use tokio::sync::Notify;

use crate::pipeline::Pipeline;
use crate::request::panic::fault_of_panic;
use crate::request::request_port::PipelinePort;
use crate::session::task::{End, Task};
use crate::shutdown::{LAST_WORDS, stopped};
use crate::stages::invoke::too_late;
use crate::stages::record::ended_as;
use failwell_toolbox::Context;
use failwell_toolbox::ToolOutcome;
use failwell_toolbox::Work;

/// The result of supervised work.
pub(crate) enum SupervisedWork<T> {
    Finished(T),
    /// The work became a task and continues.
    Detached(Work<T>, Arc<Task>),
}

impl<T> SupervisedWork<T> {
    /// Unwraps work that cannot become a task.
    pub(crate) fn finished(self) -> Result<T, Fault> {
        match self {
            SupervisedWork::Finished(value) => Ok(value),
            SupervisedWork::Detached(..) => {
                Err(Fault::new(&reason::SERVER_BUG).note("task", "only tool calls can become tasks"))
            }
        }
    }
}

/// The task that running work becomes, if its handler asks for one.
#[derive(Debug, Default)]
pub(crate) struct TaskHandoff {
    task: OnceLock<Arc<Task>>,
    is_set: Notify,
}

impl TaskHandoff {
    /// Makes the work a task. The first one stays.
    pub(crate) fn set(&self, task: Arc<Task>) {
        if self.task.set(task).is_ok() {
            self.is_set.notify_one();
        }
    }

    pub(crate) fn task(&self) -> Option<&Arc<Task>> {
        self.task.get()
    }

    async fn wait(&self) -> Option<Arc<Task>> {
        self.is_set.notified().await;
        self.task.get().cloned()
    }
}

impl Pipeline {
    /// Runs work until it ends, times out, is cancelled or becomes a task.
    pub(crate) async fn supervise<T: Send + 'static>(
        &self,
        work: Work<T>,
        cx: &Context,
    ) -> Result<SupervisedWork<T>, Fault> {
        let limit = self.settings.most_in_flight;
        let busy = || Fault::new(&reason::SERVER_BUSY).fact("limit", limit);
        let _slot = self.slots.take().ok_or_else(busy)?;
        let mut work = CatchPanic(work);
        let mut watch = pin!(self.watch(cx));
        let mut begun = false;
        let happened = poll_fn(|turn| {
            // Most work ends at its first poll, and then needs no watch.
            let seen = if begun { watch.as_mut().poll(turn) } else { Poll::Pending };
            // Work that became a task and ended in the same poll still ends as a task.
            if let Poll::Ready(Ok(task)) = seen {
                return Poll::Ready(WorkEvent::Detached(task));
            }
            if let Poll::Ready(done) = Pin::new(&mut work).poll(turn) {
                return Poll::Ready(WorkEvent::Done(done));
            }
            let seen = if begun { seen } else { watch.as_mut().poll(turn) };
            begun = true;
            seen.map(|seen| seen.map_or_else(WorkEvent::Ended, WorkEvent::Detached))
        });
        match happened.await {
            WorkEvent::Done(done) => done.map(SupervisedWork::Finished),
            WorkEvent::Detached(task) => Ok(SupervisedWork::Detached(Box::pin(work), task)),
            WorkEvent::Ended(fault) => Err(fault),
        }
    }

    /// Waits until the work becomes a task, is cancelled or times out.
    async fn watch(&self, cx: &Context) -> Result<Arc<Task>, Fault> {
        let deadline = self.settings.request_deadline;
        tokio::select! {
            biased;
            task = became_task(cx) => task.ok_or_else(|| {
                Fault::new(&reason::SERVER_BUG).note("task", "detached without a task")
            }),
            () = cx.cancelled() => Err(self.stop_work().await),
            () = tokio::time::sleep(deadline) => Err(too_late(deadline.as_secs())),
        }
    }

    /// The fault of cancelled work. At the end of a shutdown the work has a moment to say what it did.
    async fn stop_work(&self) -> Fault {
        if !self.shutdown.ending().is_cancelled() {
            return Fault::new(&reason::SERVER_CANCELLED);
        }
        tokio::time::sleep(LAST_WORDS).await;
        stopped()
    }

    /// Runs a task to its end, independently of the request that started it.
    pub(crate) fn follow(self: &Arc<Self>, work: Work<ToolOutcome>, task: Arc<Task>, revision: Revision) {
        let (pipeline, running) = (self.clone(), self.shutdown.enter_task());
        tokio::spawn(async move {
            let deadline = pipeline.settings.task_deadline;
            let happened = tokio::select! {
                biased;
                done = work => Some(done.and_then(|outcome| outcome.into_outcome(revision))),
                () = task.cancel.cancelled() => None,
                fault = pipeline.shutdown.end_of_task() => Some(Err(fault)),
                () = tokio::time::sleep(deadline) => Some(Err(too_late(deadline.as_secs()))),
            };
            task.finish(
                happened.map_or(End::Cancelled, |happened| pipeline.end_of(happened, &task, revision)),
            );
            drop(running);
        });
    }

    /// The end of a task, rendered exactly like the response to the call.
    fn end_of(&self, happened: Result<Outcome, Fault>, task: &Task, revision: Revision) -> End {
        let mut to = ReplyTo::request(Id::from_number(0), Dialect::Mcp(revision));
        to.asked = ExpectedResult::Tool;
        let reply = render(&to, &happened, None, Moment::now());
        let ended = ended_as(happened, to.asked);
        self.ports.record_task(ended, to, task);
        let Some(reply) = reply else { return End::Cancelled };
        match read(&reply.body, &Limits::default()) {
            Incoming::One(Ok(Message::Response(response))) => match response.body {
                Ok(result) => End::Completed(result.to_json()),
                Err(error) => End::Failed(error.to_json()),
            },
            _ => End::Cancelled,
        }
    }
}

async fn became_task(cx: &Context) -> Option<Arc<Task>> {
    match PipelinePort::of(cx) {
        Some(port) => port.handoff().wait().await,
        None => std::future::pending().await,
    }
}

enum WorkEvent<T> {
    Done(Result<T, Fault>),
    Detached(Arc<Task>),
    Ended(Fault),
}

/// Work whose panic becomes a fault.
struct CatchPanic<T>(Work<T>);

impl<T> Future for CatchPanic<T> {
    type Output = Result<T, Fault>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Result<T, Fault>> {
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))) {
            Ok(polled) => polled,
            Err(payload) => Poll::Ready(Err(fault_of_panic(payload.as_ref()))),
        }
    }
}
