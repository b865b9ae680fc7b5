//! One upstream as clients of each era see it. A server over HTTP that speaks both is spoken to in the era of the
//! client, so that nothing has to be translated; only one that does not know that era is spoken to in the other.

use std::iter;
use std::sync::Arc;

use failwell_fault::Fault;
use failwell_process::Launcher;
use failwell_rpc::Era;
use failwell_server::{Context, SharedState};
use tokio_util::sync::CancellationToken;

use crate::seat::State;
use crate::settings::{Reach, UpstreamSettings, Wire};
use crate::upstream::{Changed, Upstream};

/// The faces of one upstream.
pub(crate) struct Faces {
    settings: UpstreamSettings,
    modern: Arc<Upstream>,
    /// A child is one process, which has one state, so it has one face.
    session: Option<Arc<Upstream>>,
}

impl Faces {
    pub(crate) fn new(
        settings: UpstreamSettings,
        launcher: &Launcher,
        changed: Arc<Changed>,
        state: &Arc<dyn SharedState>,
    ) -> Arc<Faces> {
        let is_child = matches!(settings.reach, Reach::Child { .. });
        let has_two = !is_child && settings.wire != Wire::Events && settings.first_era.is_none();
        let session = has_two.then(|| {
            let settings = UpstreamSettings { first_era: Some(Era::Session), ..settings.clone() };
            Upstream::new(settings, launcher.clone(), changed.clone(), state.clone())
        });
        let modern = Upstream::new(settings.clone(), launcher.clone(), changed, state.clone());
        Arc::new(Faces { settings, modern, session })
    }

    /// How it was set up.
    pub(crate) fn settings(&self) -> &UpstreamSettings {
        &self.settings
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

    /// How many of its processes have ended.
    pub(crate) fn lives(&self) -> u64 {
        self.all().map(|face| face.tally().ends()).sum()
    }

    /// The name of the face for the client of this request, where there are two.
    pub(crate) fn face(&self, cx: &Context) -> &'static str {
        match (&self.session, cx.client().revision.era()) {
            (None, _) => "",
            (Some(_), Era::Session) => "session",
            (Some(_), Era::Modern) => "modern",
        }
    }

    /// Whether any of its connections answers.
    pub(crate) fn is_up(&self) -> bool {
        self.state() == State::Up
    }

    /// How it is doing: as the face in use does.
    pub(crate) fn state(&self) -> State {
        let states: Vec<State> = self.all().map(|face| face.state()).collect();
        let order = [State::Up, State::Starting, State::Down];
        order.into_iter().find(|state| states.contains(state)).unwrap_or(State::Idle)
    }

    /// Whether trouble with it is worth a line in the log: one line, whichever face it shows.
    pub(crate) fn is_worth_reporting(&self, fault: &Fault) -> bool {
        self.modern.tally().is_worth_reporting(fault)
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        iter::once(&self.modern).chain(&self.session)
    }

    /// Nobody new comes: each face ends with the last call in flight.
    pub(crate) fn retire(&self, end: &CancellationToken) {
        for face in self.all() {
            tokio::spawn(face.retire(end.clone()));
        }
    }

    /// Ends the connections and whatever is behind them.
    pub(crate) fn stop(&self) {
        self.all().for_each(|face| face.stop());
    }
}
