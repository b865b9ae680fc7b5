//! One member of the federation: an upstream or a built-in tool server.

pub(super) mod eager_start;
mod guidance;
pub(super) mod member_set;
pub(super) mod server_status;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, Name, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::{Era, Json, Raw};
use failwell_toolbox::{
    Capability, Completion, Context, List, Lookup, Members, Page, ServerFeatures, ToolOutcome, ToolServer,
};
use serde_json::json;

use crate::federation::catalogue::{Entry, TaskSupport, narrower};
use crate::relay::{PendingCalls, call_upstream, check_shape};
use crate::upstream::{
    DualEraUpstream, Endpoint, ParsedResult, RequestParams, SendContext, SessionSharing, Upstream,
    UpstreamRequest, WatchOutcome, invalid_response, upstream_code,
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
        let result = asked.map_err(|fault| match upstream_code(&fault) {
            Some(-32602) if cursor.is_some() => Fault::new(&reason::MCP_BAD_CURSOR).absorbing(fault),
            _ => fault,
        })?;
        let Members { members, meta, cache } = ParsedResult::parse(result).members;
        Ok(Page { members: members.to_json(), meta, cache: cache.unwrap_or(NO_CACHE) })
    }

    async fn built_in_page(&self, list: List, cursor: Option<String>, cx: &Context) -> Result<Page, Fault> {
        match self {
            Member::BuiltIn(_, server) => server.list(list, cursor, cx.clone()).await,
            Member::Upstream(_) => Err(Fault::new(&reason::SERVER_BUG)),
        }
    }

    pub(crate) async fn call(
        &self,
        tool: &Entry,
        arguments: Json,
        cx: Context,
        pending_calls: &Arc<PendingCalls>,
    ) -> Result<ToolOutcome, Fault> {
        match self {
            Member::BuiltIn(_, server) => {
                let target = server.find_tool(&tool.inside, &cx.client().caller).resolve(&cx).await?;
                target.call(arguments, cx).await
            }
            Member::Upstream(upstream) => {
                let params = RequestParams::forwarded()
                    .with_text("name", &tool.inside)
                    .with("arguments", arguments.clone());
                let mut params = match tool.tasks {
                    TaskSupport::Required => params.into_task(),
                    TaskSupport::Optional if cx.client().can(Capability::Tasks) => params.into_task(),
                    TaskSupport::Optional | TaskSupport::Forbidden => params,
                };
                let upstream = upstream.for_client(&cx);
                let result = call_upstream(upstream, "tools/call", &mut params, &cx, pending_calls).await?;
                Ok(upstream.settings.tool_errors.outcome(result, &arguments))
            }
        }
    }

    pub(crate) async fn read(
        &self,
        uri: &str,
        cx: Context,
        pending_calls: &Arc<PendingCalls>,
    ) -> Result<Members, Fault> {
        match self {
            Member::BuiltIn(_, server) => {
                server.find_resource(uri, &cx.client().caller).resolve(&cx).await?.read(cx).await
            }
            Member::Upstream(upstream) => {
                let mut params = RequestParams::forwarded().with_text("uri", uri);
                let read = call_upstream(
                    upstream.for_client(&cx),
                    "resources/read",
                    &mut params,
                    &cx,
                    pending_calls,
                )
                .await;
                read.map_err(|fault| unknown_or(fault, uri))
            }
        }
    }

    pub(crate) async fn prompt(
        &self,
        name: &str,
        arguments: BTreeMap<String, String>,
        cx: Context,
        pending_calls: &Arc<PendingCalls>,
    ) -> Result<Members, Fault> {
        match self {
            Member::BuiltIn(_, server) => {
                let target = server.find_prompt(name, &cx.client().caller).resolve(&cx).await?;
                target.fill(arguments, cx).await
            }
            Member::Upstream(upstream) => {
                // The arguments are among the caller's members, which are forwarded as they were written.
                let mut params = RequestParams::forwarded().with_text("name", name);
                call_upstream(upstream.for_client(&cx), "prompts/get", &mut params, &cx, pending_calls).await
            }
        }
    }

    pub(crate) async fn complete(&self, wanted: Completion, cx: Context) -> Result<Members, Fault> {
        match self {
            Member::BuiltIn(_, server) => {
                let target = server.find_completion(&wanted.of, &cx.client().caller).resolve(&cx).await?;
                target.complete(wanted, cx).await
            }
            Member::Upstream(upstream) => {
                let params = RequestParams::forwarded().renamed_ref(&wanted.of, &cx);
                let ask = UpstreamRequest::new("completion/complete", &params);
                let result = upstream.for_client(&cx).request(&cx, &ask).await?;
                check_shape("completion/complete", ParsedResult::parse(result).members)
            }
        }
    }

    pub(crate) async fn watch(&self, uri: &str, cx: Context) -> Result<(), Fault> {
        match self {
            Member::BuiltIn(_, server) => {
                server.find_resource(uri, &cx.client().caller).resolve(&cx).await?.watch(cx).await
            }
            Member::Upstream(upstream) => {
                let upstream = upstream.for_client(&cx);
                if upstream.add_watch(uri, &cx).await? == WatchOutcome::Existing {
                    return Ok(());
                }
                let watched = ask_to_watch(upstream, uri, &cx).await;
                match watched {
                    Ok(()) => upstream.drop_unused_watch(uri, &cx),
                    Err(_) => upstream.unwatch(uri, &cx),
                }
                watched
            }
        }
    }

    pub(crate) fn unwatch(&self, uri: &str, cx: Context) {
        match self {
            Member::BuiltIn(_, server) => {
                if let Lookup::Found(resource) = server.find_resource(uri, &cx.client().caller) {
                    resource.unwatch(cx);
                }
            }
            Member::Upstream(upstream) => upstream.for_client(&cx).unwatch(uri, &cx),
        }
    }
}

fn own_list_exceeded() -> Fault {
    Fault::new(&reason::SERVER_TIMEOUT).fact("limit_s", OWN_LIST_LIMIT.as_secs())
}

async fn ask_to_watch(upstream: &Arc<Upstream>, uri: &str, cx: &Context) -> Result<(), Fault> {
    let connection = upstream.connection(cx).await?;
    if connection.era() == Era::Modern {
        let wanted = json!({"resourceSubscriptions": [uri]});
        let params = RequestParams::own().with("notifications", Json::from(&wanted));
        return connection.channel.watch(uri, params.text(&SendContext::new(&connection), cx)).await;
    }
    let params = RequestParams::forwarded().with_text("uri", uri);
    let watched = upstream.request(cx, &UpstreamRequest::new("resources/subscribe", &params)).await;
    watched.map(|_| ()).map_err(|fault| unknown_or(fault, uri))
}

/// The items on a page, and the cursor of the next one.
pub(crate) fn items_of(page: &Page, list: List) -> Result<(Vec<Json>, Option<String>), Fault> {
    let nonsense = || invalid_response(page.members.text().as_bytes());
    let object = page.members.raw().as_object().ok_or_else(nonsense)?;
    let found = object.get(list.member()).and_then(Raw::as_array).ok_or_else(nonsense)?;
    let next = object.get("nextCursor").and_then(Raw::as_str).map(Cow::into_owned);
    Ok((found.map(Raw::to_json).collect(), next))
}

/// Upstreams report an unknown resource with one of two codes.
fn unknown_or(fault: Fault, uri: &str) -> Fault {
    match upstream_code(&fault) {
        Some(-32002 | -32602) => failwell_toolbox::unknown_resource(uri).absorbing(fault),
        _ => fault,
    }
}
