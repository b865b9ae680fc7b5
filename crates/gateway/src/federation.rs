//! All members as one tool server: their lists, the names that lead to them, their pins and their visibility.

mod background_listing;
mod catalogue;
mod change_hubs;
mod gateway;
mod guidance;
mod lists;
mod lookup;
mod member;
mod member_set;
mod names;
mod pinning;
mod portable;
mod reloadable;
mod single;
mod targets;
mod uris;
mod visibility;

use std::sync::{Arc, OnceLock};

use failwell_pipeline::SharedState;
use failwell_process::Launcher;
use failwell_store::ToolPins;
use failwell_toolbox::{Event, Info, Party};
use tokio_util::sync::CancellationToken;

pub use self::gateway::Gateway;
pub use self::member_set::ReloadReport;
pub use self::reloadable::ReloadableServer;

use self::background_listing::BackgroundListing;
use self::catalogue::Catalogue;
use self::change_hubs::ChangeHubs;
use self::member::Member;
use self::member_set::MemberSet;
use self::portable::OmittedTools;
use self::visibility::Visibility;
use crate::relay::PendingCalls;
use crate::upstream::{DualEraUpstream, UpstreamServices, UpstreamSettings};

pub(crate) struct Federation {
    pub(crate) info: Info,
    members: MemberSet,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) visibility: Visibility,
    pub(crate) pending_calls: Arc<PendingCalls>,
    pub(crate) pins: OnceLock<Arc<ToolPins>>,
    pub(crate) hubs: Arc<ChangeHubs>,
    pub(crate) background: BackgroundListing,
    pub(crate) omitted: OmittedTools,
    services: UpstreamServices,
    pub(crate) end: CancellationToken,
}

impl Federation {
    fn new(info: Info, launcher: &Launcher, state: Arc<dyn SharedState>) -> Federation {
        Federation {
            info,
            members: MemberSet::default(),
            catalogue: Arc::default(),
            visibility: Visibility::default(),
            pending_calls: Arc::new(PendingCalls::new(state.clone())),
            pins: OnceLock::new(),
            hubs: Arc::default(),
            background: BackgroundListing::default(),
            omitted: OmittedTools::default(),
            services: UpstreamServices { launcher: launcher.clone(), state, tracer: Arc::default() },
            end: CancellationToken::new(),
        }
    }

    fn upstream(&self, settings: UpstreamSettings) -> Arc<DualEraUpstream> {
        let (name, known, hubs) = (settings.name.clone(), self.catalogue.clone(), self.hubs.clone());
        let changed = Arc::new(move |event: Event, to: Option<Arc<Party>>| {
            if event.changes_a_list() {
                known.forget(&name);
            }
            hubs.announce(&name, &event, to.as_ref());
        });
        DualEraUpstream::new(settings, changed, &self.services)
    }

    pub(crate) fn member(&self, name: &str) -> Option<Member> {
        self.members.find(name)
    }

    pub(crate) fn members(&self) -> Arc<Vec<Member>> {
        self.members.all()
    }

    pub(crate) fn has(&self, member: &Member) -> bool {
        self.members.has(member)
    }
}
