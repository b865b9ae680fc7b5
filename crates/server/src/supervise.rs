//! Every handler runs under a deadline, can be called off, and may panic without harm.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

use failwell_fault::{Fault, reason};
use failwell_render::{Moment, Outcome, render};
use failwell_rpc::{Asked, Face, Id, Incoming, Limits, Message, ReplyTo, Revision, read};

use crate::close::ended_as;
use crate::content::ToolOutcome;
use crate::context::Context;
use crate::house::House;
use crate::panic::fault_of_panic;
use crate::task::{End, Task};
use crate::tool::Work;
use crate::work::{too_late, tool_result};

/// What came of watching over some work.
pub(crate) enum Supervised<T> {
    /// It is done.
    Finished(T),
    /// It became a task, and goes on.
    Detached(Work<T>, Arc<Task>),
}

impl<T> Supervised<T> {
    /// For work that cannot become a task.
    pub(crate) fn finished(self) -> Result<T, Fault> {
        match self {
            Supervised::Finished(value) => Ok(value),
            Supervised::Detached(..) => {
                Err(Fault::new(&reason::SERVER_BUG).note("task", "only tool calls can become tasks"))
            }
        }
    }
}

impl House {
    /// Runs work until it is done, late, called off, or a task.
    pub(crate) async fn supervise<T: Send + 'static>(
        &self,
        work: Work<T>,
        cx: &Context,
    ) -> Result<Supervised<T>, Fault> {
        let limit = self.settings.most_in_flight;
        let busy = || Fault::new(&reason::SERVER_BUSY).fact("limit", limit);
        let _slot = self.slots.take().ok_or_else(busy)?;
        let mut work = Caught(work);
        let mut watch = pin!(self.watch(cx));
        let mut begun = false;
        let happened = poll_fn(|turn| {
            // Most work is done at once, and then needs no watching.
            let seen = if begun { watch.as_mut().poll(turn) } else { Poll::Pending };
            // Work which became a task and then ended at once still ends as one.
            if let Poll::Ready(Ok(task)) = seen {
                return Poll::Ready(Happened::Detached(task));
            }
            if let Poll::Ready(done) = Pin::new(&mut work).poll(turn) {
                return Poll::Ready(Happened::Done(done));
            }
            let seen = if begun { seen } else { watch.as_mut().poll(turn) };
            begun = true;
            seen.map(|seen| seen.map_or_else(Happened::Ended, Happened::Detached))
        });
        match happened.await {
            Happened::Done(done) => done.map(Supervised::Finished),
            Happened::Detached(task) => Ok(Supervised::Detached(Box::pin(work), task)),
            Happened::Ended(fault) => Err(fault),
        }
    }

    /// Until the work becomes a task, is called off, or is late.
    async fn watch(&self, cx: &Context) -> Result<Arc<Task>, Fault> {
        let deadline = self.settings.request_deadline;
        tokio::select! {
            biased;
            task = cx.detached() => task.ok_or_else(|| {
                Fault::new(&reason::SERVER_BUG).note("task", "detached without a task")
            }),
            () = cx.cancelled() => Err(Fault::new(&reason::SERVER_CANCELLED)),
            () = tokio::time::sleep(deadline) => Err(too_late(deadline.as_secs())),
        }
    }

    /// Sees a task to its end, whatever becomes of the request that started it.
    pub(crate) fn follow(self: &Arc<Self>, work: Work<ToolOutcome>, task: Arc<Task>, revision: Revision) {
        let house = self.clone();
        tokio::spawn(async move {
            let deadline = house.settings.task_deadline;
            let end = tokio::select! {
                done = work => house.end_of(done.and_then(|outcome| tool_result(outcome, revision)), revision),
                () = task.cancel.cancelled() => End::Cancelled,
                () = tokio::time::sleep(deadline) => house.end_of(Err(late(deadline)), revision),
            };
            task.finish(end);
        });
    }

    /// What a task came to, written exactly as the answer to the call would have been.
    fn end_of(&self, happened: Result<Outcome, Fault>, revision: Revision) -> End {
        let mut to = ReplyTo::request(Id::from_number(0), Face::Mcp(revision));
        to.asked = Asked::Tool;
        let reply = render(&to, &happened, None, Moment::now());
        let ended = ended_as(happened, to.asked);
        self.record(ended, to, "tools/call", "task");
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

fn late(deadline: Duration) -> Fault {
    too_late(deadline.as_secs())
}

enum Happened<T> {
    Done(Result<T, Fault>),
    Detached(Arc<Task>),
    Ended(Fault),
}

/// Work whose panic becomes a fault like any other.
struct Caught<T>(Work<T>);

impl<T> Future for Caught<T> {
    type Output = Result<T, Fault>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Result<T, Fault>> {
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))) {
            Ok(polled) => polled,
            Err(payload) => Poll::Ready(Err(fault_of_panic(payload.as_ref()))),
        }
    }
}
