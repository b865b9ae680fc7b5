//! One change of the account. It is sent once. If its outcome is unknown, it is looked up before any further
//! step.

use std::sync::Arc;

use failwell_fault::{Effect, Fault};
use failwell_sdk::run_to_completion;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::account::call_log::CallLog;
use crate::account::journal::UndoStep;
use crate::account::unconfirmed::{ConfirmedChange, Proof, UnconfirmedChange};
use crate::account::{Account, Freshness};
use crate::model::{TaskKey, TaskUpdates};
use crate::reason;
use crate::service::client::{ChangeError, PossibleEffect};
use crate::service::error::{RequestedNames, with_effect};
use crate::service::json::{flag, items, some};
use crate::service::signature::Params;

/// A change to be made.
#[derive(Clone)]
pub(crate) struct Change {
    pub(crate) method: &'static str,
    pub(crate) params: Params,
    /// The caller's names of the task and the list.
    pub(crate) task: String,
    pub(crate) list: String,
    /// The check whether the change was made. Without one its outcome cannot be determined.
    pub(crate) proof: Option<Proof>,
    /// An identifying mark that is sent with the change.
    pub(crate) mark: String,
}

#[derive(Debug, Default)]
pub(crate) struct ChangeResult {
    /// The response of the service. Empty if it was lost.
    pub(crate) answer: Value,
    /// The evidence that the change was made, if the response was lost.
    pub(crate) confirmed: Option<ConfirmedChange>,
    transaction: Option<String>,
}

impl ChangeResult {
    /// The undo step: the transaction, otherwise the opposite change.
    pub(crate) fn step(&self, otherwise: impl FnOnce() -> Option<UndoStep>) -> UndoStep {
        match &self.transaction {
            Some(id) => UndoStep::Transaction(id.clone()),
            None => otherwise().unwrap_or(match self.confirmed {
                Some(_) => UndoStep::Never("the answer to it was lost"),
                None => UndoStep::Never("the service does not undo this"),
            }),
        }
    }

    /// The changed task, if any.
    pub(crate) fn task(&self) -> Option<(String, TaskKey)> {
        let updates = TaskUpdates::read(&self.answer);
        updates.tasks.into_iter().next().map(|task| (task.list, task.key))
    }
}

impl Change {
    pub(crate) fn new(method: &'static str, params: Params) -> Change {
        Change { method, params, task: String::new(), list: String::new(), proof: None, mark: String::new() }
    }

    #[must_use]
    pub(crate) fn proven_by(mut self, proof: Proof) -> Change {
        self.proof = Some(proof);
        self
    }

    /// A fingerprint, equal for equal changes.
    fn print(&self) -> String {
        let parts = self.params.iter().map(|(name, value)| format!("{name}={value}"));
        format!("{}\n{}", self.method, parts.collect::<Vec<_>>().join("\n"))
    }

    fn unconfirmed(&self, print: &str) -> UnconfirmedChange {
        UnconfirmedChange::new(print.to_owned(), self.proof.clone(), self.mark.clone())
    }
}

impl Account {
    /// Makes a change. It runs to its end even if the caller is gone.
    pub(crate) async fn make(self: &Arc<Self>, change: Change) -> Result<ChangeResult, Fault> {
        let (account, call) = (self.clone(), CallLog::current());
        run_to_completion(async move {
            let print = change.print();
            let turn = account.turn_of(&print);
            let made = {
                let _turn = turn.lock().await;
                account.apply_noted(change, &print, call.as_deref()).await
            };
            drop(turn);
            account.end_turn(&print);
            made
        })
        .await
    }

    /// The turn of all changes with this fingerprint.
    fn turn_of(&self, print: &str) -> Arc<Mutex<()>> {
        self.in_flight.lock().entry(print.to_owned()).or_default().clone()
    }

    fn end_turn(&self, print: &str) {
        let mut all = self.in_flight.lock();
        if all.get(print).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            all.remove(print);
        }
    }

    /// Makes a change, and notes it for a caller that may never hear of it.
    async fn apply_noted(
        &self,
        mut change: Change,
        print: &str,
        call: Option<&CallLog>,
    ) -> Result<ChangeResult, Fault> {
        let made = self.apply_change(&mut change, print, call).await;
        match (&made, call) {
            (Err(fault), Some(call)) if fault.effect() == Effect::None => call.withdraw(print),
            // The look-up of the outcome has forgotten it.
            (Ok(_), Some(call)) if call.is_abandoned() => call.note(change.unconfirmed(print)),
            _ => {}
        }
        made
    }

    /// Makes a change. If an earlier attempt is in doubt, `change` gets its mark and proof: a later attempt must find
    /// what that one made.
    async fn apply_change(
        &self,
        change: &mut Change,
        print: &str,
        call: Option<&CallLog>,
    ) -> Result<ChangeResult, Fault> {
        let caller = call.map(CallLog::caller);
        let doubted = self.unconfirmed.find(print, caller);
        let is_doubted = doubted.is_some();
        let mut found = None;
        if let Some(UnconfirmedChange { proof, mark, .. }) = doubted {
            found = match self.look(proof.as_ref()).await {
                Ok(found) => found,
                Err(fault) => return Err(with_effect(fault, Effect::Unknown)),
            };
            change.mark = mark;
            change.proof = proof.or(change.proof.take());
        }
        if found.is_some() {
            self.unconfirmed.remove(print, caller);
        }
        if let Some(call) = call {
            call.note(change.unconfirmed(print));
        }
        if let Some(confirmed) = found {
            return Ok(ChangeResult { confirmed: Some(confirmed), ..ChangeResult::default() });
        }
        match self.send(change).await {
            Ok(answer) => {
                self.unconfirmed.remove(print, caller);
                self.update_cache(|cache| cache.apply(TaskUpdates::read(&answer)));
                let transaction = items(&answer, "transaction").into_iter().find(|it| flag(it, "undoable"));
                let transaction = transaction.and_then(|it| some(it, "id"));
                Ok(ChangeResult { answer, confirmed: None, transaction })
            }
            // An unconfirmed undo whose transaction no longer exists was made.
            Err(ChangeError { fault, doubt: PossibleEffect::None })
                if is_doubted && fault.reason() == &reason::TASKS_NO_SUCH_TRANSACTION =>
            {
                self.unconfirmed.remove(print, caller);
                Ok(ChangeResult { confirmed: Some(ConfirmedChange::default()), ..ChangeResult::default() })
            }
            Err(ChangeError { fault, doubt: PossibleEffect::None }) => Err(with_effect(fault, Effect::None)),
            Err(ChangeError { fault, doubt }) => {
                self.resolve_doubt(change, (print, caller), fault, doubt).await
            }
        }
    }

    /// The outcome of the change is unknown: asks the service.
    async fn resolve_doubt(
        &self,
        change: &Change,
        (print, caller): (&str, Option<&str>),
        fault: Fault,
        doubt: PossibleEffect,
    ) -> Result<ChangeResult, Fault> {
        self.unconfirmed.add(change.unconfirmed(print));
        let looked = match &change.proof {
            Some(proof) => self.look(Some(proof)).await,
            None => return Err(with_effect(fault, Effect::Unknown)),
        };
        match (looked, doubt) {
            (Ok(Some(confirmed)), _) => {
                self.unconfirmed.remove(print, caller);
                Ok(ChangeResult { confirmed: Some(confirmed), ..ChangeResult::default() })
            }
            (Ok(None), PossibleEffect::ChangeResult | PossibleEffect::None) => {
                Err(with_effect(fault, Effect::None))
            }
            (Ok(None), PossibleEffect::UnderWay) | (Err(_), _) => Err(with_effect(fault, Effect::Unknown)),
        }
    }

    async fn look(&self, proof: Option<&Proof>) -> Result<Option<ConfirmedChange>, Fault> {
        let Some(proof) = proof else { return Ok(None) };
        self.sync(if proof.lists { Freshness::NowWithLists } else { Freshness::Now }).await?;
        Ok(proof.look(&self.cache()))
    }

    async fn send(&self, change: &Change) -> Result<Value, ChangeError> {
        let sure = |fault| ChangeError { fault, doubt: PossibleEffect::None };
        let wanted = RequestedNames { task: &change.task, list: &change.list };
        let mut again = true;
        loop {
            let mut params = change.params.clone();
            if !change.mark.is_empty() {
                params.push(("external_id", change.mark.clone()));
            }
            params.push(("timeline", self.timeline().await.map_err(sure)?));
            match self.client.write(change.method, params, wanted).await {
                // The service forgot the timeline before it processed the change.
                Err(failed) if failed.fault.reason() == &reason::TASKS_NO_SUCH_TIMELINE && again => {
                    again = false;
                    self.forget_timeline().await;
                }
                done => return done,
            }
        }
    }
}
