//! All members as one tool server: their lists, the names that lead to them, their pins and their visibility.

mod catalogue;
mod change_hubs;
mod gateway;
mod lists;
mod member;
mod names;
mod pinning;
mod portable;
mod single;
mod targets;
mod visibility;

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use failwell_pipeline::SharedState;
use failwell_process::Launcher;
use failwell_rpc::Caller;
use failwell_store::ToolPins;
use failwell_toolbox::{CallerSession, Event, Info, List};
use tokio_util::sync::CancellationToken;

pub use self::gateway::{Gateway, ReloadableServer};
pub use self::member::eager_start::{StartOutcome, StartingServer};
pub use self::member::member_set::ReloadReport;
pub use self::member::server_status::ServerStatus;

use self::catalogue::Catalogue;
use self::change_hubs::ChangeHubs;
use self::lists::background_listing::BackgroundListing;
use self::member::Member;
use self::member::member_set::MemberSet;
use self::portable::ListNotes;
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
    pub(crate) notes: ListNotes,
    services: UpstreamServices,
    pub(crate) end: CancellationToken,
    created: SystemTime,
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
            notes: ListNotes::default(),
            services: UpstreamServices {
                launcher: launcher.clone(),
                state,
                tracer: Arc::default(),
                observer: Arc::default(),
            },
            end: CancellationToken::new(),
            created: SystemTime::now(),
        }
    }

    fn upstream(&self, settings: UpstreamSettings) -> Arc<DualEraUpstream> {
        let (name, known, hubs) = (settings.name.clone(), self.catalogue.clone(), self.hubs.clone());
        let changed = Arc::new(move |event: Event, to: Option<Arc<CallerSession>>| {
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

    /// The members that are not hidden from the reader; all of them for the operator.
    pub(crate) fn members_seen_by(&self, reader: Option<&Caller>) -> Vec<Member> {
        let is_seen = |member: &&Member| reader.is_none_or(|reader| !self.is_unseen(member, reader));
        self.members().iter().filter(is_seen).cloned().collect()
    }

    /// Whether the caller may know of a tool, by its own name. A tool that was not listed yet is not shown.
    pub(crate) fn shows_tool(&self, server: &str, tool: &str, caller: &Caller) -> bool {
        let Some(entries) = self.catalogue.last(server, List::Tools) else { return false };
        let seen = self.visibility.filter(entries, server, List::Tools, caller);
        seen.iter().any(|entry| entry.inside == tool && !entry.quarantined)
    }

    pub(crate) fn has(&self, member: &Member) -> bool {
        self.members.has(member)
    }
}
