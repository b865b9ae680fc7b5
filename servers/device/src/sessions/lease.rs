//! A caller's exclusive use of one device, until it is dropped and every started action has ended.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use parking_lot::Mutex;

use crate::device::Device;
use crate::reason;
use crate::sessions::driver::NOTICED;
use crate::sessions::queue::QueuePermit;
use crate::sessions::{DeviceSessions, Session};
use crate::w3c::{Access, CommandContext, DriverError, Locator};

pub(crate) struct DeviceLease {
    pub(crate) devices: Arc<DeviceSessions>,
    pub(crate) session: Arc<Session>,
    pub(crate) device: Arc<dyn Device>,
    turn: Arc<QueuePermit>,
    target: Mutex<Option<Locator>>,
}

impl DeviceLease {
    /// Waits for exclusive use.
    pub(crate) async fn enter(
        devices: Arc<DeviceSessions>,
        session: Arc<Session>,
    ) -> Result<DeviceLease, Fault> {
        let turn = Arc::new(session.turn(devices.settings.queue_wait).await?);
        let device = session.device()?;
        Ok(DeviceLease { devices, session, device, turn, target: Mutex::default() })
    }

    /// Converts a driver error to a fault. A lost session is marked as lost.
    pub(crate) async fn fault(
        &self,
        trouble: DriverError,
        what: &'static str,
        target: Option<&Locator>,
    ) -> Fault {
        let trouble = match trouble {
            // A driver that we started and that ended between two calls has died.
            DriverError::NotSent(error) if self.session.check_driver(NOTICED).await => {
                DriverError::Lost { access: Access::Reads, error }
            }
            other => other,
        };
        if trouble.ends_session() {
            self.session.mark_lost();
        } else if matches!(trouble, DriverError::TimedOut { .. }) {
            self.session.check_driver(Duration::ZERO).await;
        }
        let target = target.map(|locator| (locator.strategy.as_str(), locator.value.as_str()));
        trouble.fault(CommandContext { what, driver: self.device.driver(), target })
    }

    /// Performs an action. It runs to its end even if the caller is gone, and occupies the device until then.
    pub(crate) async fn act<T, F>(&self, what: &'static str, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(Arc<dyn Device>) -> Pin<Box<dyn Future<Output = Result<T, DriverError>> + Send>>
            + Send
            + 'static,
    {
        match self.attempt(work).await? {
            Ok(done) => Ok(done),
            Err(trouble) => Err(self.fault(trouble, what, None).await),
        }
    }

    /// The same, for a caller that handles driver errors itself.
    pub(crate) async fn attempt<T, F>(&self, work: F) -> Result<Result<T, DriverError>, Fault>
    where
        T: Send + 'static,
        F: FnOnce(Arc<dyn Device>) -> Pin<Box<dyn Future<Output = Result<T, DriverError>> + Send>>
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
            // The supervisor of the call reports the panic.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => Err(Fault::new(&reason::SERVER_BUG).because(error)),
        }
    }

    /// Reads the whole screen and gives its elements references.
    pub(crate) async fn look(&self) -> Result<(), Fault> {
        match self.device.look().await {
            Ok(screen) => {
                self.session.refs().update(screen);
                Ok(())
            }
            Err(trouble) => Err(self.fault(trouble, "the screen hierarchy", None).await),
        }
    }

    /// The locator of the element that was last found by reference, for a recording.
    pub(crate) fn target(&self) -> Option<Locator> {
        self.target.lock().clone()
    }

    pub(crate) fn remember_target(&self, locator: Option<Locator>) {
        *self.target.lock() = locator;
    }
}
