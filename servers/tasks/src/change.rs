//! One change of the account: sent once, and when its outcome is unknown looked up before anything is said or done.

use std::sync::Arc;

use failwell_fault::{Effect, Fault, reason};
use failwell_server::see_through;
use serde_json::Value;

use crate::account::{Account, Need};
use crate::client::{Doubt, Failed};
use crate::doubt::{Confirmed, Proof};
use crate::journal::Step;
use crate::model::{TaskKey, Told};
use crate::refusal::{Wanted, with_effect};
use crate::shape::{flag, items, some};
use crate::sign::Params;

/// A change to make.
#[derive(Clone)]
pub(crate) struct Change {
    pub(crate) method: &'static str,
    pub(crate) params: Params,
    /// What the caller called the task and the list.
    pub(crate) task: String,
    pub(crate) list: String,
    /// How to find out whether it was made; without one, nobody can.
    pub(crate) proof: Option<Proof>,
    /// What it carries to be known by, beside what the caller asked for.
    pub(crate) mark: String,
}

/// A change that was made.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// What the service answered; nothing when the answer was lost.
    pub(crate) answer: Value,
    /// What was found instead of an answer.
    pub(crate) confirmed: Option<Confirmed>,
    transaction: Option<String>,
}

impl Made {
    /// How to take it back: by its transaction, or otherwise as its method allows.
    pub(crate) fn step(&self, otherwise: impl FnOnce() -> Option<Step>) -> Step {
        match &self.transaction {
            Some(id) => Step::Transaction(id.clone()),
            None => otherwise().unwrap_or(match self.confirmed {
                Some(_) => Step::Never("the answer to it was lost"),
                None => Step::Never("the service does not undo this"),
            }),
        }
    }

    /// The task it is about, if it is about one.
    pub(crate) fn task(&self) -> Option<(String, TaskKey)> {
        let told = Told::read(&self.answer);
        told.tasks.into_iter().next().map(|task| (task.list, task.key))
    }
}

impl Change {
    /// A change of a task.
    pub(crate) fn new(method: &'static str, params: Params) -> Change {
        Change { method, params, task: String::new(), list: String::new(), proof: None, mark: String::new() }
    }

    #[must_use]
    pub(crate) fn proven_by(mut self, proof: Proof) -> Change {
        self.proof = Some(proof);
        self
    }

    /// The same change has the same print, whenever it is asked for.
    fn print(&self) -> String {
        let parts = self.params.iter().map(|(name, value)| format!("{name}={value}"));
        format!("{}\n{}", self.method, parts.collect::<Vec<_>>().join("\n"))
    }
}

impl Account {
    /// Makes a change, whatever becomes of the caller.
    pub(crate) async fn make(self: &Arc<Self>, change: Change) -> Result<Made, Fault> {
        let account = self.clone();
        see_through(async move { account.make_it(change).await }).await
    }

    async fn make_it(&self, mut change: Change) -> Result<Made, Fault> {
        let print = change.print();
        let doubted = self.doubts.of(&print);
        let is_doubted = doubted.is_some();
        if let Some((proof, mark)) = doubted {
            match self.look(proof.as_ref()).await {
                Ok(Some(confirmed)) => {
                    self.doubts.settle(&print);
                    return Ok(Made { confirmed: Some(confirmed), ..Made::default() });
                }
                // It was not made, as far as anybody can see: made now, it carries the mark of the first try.
                Ok(None) => {
                    change.mark = mark;
                    change.proof = proof.or(change.proof);
                }
                Err(fault) => return Err(with_effect(fault, Effect::Unknown)),
            }
        }
        match self.send(&change).await {
            Ok(answer) => {
                self.doubts.settle(&print);
                self.change_book(|book| book.apply(Told::read(&answer)));
                let transaction = items(&answer, "transaction").into_iter().find(|it| flag(it, "undoable"));
                let transaction = transaction.and_then(|it| some(it, "id"));
                Ok(Made { answer, confirmed: None, transaction })
            }
            // An undo that may have been made, and that nobody can make again, was made.
            Err(Failed { fault, doubt: Doubt::None })
                if is_doubted && fault.reason() == &reason::TASKS_NO_SUCH_TRANSACTION =>
            {
                self.doubts.settle(&print);
                Ok(Made { confirmed: Some(Confirmed::default()), ..Made::default() })
            }
            Err(Failed { fault, doubt: Doubt::None }) => Err(with_effect(fault, Effect::None)),
            Err(Failed { fault, doubt }) => self.clear_up(change, print, fault, doubt).await,
        }
    }

    /// Nobody can say whether it was made: the service is asked.
    async fn clear_up(
        &self,
        change: Change,
        print: String,
        fault: Fault,
        doubt: Doubt,
    ) -> Result<Made, Fault> {
        self.doubts.add(print.clone(), change.proof.clone(), change.mark);
        let looked = match change.proof {
            Some(proof) => self.look(Some(&proof)).await,
            None => return Err(with_effect(fault, Effect::Unknown)),
        };
        match (looked, doubt) {
            (Ok(Some(confirmed)), _) => {
                self.doubts.settle(&print);
                Ok(Made { confirmed: Some(confirmed), ..Made::default() })
            }
            (Ok(None), Doubt::Made | Doubt::None) => Err(with_effect(fault, Effect::None)),
            (Ok(None), Doubt::UnderWay) | (Err(_), _) => Err(with_effect(fault, Effect::Unknown)),
        }
    }

    async fn look(&self, proof: Option<&Proof>) -> Result<Option<Confirmed>, Fault> {
        let Some(proof) = proof else { return Ok(None) };
        self.sync(if proof.lists { Need::NowWithLists } else { Need::Now }).await?;
        Ok(proof.look(&self.book()))
    }

    async fn send(&self, change: &Change) -> Result<Value, Failed> {
        let sure = |fault| Failed { fault, doubt: Doubt::None };
        let wanted = Wanted { task: &change.task, list: &change.list };
        let mut again = true;
        loop {
            let mut params = change.params.clone();
            if !change.mark.is_empty() {
                params.push(("external_id", change.mark.clone()));
            }
            params.push(("timeline", self.timeline().await.map_err(sure)?));
            match self.client.write(change.method, params, wanted).await {
                // The service forgot the timeline before it looked at the change.
                Err(failed) if failed.fault.reason() == &reason::TASKS_NO_SUCH_TIMELINE && again => {
                    again = false;
                    self.forget_timeline().await;
                }
                done => return done,
            }
        }
    }
}
