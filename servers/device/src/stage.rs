//! One caller at work on one device: it is their turn until this is dropped, and what they began is done.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use failwell_fault::{Fault, reason};

use crate::device::Device;
use crate::driver::NOTICED;
use crate::queue::Turn;
use crate::sessions::{Desk, Session};
use crate::w3c::{Locator, Touch, Tried, Trouble};

/// One caller at work on one device.
pub(crate) struct Stage {
    pub(crate) desk: Arc<Desk>,
    pub(crate) session: Arc<Session>,
    pub(crate) device: Arc<dyn Device>,
    turn: Arc<Turn>,
    aimed: Mutex<Option<Locator>>,
}

impl Stage {
    /// Waits for the turn.
    pub(crate) async fn enter(desk: Arc<Desk>, session: Arc<Session>) -> Result<Stage, Fault> {
        let turn = Arc::new(session.turn(desk.settings.queue_wait).await?);
        let device = session.device()?;
        Ok(Stage { desk, session, device, turn, aimed: Mutex::default() })
    }

    /// The fault of a trouble. A session that is gone is marked as such.
    pub(crate) async fn fault(&self, trouble: Trouble, what: &'static str, aim: Option<&Locator>) -> Fault {
        let trouble = match trouble {
            // A driver of ours that ended between two calls has died, and nobody need ask whether it runs.
            Trouble::NotSent(error) if self.session.check_driver(NOTICED).await => {
                Trouble::Lost { touch: Touch::Looks, error }
            }
            other => other,
        };
        if trouble.ends_session() {
            self.session.lose();
        } else if matches!(trouble, Trouble::Late { .. }) {
            self.session.check_driver(Duration::ZERO).await;
        }
        let aim = aim.map(|locator| (locator.strategy.as_str(), locator.value.as_str()));
        trouble.fault(Tried { what, driver: self.device.driver(), aim })
    }

    /// Does something to the device. It is seen through, and nobody else has their turn before it is, whatever becomes of
    /// the caller.
    pub(crate) async fn act<T, F>(&self, what: &'static str, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(Arc<dyn Device>) -> Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send>>
            + Send
            + 'static,
    {
        match self.attempt(work).await? {
            Ok(done) => Ok(done),
            Err(trouble) => Err(self.fault(trouble, what, None).await),
        }
    }

    /// The same, for a caller that has its own ideas about what went wrong.
    pub(crate) async fn attempt<T, F>(&self, work: F) -> Result<Result<T, Trouble>, Fault>
    where
        T: Send + 'static,
        F: FnOnce(Arc<dyn Device>) -> Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send>>
            + Send
            + 'static,
    {
        self.session.refs().forget();
        let (device, turn) = (self.device.clone(), self.turn.clone());
        let working = tokio::spawn(async move {
            let _turn = turn;
            work(device).await
        });
        match working.await {
            Ok(done) => Ok(done),
            // A panic is told by whoever supervises the call.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => Err(Fault::new(&reason::SERVER_BUG).because(error)),
        }
    }

    /// Looks at the whole screen, and gives what is on it references.
    pub(crate) async fn look(&self) -> Result<(), Fault> {
        match self.device.look().await {
            Ok(screen) => {
                self.session.refs().see(screen);
                Ok(())
            }
            Err(trouble) => Err(self.fault(trouble, "the screen hierarchy", None).await),
        }
    }

    /// What a recording should write for a reference.
    pub(crate) fn aimed(&self) -> Option<Locator> {
        self.aimed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn note_aim(&self, locator: Option<Locator>) {
        *self.aimed.lock().unwrap_or_else(PoisonError::into_inner) = locator;
    }
}
