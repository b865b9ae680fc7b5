//! Starting and stopping.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::control::Control;
use crate::http;
use crate::limiter::{Limiter, Rate};
use crate::seed::{Seed, plant};
use crate::state::State;

/// How an emulator starts.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens: loopback, and any free port, unless told otherwise.
    pub listen: SocketAddr,
    /// The API key of the one application it knows.
    pub api_key: String,
    /// The shared secret of that application.
    pub secret: String,
    /// What the account starts with.
    pub seed: Seed,
    /// How many requests are let through; all, unless told otherwise.
    pub rate: Option<Rate>,
    /// The time it is; without it that of the machine, which goes on.
    pub clock: Option<Timestamp>,
    /// Whether `/_control/` is there.
    pub control: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            api_key: "emulated0key0for0tests0and0demos".to_owned(),
            secret: "emulated0secret0".to_owned(),
            seed: Seed::empty(),
            rate: None,
            clock: None,
            control: true,
        }
    }
}

/// What every connection shares.
pub(crate) struct Service {
    pub(crate) state: Mutex<State>,
    pub(crate) started: Instant,
    pub(crate) has_control: bool,
}

impl Service {
    /// The state. A method that panicked left it as it was or whole, so it can be used again.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running emulator. It stops when it is dropped.
pub struct Emulator {
    address: SocketAddr,
    api_key: String,
    secret: String,
    service: Arc<Service>,
    listening: JoinHandle<()>,
}

impl Emulator {
    /// Listens, and answers from now on.
    pub async fn start(options: Options) -> io::Result<Emulator> {
        let clock = options.clock.map_or(Clock::real(), Clock::Standing);
        let (api_key, secret) = (options.api_key, options.secret);
        let mut state = State::new(api_key.clone(), secret.clone(), Limiter::new(options.rate), clock);
        plant(&options.seed, &mut state).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        let service = Arc::new(Service {
            state: Mutex::new(state),
            started: Instant::now(),
            has_control: options.control,
        });
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let listening = tokio::spawn(http::listen(listener, service.clone()));
        Ok(Emulator { address, api_key, secret, service, listening })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What stands before `/services/rest/`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The API key of the application it knows.
    pub fn api_key(&self) -> &str {
        &self.api_key
    }

    /// The shared secret of that application.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Everything that can be done to it from outside.
    pub fn control(&self) -> Control {
        Control::new(self.service.clone())
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.listening.abort();
    }
}
