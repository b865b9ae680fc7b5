//! Functions that `up`, `stdio` and `serve` share.

use std::sync::Arc;

use failwell_controls::{GuardSet, OperatorServices, RateLimiter, Settings, build_pipeline};
use failwell_fault::{Fault, OrFault, reason};
use failwell_pipeline::{Pipeline, keep_panics_quiet};
use failwell_policy::guard::Direction;
use failwell_policy::{GuardSettings, Guards, Limits, Rate};
use failwell_process::Launcher;
use failwell_store::blob_store::BlobStore;
use failwell_toolbox::ToolServer;

use crate::commands::backends::ledger;
use crate::commands::servers::{device, tasks};
use crate::complaint::Complaint;
use crate::config::{Builtin, Config};

/// Creates a built-in server.
pub(in crate::commands) fn built_in_server(
    server: Builtin,
    config: &Config,
    shelf: Option<&BlobStore>,
) -> Result<Arc<dyn ToolServer>, Fault> {
    let built: Arc<dyn ToolServer> = match server {
        Builtin::Demo => {
            let reasons = failwell_catalogue::registry().or_fault(&reason::SERVER_BUG)?;
            Arc::new(failwell_demo::toolbox(&reasons)?)
        }
        Builtin::Pytest => {
            let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
            let settings = failwell_pytest::Settings::new(here, Launcher::of_this_program()?);
            Arc::new(failwell_pytest::pytest(settings)?)
        }
        Builtin::Device => Arc::new(failwell_device::device(device::settings(config, shelf.cloned())?)?),
        Builtin::Tasks => Arc::new(failwell_tasks::tasks(tasks::settings(config))?),
        Builtin::Symbolic => {
            let settings = failwell_symbolic::Settings::new(Launcher::of_this_program()?);
            Arc::new(failwell_symbolic::symbolic(settings)?)
        }
    };
    built.check()?;
    Ok(built)
}

/// Builds a pipeline around one tool server.
pub(in crate::commands) fn build(
    server: Result<impl ToolServer, Fault>,
    settings: Settings,
) -> Result<Arc<Pipeline>, Complaint> {
    keep_panics_quiet();
    guarded(server, settings).map_err(|fault| unexpected(&fault))
}

fn guarded(server: Result<impl ToolServer, Fault>, settings: Settings) -> Result<Arc<Pipeline>, Fault> {
    let mut guards = GuardSettings::default();
    // A single server redacts foreign text itself, and its caller runs it. Its own names must arrive
    // unchanged: the caller uses a test id again, even if it looks like a secret.
    guards.secrets.directions.retain(|direction| *direction != Direction::Result);
    let guard_set = GuardSet::new(Guards::compile(guards)?);
    let telemetry = ledger::telemetry(&Config::default(), &guard_set)?;
    build_pipeline(Arc::new(server?), Settings { guard_set: Some(guard_set), ..settings }, telemetry)
}

/// The limits of the file. `typed` overrides the rate for all callers; the burst is twice the rate.
pub(in crate::commands) fn limits(mut limits: Limits, typed: Option<u32>) -> Limits {
    if let Some(rate) = typed.map(f64::from) {
        limits.default.rate = Some(Rate { per_second: rate, burst: rate * 2.0 });
    }
    limits
}

pub(super) fn rate_limiter(file: Limits, typed: Option<u32>) -> Arc<RateLimiter> {
    Arc::new(RateLimiter::new(limits(file, typed)))
}

/// Reports a start-up fault with its private half, because the reader at the terminal is the operator.
pub(in crate::commands) fn unexpected(fault: &Fault) -> Complaint {
    Complaint::new(fault.operator().to_string().trim_end(), fault.hint())
}

/// Waits, for a while at the most, until everything about a pipeline is written, and closes its ledger.
pub(in crate::commands) fn close(pipeline: &Pipeline) {
    if let Some(services) = OperatorServices::of(pipeline) {
        services.telemetry().close();
    }
}
