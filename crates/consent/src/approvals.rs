//! Approvals of one gateway, or, for whoever sits at the terminal, of all that share a folder.

use std::sync::Arc;

use failwell_fault::{Fault, OrFault, reason};
use failwell_server::{Approval, Approvals, Decided, Decision, Petition, Standing, Work};
use rusqlite::Transaction;

use crate::rows;
use crate::store::{Store, now};

/// Approvals in a file. Gateways of different configurations that share a folder have each their own.
#[derive(Debug, Clone)]
pub struct Kept {
    store: Arc<Store>,
    scope: Option<Arc<str>>,
}

impl Kept {
    /// Those of one gateway.
    pub fn of(store: &Arc<Store>, scope: &str) -> Kept {
        Kept { store: store.clone(), scope: Some(scope.into()) }
    }

    /// Those of all gateways, for people at the terminal.
    pub fn of_all(store: &Arc<Store>) -> Kept {
        Kept { store: store.clone(), scope: None }
    }

    /// All that is remembered, the latest first, without arguments.
    pub fn read_all(&self) -> Result<Vec<Approval>, Fault> {
        let all = self.store.change(|transaction| rows::all(transaction, self.scope(), now()))?;
        Ok(all.into_iter().map(|approval| self.seen(approval)).collect())
    }

    /// One of them.
    pub fn read(&self, id: &str) -> Result<Option<Approval>, Fault> {
        let found = self.store.change(|transaction| rows::find(transaction, self.scope(), id, now()))?;
        Ok(found.map(|approval| self.seen(approval)))
    }

    /// Answers a question that waits.
    pub fn answer(
        &self,
        id: &str,
        decision: Decision,
        by: &str,
        reason: Option<&str>,
    ) -> Result<Decided, Fault> {
        let now = now();
        self.store.change(|transaction| match rows::find(transaction, self.scope(), id, now)? {
            None => Ok(Decided::Unknown),
            Some(approval) if approval.state != "pending" => Ok(Decided::Settled(approval.state)),
            Some(before) => {
                rows::answer(transaction, id, decision, by, reason, now)?;
                let after = rows::find(transaction, self.scope(), id, now)?;
                Ok(Decided::Done(Box::new(self.seen(after.unwrap_or(before)))))
            }
        })
    }

    /// Of one gateway alone it goes without saying which, and its path is nobody's business.
    fn seen(&self, approval: Approval) -> Approval {
        match self.scope {
            Some(_) => Approval { scope: String::new(), ..approval },
            None => approval,
        }
    }

    fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }

    /// Beside the requests: another process may hold the file for a while.
    fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Kept) -> Result<T, Fault> + Send + 'static,
    ) -> Work<T> {
        let kept = self.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || work(&kept)).await;
            done.or_fault(&reason::POLICY_UNDECIDED)?
        })
    }

    fn change<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>, &str) -> rusqlite::Result<T>,
    ) -> Result<T, Fault> {
        let scope = self.scope().unwrap_or_default();
        self.store.change(|transaction| work(transaction, scope))
    }
}

impl Approvals for Kept {
    fn seek(&self, petition: Arc<Petition>) -> Work<Standing> {
        self.aside(move |kept| {
            kept.change(|transaction, scope| rows::seek(transaction, scope, &petition, now()))
        })
    }

    fn give_back(&self, id: &str) -> Work<()> {
        let id = id.to_owned();
        self.aside(move |kept| kept.change(|transaction, scope| rows::give_back(transaction, scope, &id)))
    }

    fn all(&self) -> Work<Vec<Approval>> {
        self.aside(Kept::read_all)
    }

    fn find(&self, id: &str) -> Work<Option<Approval>> {
        let id = id.to_owned();
        self.aside(move |kept| kept.read(&id))
    }

    fn decide(&self, id: &str, decision: Decision, by: &str, reason: Option<&str>) -> Work<Decided> {
        let (id, by, reason) = (id.to_owned(), by.to_owned(), reason.map(str::to_owned));
        self.aside(move |kept| kept.answer(&id, decision, &by, reason.as_deref()))
    }
}
