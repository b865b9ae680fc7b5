//! What `up` and `stdio` have in common.

use std::sync::Arc;

use failwell_fault::Fault;
use failwell_policy::guard::Direction;
use failwell_policy::{GuardSettings, Guards, Limits, Rate};
use failwell_process::Launcher;
use failwell_server::{Gate, House, Room, Settings, Turnstile, keep_panics_quiet};
use failwell_shelf::Shelf;
use tokio_util::sync::CancellationToken;

use super::{device, ledger, tasks};
use crate::complaint::Complaint;
use crate::config::{Builtin, Config};

/// A built-in server.
pub(super) fn room(server: Builtin, config: &Config, shelf: Option<&Shelf>) -> Result<Arc<dyn Room>, Fault> {
    match server {
        Builtin::Lobby => Ok(Arc::new(failwell_lobby::lobby()?)),
        Builtin::Pytest => {
            let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
            let settings = failwell_pytest::Settings::of(here, Launcher::of_this_program()?);
            Ok(Arc::new(failwell_pytest::pytest(settings)?))
        }
        Builtin::Device => Ok(Arc::new(failwell_device::device(device::settings(config, shelf.cloned())?)?)),
        Builtin::Tasks => Ok(Arc::new(failwell_tasks::tasks(tasks::settings(config))?)),
        Builtin::Symbolic => {
            let settings = failwell_symbolic::Settings::of(Launcher::of_this_program()?);
            Ok(Arc::new(failwell_symbolic::symbolic(settings)?))
        }
    }
}

/// A house around one tool server.
pub(super) fn build(room: Result<impl Room, Fault>, settings: Settings) -> Result<Arc<House>, Complaint> {
    keep_panics_quiet();
    guarded(room, settings).map_err(|fault| unexpected(&fault))
}

fn guarded(room: Result<impl Room, Fault>, settings: Settings) -> Result<Arc<House>, Fault> {
    let mut guards = GuardSettings::default();
    // A server alone is run by whoever asks it, and takes secrets out of foreign text itself. Its own names must come
    // back as they are: a test whose id looks like a secret has to be found again by it.
    guards.secrets.directions.retain(|direction| *direction != Direction::Result);
    let gate = Gate::new(Guards::compile(guards)?);
    let books = ledger::books(&Config::default(), &gate)?;
    House::new(Arc::new(room?), Settings { gate: Some(gate), ..settings }, books)
}

/// These limits, and for everybody what was typed: so many requests a second, and twice as many at once.
pub(super) fn limits(mut limits: Limits, typed: Option<u32>) -> Limits {
    if let Some(rate) = typed.map(f64::from) {
        limits.everybody.rate = Some(Rate { per_second: rate, burst: rate * 2.0 });
    }
    limits
}

/// What every request passes.
pub(super) fn turnstile(file: Limits, typed: Option<u32>) -> Arc<Turnstile> {
    Arc::new(Turnstile::new(limits(file, typed)))
}

/// A fault of our own at start: the person at the terminal is the operator, so they get the whole story.
pub(super) fn unexpected(fault: &Fault) -> Complaint {
    Complaint::new(fault.operator().to_string().trim_end(), fault.hint())
}

/// Set by the first Ctrl-C or SIGTERM.
pub(super) fn stop_on_signal() -> CancellationToken {
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        signalled().await;
        told.cancel();
    });
    stop
}

#[cfg(unix)]
async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}

#[cfg(not(unix))]
async fn signalled() {
    let _ = tokio::signal::ctrl_c().await;
}
