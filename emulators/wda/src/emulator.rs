//! The emulator: start, address, control handle.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use failwell_emulator_http::{Server, ServerOptions, SharedState};

use crate::Control;
use crate::http::WdaHandler;
use crate::state::State;

/// The time to read the head of a request, idle time included.
const HEAD_TIMEOUT: Duration = Duration::from_secs(120);

/// How an emulator starts.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address to listen on; by default a free port of loopback.
    pub listen: SocketAddr,
    /// Whether `/_control/` is served.
    pub control: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { listen: SocketAddr::from(([127, 0, 0, 1], 0)), control: true }
    }
}

/// A running emulator. It stops when it is dropped.
pub struct Emulator {
    server: Server,
    shared: Arc<SharedState<State>>,
}

impl Emulator {
    /// Binds the address and serves requests.
    pub async fn start(options: Options) -> io::Result<Emulator> {
        let shared = Arc::new(SharedState::new(State::new()));
        let server_options =
            ServerOptions { listen: options.listen, control: options.control, head_timeout: HEAD_TIMEOUT };
        let server = Server::start(server_options, Arc::new(WdaHandler::new(shared.clone()))).await?;
        Ok(Emulator { server, shared })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The URL before `/status`.
    pub fn base_url(&self) -> String {
        self.server.base_url()
    }

    /// The handle that steers it.
    pub fn control(&self) -> Control {
        Control::new(self.shared.clone())
    }

    /// Waits until a fault kills the runner; it no longer listens then.
    pub async fn died(&self) {
        self.server.killed().await;
    }
}
