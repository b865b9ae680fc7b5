//! Every handler runs under a deadline, can be called off, and may panic without harm.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, reason};
use failwell_render::{Moment, Outcome, render};
use failwell_rpc::{Asked, Face, Id, Incoming, Limits, Message, ReplyTo, Revision, read};
use futures_util::FutureExt;

use crate::content::ToolOutcome;
use crate::context::Context;
use crate::house::House;
use crate::panic::fault_of;
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
        let busy = |_| Fault::new(&reason::SERVER_BUSY).fact("limit", limit);
        let _slot = self.slots.try_acquire().map_err(busy)?;
        let mut work = without_panics(work);
        // Most work is done at once; then no timer is needed.
        if let Some(done) = (&mut work).now_or_never() {
            return done.map(Supervised::Finished);
        }
        let deadline = self.settings.request_deadline;
        tokio::select! {
            biased;
            // First, so that work which became a task and then ended at once still ends as one.
            task = cx.detached() => match task {
                Some(task) => Ok(Supervised::Detached(work, task)),
                None => Err(Fault::new(&reason::SERVER_BUG).note("task", "detached without a task")),
            },
            done = &mut work => done.map(Supervised::Finished),
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
        if let Err(fault) = happened {
            self.record(fault, to, "tools/call", "task");
        }
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

/// A panic becomes a fault like any other.
fn without_panics<T: Send + 'static>(work: Work<T>) -> Work<T> {
    Box::pin(async move {
        match AssertUnwindSafe(work).catch_unwind().await {
            Ok(done) => done,
            Err(payload) => Err(fault_of(payload.as_ref())),
        }
    })
}
