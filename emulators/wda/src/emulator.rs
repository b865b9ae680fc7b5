//! Starting and stopping.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::control::Control;
use crate::http;
use crate::state::State;

/// How an emulator starts.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens: loopback, and any free port, unless told otherwise.
    pub listen: SocketAddr,
    /// Whether `/_control/` is there.
    pub control: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { listen: SocketAddr::from(([127, 0, 0, 1], 0)), control: true }
    }
}

/// What every connection shares.
pub(crate) struct Service {
    state: Mutex<State>,
    pub(crate) started: Instant,
    pub(crate) has_control: bool,
    /// Becomes true when a fault kills the runner.
    pub(crate) died: watch::Sender<bool>,
}

impl Service {
    /// The state. A command that panicked left it as it was or whole, so it can be used again.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running emulator. It stops when it is dropped.
pub struct Emulator {
    address: SocketAddr,
    service: Arc<Service>,
    listening: JoinHandle<()>,
}

impl Emulator {
    /// Listens, and answers from now on.
    pub async fn start(options: Options) -> io::Result<Emulator> {
        let service = Arc::new(Service {
            state: Mutex::new(State::new()),
            started: Instant::now(),
            has_control: options.control,
            died: watch::Sender::new(false),
        });
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let listening = tokio::spawn(http::listen(listener, service.clone()));
        Ok(Emulator { address, service, listening })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What stands before `/status`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that can be done to it from outside.
    pub fn control(&self) -> Control {
        Control::new(self.service.clone())
    }

    /// Waits until a fault kills the runner; nobody listens from then on.
    pub async fn died(&self) {
        let mut died = self.service.died.subscribe();
        // The sender is ours, so it is there as long as we are.
        let _ = died.wait_for(|died| *died).await;
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.listening.abort();
    }
}
