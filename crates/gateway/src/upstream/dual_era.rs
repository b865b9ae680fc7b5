//! An upstream with one connection pool per protocol era. An HTTP server that speaks both eras is called in the era
//! of each client, which needs no translation.

use std::iter;
use std::sync::Arc;

use failwell_fault::Fault;
use failwell_rpc::Era;
use failwell_toolbox::Context;
use tokio_util::sync::CancellationToken;

use crate::upstream::connection_slot::UpstreamStatus;
use crate::upstream::settings::{Endpoint, HttpTransport, UpstreamSettings};
use crate::upstream::{ChangeListener, Upstream, UpstreamServices};

pub(crate) struct DualEraUpstream {
    settings: UpstreamSettings,
    modern: Arc<Upstream>,
    /// `None` for a child: one process has one state.
    session: Option<Arc<Upstream>>,
}

impl DualEraUpstream {
    pub(crate) fn new(
        settings: UpstreamSettings,
        changed: Arc<ChangeListener>,
        services: &UpstreamServices,
    ) -> Arc<DualEraUpstream> {
        let is_child = matches!(settings.endpoint, Endpoint::Child { .. });
        let has_two = !is_child && settings.transport != HttpTransport::Sse && settings.first_era.is_none();
        let session = has_two.then(|| {
            let settings = UpstreamSettings { first_era: Some(Era::Session), ..settings.clone() };
            Upstream::new(settings, changed.clone(), services.clone())
        });
        let modern = Upstream::new(settings.clone(), changed, services.clone());
        Arc::new(DualEraUpstream { settings, modern, session })
    }

    pub(crate) fn settings(&self) -> &UpstreamSettings {
        &self.settings
    }

    pub(crate) fn name(&self) -> &str {
        self.modern.name()
    }

    /// The upstream in the era of this client.
    pub(crate) fn for_client(&self, cx: &Context) -> &Arc<Upstream> {
        match cx.client().revision.era() {
            Era::Session => self.session.as_ref().unwrap_or(&self.modern),
            Era::Modern => &self.modern,
        }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.all().map(|upstream| upstream.counters().ends()).sum()
    }

    /// The era in which this client is served, if there are two; otherwise empty.
    pub(crate) fn era_name(&self, cx: &Context) -> &'static str {
        match (&self.session, cx.client().revision.era()) {
            (None, _) => "",
            (Some(_), Era::Session) => "session",
            (Some(_), Era::Modern) => "modern",
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.state() == UpstreamStatus::Up
    }

    /// The better status of the two.
    pub(crate) fn state(&self) -> UpstreamStatus {
        let states: Vec<UpstreamStatus> = self.all().map(|upstream| upstream.state()).collect();
        let order = [UpstreamStatus::Up, UpstreamStatus::Starting, UpstreamStatus::Down];
        order.into_iter().find(|state| states.contains(state)).unwrap_or(UpstreamStatus::Idle)
    }

    /// Whether to log a fault: once for both eras.
    pub(crate) fn is_worth_reporting(&self, fault: &Fault) -> bool {
        self.modern.counters().is_worth_reporting(fault)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        iter::once(&self.modern).chain(&self.session)
    }

    /// Stops each era after its last call in flight.
    pub(crate) fn retire(&self, end: &CancellationToken) {
        for upstream in self.all() {
            tokio::spawn(upstream.retire(end.clone()));
        }
    }

    pub(crate) fn stop(&self) {
        self.all().for_each(|upstream| upstream.stop());
    }
}
