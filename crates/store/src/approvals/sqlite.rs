//! Approvals in SQLite: of one gateway, or of all gateways that share a folder.

use std::sync::Arc;

use failwell_fault::{Fault, OrFault, reason};
use rusqlite::Transaction;

use crate::StoreFuture as Work;
use crate::approvals::rows;
use crate::approvals::{Approval, ApprovalOutcome, ApprovalRequest, ApprovalStore, DecideResult, Decision};
use crate::clock::now_ms as now;
use crate::consent_file::ConsentFile;

/// Approvals in a file. Gateways of different configurations in one folder have separate scopes.
#[derive(Debug, Clone)]
pub struct SqliteApprovals {
    store: Arc<ConsentFile>,
    scope: Option<Arc<str>>,
}

impl SqliteApprovals {
    /// The approvals of one gateway.
    pub fn new(store: &Arc<ConsentFile>, scope: &str) -> SqliteApprovals {
        SqliteApprovals { store: store.clone(), scope: Some(scope.into()) }
    }

    /// The approvals of all gateways, for the operator at a terminal.
    pub fn all_gateways(store: &Arc<ConsentFile>) -> SqliteApprovals {
        SqliteApprovals { store: store.clone(), scope: None }
    }

    /// All stored approvals without arguments, newest first.
    pub fn read_all(&self) -> Result<Vec<Approval>, Fault> {
        let all = self.store.change(|transaction| rows::all(transaction, self.scope(), now()))?;
        Ok(all.into_iter().map(|approval| self.without_scope(approval)).collect())
    }

    pub fn read(&self, id: &str) -> Result<Option<Approval>, Fault> {
        let found = self.store.change(|transaction| rows::find(transaction, self.scope(), id, now()))?;
        Ok(found.map(|approval| self.without_scope(approval)))
    }

    /// Decides a pending request.
    pub fn answer(
        &self,
        id: &str,
        decision: Decision,
        by: &str,
        reason: Option<&str>,
    ) -> Result<DecideResult, Fault> {
        let now = now();
        self.store.change(|transaction| match rows::find(transaction, self.scope(), id, now)? {
            None => Ok(DecideResult::Unknown),
            Some(approval) if approval.state != "pending" => Ok(DecideResult::Settled(approval.state)),
            Some(before) => {
                rows::answer(transaction, id, decision, by, reason, now)?;
                let after = rows::find(transaction, self.scope(), id, now)?;
                Ok(DecideResult::Done(Box::new(self.without_scope(after.unwrap_or(before)))))
            }
        })
    }

    /// Removes the scope for a single gateway: it is redundant there, and it reveals the path of the
    /// configuration.
    fn without_scope(&self, approval: Approval) -> Approval {
        match self.scope {
            Some(_) => Approval { scope: String::new(), ..approval },
            None => approval,
        }
    }

    fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }

    /// Runs on a blocking thread, because another process may lock the file.
    fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SqliteApprovals) -> Result<T, Fault> + Send + 'static,
    ) -> Work<T> {
        let approvals = self.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || work(&approvals)).await;
            done.or_fault(&reason::POLICY_UNDECIDED)?
        })
    }

    fn change<T>(&self, work: impl Fn(&Transaction<'_>, &str) -> rusqlite::Result<T>) -> Result<T, Fault> {
        let scope = self.scope().unwrap_or_default();
        self.store.change(|transaction| work(transaction, scope))
    }
}

impl ApprovalStore for SqliteApprovals {
    fn claim(&self, request: Arc<ApprovalRequest>) -> Work<ApprovalOutcome> {
        self.run_blocking(move |approvals| {
            approvals.change(|transaction, scope| rows::claim(transaction, scope, &request, now()))
        })
    }

    fn restore(&self, id: &str) -> Work<()> {
        let id = id.to_owned();
        self.run_blocking(move |approvals| {
            approvals.change(|transaction, scope| rows::restore(transaction, scope, &id))
        })
    }

    fn all(&self) -> Work<Vec<Approval>> {
        self.run_blocking(SqliteApprovals::read_all)
    }

    fn find(&self, id: &str) -> Work<Option<Approval>> {
        let id = id.to_owned();
        self.run_blocking(move |approvals| approvals.read(&id))
    }

    fn decide(&self, id: &str, decision: Decision, by: &str, reason: Option<&str>) -> Work<DecideResult> {
        let (id, by, reason) = (id.to_owned(), by.to_owned(), reason.map(str::to_owned));
        self.run_blocking(move |approvals| approvals.answer(&id, decision, &by, reason.as_deref()))
    }
}
