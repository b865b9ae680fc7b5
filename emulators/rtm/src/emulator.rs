//! The emulator: start, address, control handle.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use failwell_emulator_http::{Server, ServerOptions, SharedState};
use jiff::Timestamp;

use crate::control::Control;
use crate::http::RtmHandler;
use crate::http::limiter::{Limiter, Rate};
use crate::state::State;
use crate::state::clock::Clock;
use crate::state::seed::{Seed, plant};

/// The time to read the head of a request, idle time included.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// How an emulator starts.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address to listen on; by default a free port of loopback.
    pub listen: SocketAddr,
    /// The API key of the one application it knows.
    pub api_key: String,
    /// The shared secret of that application.
    pub secret: String,
    /// The initial content of the account.
    pub seed: Seed,
    /// The rate limit; by default none.
    pub rate: Option<Rate>,
    /// The time it is; without it that of the machine, which goes on.
    pub clock: Option<Timestamp>,
    /// Whether `/_control/` is served.
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

/// A running emulator. It stops when it is dropped.
pub struct Emulator {
    server: Server,
    shared: Arc<SharedState<State>>,
    api_key: String,
    secret: String,
}

impl Emulator {
    /// Binds the address and serves requests.
    pub async fn start(options: Options) -> io::Result<Emulator> {
        let clock = options.clock.map_or(Clock::real(), Clock::Standing);
        let (api_key, secret) = (options.api_key, options.secret);
        let mut state = State::new(api_key.clone(), secret.clone(), Limiter::new(options.rate), clock);
        plant(&options.seed, &mut state).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        let shared = Arc::new(SharedState::new(state));
        let server_options =
            ServerOptions { listen: options.listen, control: options.control, head_timeout: HEAD_TIMEOUT };
        let server = Server::start(server_options, Arc::new(RtmHandler::new(shared.clone()))).await?;
        Ok(Emulator { server, shared, api_key, secret })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The URL before `/services/rest/`.
    pub fn base_url(&self) -> String {
        self.server.base_url()
    }

    /// The API key of the application it knows.
    pub fn api_key(&self) -> &str {
        &self.api_key
    }

    /// The shared secret of that application.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The handle that steers it.
    pub fn control(&self) -> Control {
        Control::new(self.shared.clone())
    }
}
