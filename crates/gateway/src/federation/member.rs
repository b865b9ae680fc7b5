//! One member of the federation: an upstream or a built-in tool server.

pub(super) mod eager_start;
mod guidance;
pub(super) mod member_set;
pub(super) mod server_status;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, Name, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::{Json, Raw};
use failwell_toolbox::{Context, List, Members, Page, ServerFeatures, ToolServer};

use crate::federation::catalogue::narrower;
use crate::upstream::{
    DualEraUpstream, Endpoint, RequestError, RequestParams, SessionSharing, UpstreamRequest, invalid_response,
};

/// How long a built-in server may take to list its items. Upstreams have settings for it.
pub(crate) const OWN_LIST_LIMIT: Duration = Duration::from_secs(10);
pub(crate) const MOST_PAGES: usize = 100;
/// The cache policy of an upstream that states none.
const NO_CACHE: Cache = Cache { ttl_ms: 0, scope: CacheScope::Private };

/// All pages of a list.
pub(crate) struct WholeList {
    pub(crate) items: Vec<Json>,
    pub(crate) cache: Cache,
    /// Why further pages were not requested.
    pub(crate) cut: Option<&'static str>,
}

#[derive(Clone)]
pub(crate) enum Member {
    Upstream(Arc<DualEraUpstream>),
    BuiltIn(Arc<str>, Arc<dyn ToolServer>),
}

impl Member {
    pub(crate) fn name(&self) -> &str {
        match self {
            Member::Upstream(upstream) => upstream.name(),
            Member::BuiltIn(name, _) => name,
        }
    }

    /// Whether it starts at the first need. A child per caller has nobody to start for before that.
    pub(crate) fn is_lazy(&self) -> bool {
        let Member::Upstream(upstream) = self else { return false };
        let settings = upstream.settings();
        let is_child = matches!(settings.endpoint, Endpoint::Child { .. });
        settings.lazy || is_child && settings.sharing == Some(SessionSharing::PerCaller)
    }

    /// Whether both are the same object, not only of the same name.
    pub(crate) fn is(&self, other: &Member) -> bool {
        match (self, other) {
            (Member::Upstream(this), Member::Upstream(that)) => Arc::ptr_eq(this, that),
            (Member::BuiltIn(name, this), Member::BuiltIn(other, that)) => {
                name == other && Arc::ptr_eq(this, that)
            }
            _ => false,
        }
    }

    pub(crate) async fn offers(&self, cx: &Context) -> Result<ServerFeatures, Fault> {
        match self {
            Member::Upstream(upstream) => Ok(upstream.for_client(cx).connection(cx).await?.handshake.offers),
            Member::BuiltIn(_, server) => Ok(server.offers()),
        }
    }

    /// What the member offers, as far as it has said so.
    pub(crate) fn known_offers(&self) -> Option<ServerFeatures> {
        match self {
            Member::Upstream(upstream) => upstream.known_offers(),
            Member::BuiltIn(_, server) => Some(server.offers()),
        }
    }

    /// The time limits for starting and for listing everything of one kind.
    pub(crate) fn limits(&self) -> (Duration, Duration) {
        match self {
            Member::Upstream(upstream) => (upstream.settings().start_timeout, upstream.settings().timeout),
            Member::BuiltIn(..) => (Duration::ZERO, OWN_LIST_LIMIT),
        }
    }

    pub(crate) fn start_exceeded(&self) -> Fault {
        match self {
            Member::Upstream(upstream) => upstream.settings().start_exceeded(),
            Member::BuiltIn(..) => own_list_exceeded(),
        }
    }

    pub(crate) fn list_exceeded(&self, cx: &Context) -> Fault {
        match self {
            Member::Upstream(upstream) => {
                // A hung upstream would be missing from all later lists.
                upstream.for_client(cx).check_liveness(cx);
                upstream.settings().answer_limit().exceeded()
            }
            Member::BuiltIn(..) => own_list_exceeded(),
        }
    }

    pub(crate) fn list_wait_exceeded(&self, cx: &Context) -> Fault {
        match self {
            Member::Upstream(upstream) => {
                let limit = upstream.settings().list_limit();
                let is_there = upstream.for_client(cx).existing_connection(cx).is_some();
                if is_there { limit.exceeded() } else { limit.still_starting() }
            }
            Member::BuiltIn(..) => own_list_exceeded(),
        }
    }

    /// Reports to the operator that the server cannot be listed, once for each cause.
    pub(crate) fn report_unlisted(&self, fault: Fault, cx: &Context) {
        if self.is_worth_reporting(&fault) {
            let fault = fault.note("unlisted", self.name());
            cx.report(match Name::parse(self.name()) {
                Some(server) => fault.fact("server", server),
                None => fault,
            });
        }
    }

    pub(crate) fn is_worth_reporting(&self, fault: &Fault) -> bool {
        match self {
            Member::Upstream(upstream) => upstream.is_worth_reporting(fault),
            Member::BuiltIn(..) => true,
        }
    }

    /// Counts the processes that have ended; a new process may list other items.
    pub(crate) fn generation(&self) -> u64 {
        match self {
            Member::Upstream(upstream) => upstream.generation(),
            Member::BuiltIn(..) => 0,
        }
    }

    pub(crate) fn roots_changed(&self, cx: &Context) {
        match self {
            Member::Upstream(upstream) => upstream.for_client(cx).roots_changed(cx),
            Member::BuiltIn(_, server) => server.roots_changed(cx.clone()),
        }
    }

    /// The era in which this client is served, if the upstream is connected in both; otherwise empty.
    pub(crate) fn era_name(&self, cx: &Context) -> &'static str {
        match self {
            Member::Upstream(upstream) => upstream.era_name(cx),
            Member::BuiltIn(..) => "",
        }
    }

    pub(crate) async fn list(&self, list: List, cx: &Context) -> Result<WholeList, Fault> {
        let cache = Cache { ttl_ms: u64::MAX, scope: CacheScope::Public };
        let mut whole = WholeList { items: Vec::new(), cache, cut: Some("it has too many pages") };
        let mut cursors = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let page = self.page(list, cursor.take(), RequestParams::own(), cx).await?;
            let (found, next) = items_of(&page, list)?;
            whole.items.extend(found);
            whole.cache = narrower(whole.cache, page.cache);
            let Some(next) = next else { return Ok(WholeList { cut: None, ..whole }) };
            if !cursors.insert(next.clone()) {
                return Ok(WholeList { cut: Some("its cursors repeat"), ..whole });
            }
            cursor = Some(next);
        }
        Ok(whole)
    }

    pub(crate) async fn page(
        &self,
        list: List,
        cursor: Option<String>,
        params: RequestParams,
        cx: &Context,
    ) -> Result<Page, Fault> {
        let Member::Upstream(upstream) = self else { return self.built_in_page(list, cursor, cx).await };
        let method = match list {
            List::Tools => "tools/list",
            List::Prompts => "prompts/list",
            List::Resources => "resources/list",
            List::Templates => "resources/templates/list",
        };
        let params = match &cursor {
            Some(cursor) => params.with_text("cursor", cursor),
            None => params,
        };
        let asked = upstream.for_client(cx).request(cx, &UpstreamRequest::new(method, &params)).await;
        let result = asked.map_err(|error| match error {
            RequestError::Rejected { code: -32602, fault } if cursor.is_some() => {
                Fault::new(&reason::MCP_BAD_CURSOR).absorbing(fault)
            }
            error => error.into(),
        })?;
        let Members { members, meta, cache } = result.members;
        Ok(Page { members: members.to_json(), meta, cache: cache.unwrap_or(NO_CACHE) })
    }

    async fn built_in_page(&self, list: List, cursor: Option<String>, cx: &Context) -> Result<Page, Fault> {
        match self {
            Member::BuiltIn(_, server) => server.list(list, cursor, cx.clone()).await,
            Member::Upstream(_) => Err(Fault::new(&reason::SERVER_BUG)),
        }
    }
}

fn own_list_exceeded() -> Fault {
    Fault::new(&reason::SERVER_TIMEOUT).fact("limit_s", OWN_LIST_LIMIT.as_secs())
}

/// The items on a page, and the cursor of the next one.
pub(crate) fn items_of(page: &Page, list: List) -> Result<(Vec<Json>, Option<String>), Fault> {
    let nonsense = || invalid_response(page.members.text().as_bytes());
    let object = page.members.raw().as_object().ok_or_else(nonsense)?;
    let found = object.get(list.member()).and_then(Raw::as_array).ok_or_else(nonsense)?;
    let next = object.get("nextCursor").and_then(Raw::as_str).map(Cow::into_owned);
    Ok((found.map(Raw::to_json).collect(), next))
}
