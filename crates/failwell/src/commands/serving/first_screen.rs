//! What standard output says when a server is up: a screen for a person at a terminal, otherwise one line of JSON.

mod clients;
mod started_line;
mod text;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use failwell_gateway::{ServerFailure, StartOutcome, StartingServer};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

pub(super) use self::clients::RequiredCredentials;
pub(super) use self::started_line::StoppedLine;
pub(super) use self::text::admin_key;

use self::clients::Clients;
use self::started_line::{ServerEntry, StartedLine};
use self::text::Screen;
use super::endpoint::AdminKey;
use crate::terminal::{self, Paint};

/// How long a person sees servers come up before the rest of the screen.
const FIRST_STARTS: Duration = Duration::from_secs(5);
/// How long the line for programs waits for servers that start, to tell which do not.
const FIRST_OUTCOMES: Duration = Duration::from_secs(1);

/// The facts that are known before any server has started.
pub(super) struct FirstScreen<'a> {
    pub(super) address: SocketAddr,
    /// The configuration file.
    pub(super) file: Option<PathBuf>,
    /// The state folder.
    pub(super) state: PathBuf,
    pub(super) credentials: RequiredCredentials,
    pub(super) admin: &'a AdminKey,
    /// A line below the servers.
    pub(super) note: Option<&'static str>,
    /// Calls to try.
    pub(super) suggestions: Vec<String>,
}

/// The state of a server on the first screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerState {
    Up {
        tools: Option<usize>,
        took: Duration,
    },
    /// It does not start, for this reason.
    Down(String),
    Starting,
    /// It starts at the first need.
    Lazy,
}

/// The reason of a failure in one line, without secrets.
pub(super) type FailureText = Arc<dyn Fn(&ServerFailure) -> String + Send + Sync>;

/// The servers of the first screen.
pub(super) struct Servers {
    pub(super) starting: Vec<StartingServer>,
    pub(super) lazy: Vec<String>,
    pub(super) failure_text: FailureText,
}

impl FirstScreen<'_> {
    /// Shows it. `missing` examines the machine at the same time.
    pub(super) async fn show(&self, servers: Servers, missing: impl Future<Output = Vec<String>>) {
        match terminal::is_interactive() {
            true => self.show_screen(servers, missing).await,
            false => self.print_line(servers, missing).await,
        }
    }

    async fn print_line(&self, servers: Servers, missing: impl Future<Output = Vec<String>>) {
        let names: Vec<String> = servers.names();
        let deadline = Instant::now() + FIRST_OUTCOMES;
        let mut outcomes =
            servers.lazy.iter().map(|name| (name.clone(), ServerState::Lazy)).collect::<Vec<_>>();
        let mut waiting = Outcomes::new(servers.starting);
        let listening = async {
            while let Ok(Some((name, outcome))) = timeout_at(deadline, waiting.next()).await {
                outcomes.push((name, state(outcome, &servers.failure_text)));
            }
        };
        let (missing, ()) = tokio::join!(missing, listening);
        let pairs = names.iter().map(|name| {
            let known = outcomes.iter().find(|(known, _)| known == name).map(|(_, state)| state);
            (name, known.unwrap_or(&ServerState::Starting))
        });
        let servers = pairs.map(|(name, state)| ServerEntry::new(name, state)).collect();
        terminal::print(&StartedLine::new(self, servers, missing).text());
    }

    /// Prints the line of one server that stands alone.
    pub(super) fn print_line_of(&self, name: &str) {
        let state = ServerState::Up { tools: None, took: Duration::ZERO };
        terminal::print(&StartedLine::new(self, vec![ServerEntry::new(name, &state)], Vec::new()).text());
    }

    async fn show_screen(&self, servers: Servers, missing: impl Future<Output = Vec<String>>) {
        let screen = Screen::new(Paint::for_stdout(), &servers.names());
        terminal::print(&screen.heading(self));
        for name in &servers.lazy {
            terminal::print(&screen.server(name, &ServerState::Lazy));
        }
        let deadline = Instant::now() + FIRST_STARTS;
        let mut waiting = Outcomes::new(servers.starting);
        let listening = async {
            while let Ok(Some((name, outcome))) = timeout_at(deadline, waiting.next()).await {
                terminal::print(&screen.server(&name, &state(outcome, &servers.failure_text)));
            }
        };
        let (missing, ()) = tokio::join!(missing, listening);
        for name in &waiting.names {
            terminal::print(&screen.server(name, &ServerState::Starting));
        }
        terminal::print(&screen.rest(self, &Clients::new(self), &missing));
        tokio::spawn(async move {
            while let Some((name, outcome)) = waiting.next().await {
                terminal::print(&screen.server(&name, &state(outcome, &servers.failure_text)));
            }
        });
    }
}

impl Servers {
    fn names(&self) -> Vec<String> {
        self.starting.iter().map(|server| server.name.clone()).chain(self.lazy.iter().cloned()).collect()
    }
}

fn state(outcome: StartOutcome, failure_text: &FailureText) -> ServerState {
    match outcome {
        StartOutcome::Up { tools, took } => ServerState::Up { tools: Some(tools), took },
        StartOutcome::Failed(failure) => ServerState::Down(failure_text(&failure)),
    }
}

/// The outcomes of starts, in the order in which they come.
struct Outcomes {
    running: JoinSet<(String, Option<StartOutcome>)>,
    /// The servers without an outcome.
    names: Vec<String>,
}

impl Outcomes {
    fn new(starting: Vec<StartingServer>) -> Outcomes {
        let names = starting.iter().map(|server| server.name.clone()).collect();
        let mut running = JoinSet::new();
        for StartingServer { name, outcome } in starting {
            running.spawn(async move { (name, outcome.await.ok()) });
        }
        Outcomes { running, names }
    }

    async fn next(&mut self) -> Option<(String, StartOutcome)> {
        loop {
            let (name, outcome) = self.running.join_next().await?.ok()?;
            self.names.retain(|known| *known != name);
            if let Some(outcome) = outcome {
                return Some((name, outcome));
            }
        }
    }
}
