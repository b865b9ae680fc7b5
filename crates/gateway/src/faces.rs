//! One upstream as clients of each era see it. A server over HTTP that speaks both is spoken to in the era of the
//! client, so that nothing has to be translated; only one that does not know that era is spoken to in the other.

use std::sync::Arc;

use failwell_process::Launcher;
use failwell_rpc::Era;
use failwell_server::{Context, Event};

use crate::settings::{Reach, UpstreamSettings};
use crate::upstream::Upstream;

/// The faces of one upstream.
#[derive(Clone)]
pub(crate) struct Faces {
    modern: Arc<Upstream>,
    /// A child is one process, which has one state, so it has one face.
    session: Option<Arc<Upstream>>,
}

impl Faces {
    pub(crate) fn new(
        settings: UpstreamSettings,
        launcher: &Launcher,
        changed: Arc<dyn Fn(Event) + Send + Sync>,
    ) -> Faces {
        let is_child = matches!(settings.reach, Reach::Child { .. });
        let session = (!is_child && settings.first_era.is_none()).then(|| {
            let settings = UpstreamSettings { first_era: Some(Era::Session), ..settings.clone() };
            Upstream::new(settings, launcher.clone(), changed.clone())
        });
        Faces { modern: Upstream::new(settings, launcher.clone(), changed), session }
    }

    /// The name its tools are prefixed with.
    pub(crate) fn name(&self) -> &str {
        self.modern.name()
    }

    /// The face for the client of this request.
    pub(crate) fn of(&self, cx: &Context) -> &Arc<Upstream> {
        match cx.client().revision.era() {
            Era::Session => self.session.as_ref().unwrap_or(&self.modern),
            Era::Modern => &self.modern,
        }
    }

    /// Ends the connections and whatever is behind them.
    pub(crate) fn stop(&self) {
        self.modern.stop();
        if let Some(session) = &self.session {
            session.stop();
        }
    }
}
