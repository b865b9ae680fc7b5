//! The controls that an operator puts around the stages. Each control is a trait, so a pipeline without
//! policy, storage and ledger is the same pipeline. [`Controls::default`] lets every request pass.

pub(crate) mod approvals;
pub(crate) mod guards;
pub(crate) mod limits;
pub(crate) mod record_sink;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use failwell_rpc::Caller;
use failwell_toolbox::{Event, MetricsText};

use self::approvals::Approvals;
use self::guards::{ContentGuards, NoGuards};
use self::limits::{NoLimits, RateLimits};

/// Whether a caller may be notified of a change.
pub type EventFilter = Arc<dyn Fn(&Caller, &Event) -> bool + Send + Sync>;

/// Writes the metrics of the controls.
pub type MetricsWriter = Arc<dyn Fn(&mut MetricsText) + Send + Sync>;

/// The parts that do not work, as far as this reader may know them; all of them for `None`.
pub type ReadinessReport = Arc<dyn Fn(Option<&Caller>) -> Vec<UnreadyPart> + Send + Sync>;

/// A part that does not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadyPart {
    /// `ledger` or `server`.
    pub part: &'static str,
    pub name: Option<String>,
    /// `down` or `starting`.
    pub state: &'static str,
}

#[derive(Clone)]
pub struct Controls {
    /// Rate and concurrency limits.
    pub limits: Arc<dyn RateLimits>,
    pub guards: Arc<dyn ContentGuards>,
    /// Human approval. Without it, a tool that needs approval is refused.
    pub approvals: Option<Arc<dyn Approvals>>,
    /// The changes that a caller may be notified of; all by default.
    pub event_filter: Option<EventFilter>,
    /// Metrics in addition to those of the pipeline.
    pub metrics: Option<MetricsWriter>,
    pub readiness: Option<ReadinessReport>,
    /// A service that belongs to the pipeline; see [`Pipeline::service`](crate::Pipeline::service).
    pub service: Option<Arc<dyn Any + Send + Sync>>,
}

impl Default for Controls {
    fn default() -> Controls {
        Controls {
            limits: Arc::new(NoLimits),
            guards: Arc::new(NoGuards),
            approvals: None,
            event_filter: None,
            metrics: None,
            readiness: None,
            service: None,
        }
    }
}

impl Controls {
    /// Whether this caller may be notified of this change.
    pub(crate) fn shows(&self, event: &Event, caller: &Caller) -> bool {
        self.event_filter.as_ref().is_none_or(|filter| filter(caller, event))
    }
}

impl fmt::Debug for Controls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Controls { limits, guards, approvals, .. } = self;
        let mut shown = f.debug_struct("Controls");
        shown.field("limits", limits).field("guards", guards).field("approvals", approvals);
        shown.finish_non_exhaustive()
    }
}
