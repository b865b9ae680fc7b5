//! One member of the federation: a server behind us, or a room of our own.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::{Era, Json, Raw};
use failwell_server::{Capability, Completion, Context, List, Members, Offers, Page, Room, ToolOutcome};
use serde_json::json;

use crate::catalogue::{Callee, TaskSupport, narrower};
use crate::faces::Faces;
use crate::gateway::OWN_LIST_LIMIT;
use crate::line::garbled;
use crate::params::{Onto, Params};
use crate::parked::Parking;
use crate::relay::Relay;
use crate::rounds::answer_rounds;
use crate::said::Found;
use crate::seat::Watched;
use crate::tasks::session_task;
use crate::upstream::{Ask, Upstream};

/// Pages of one list read at the most.
const MOST_PAGES: usize = 100;
/// An upstream that does not say how long a list may be kept.
const UNSAID: Cache = Cache { ttl_ms: 0, scope: CacheScope::Private };

/// A member.
#[derive(Clone)]
pub(crate) enum Member {
    /// A server other people wrote.
    Upstream(Arc<Faces>),
    /// A room of ours.
    BuiltIn(Arc<str>, Arc<dyn Room>),
}

impl Member {
    pub(crate) fn name(&self) -> &str {
        match self {
            Member::Upstream(upstream) => upstream.name(),
            Member::BuiltIn(name, _) => name,
        }
    }

    /// Whether this is the very same one, not only one of the same name.
    pub(crate) fn is(&self, other: &Member) -> bool {
        match (self, other) {
            (Member::Upstream(this), Member::Upstream(that)) => Arc::ptr_eq(this, that),
            (Member::BuiltIn(name, this), Member::BuiltIn(other, that)) => {
                name == other && Arc::ptr_eq(this, that)
            }
            _ => false,
        }
    }

    pub(crate) async fn offers(&self, cx: &Context) -> Result<Offers, Fault> {
        match self {
            Member::Upstream(upstream) => Ok(upstream.of(cx).connection(cx).await?.introduction.offers),
            Member::BuiltIn(_, room) => Ok(room.offers()),
        }
    }

    /// How long it may take to be there, and then to list everything of one kind.
    pub(crate) fn limits(&self) -> (Duration, Duration) {
        match self {
            Member::Upstream(upstream) => (upstream.settings().start_timeout, upstream.settings().timeout),
            Member::BuiltIn(..) => (Duration::ZERO, OWN_LIST_LIMIT),
        }
    }

    /// It was not there in time.
    pub(crate) fn start_exceeded(&self) -> Fault {
        match self {
            Member::Upstream(upstream) => upstream.settings().start_exceeded(),
            Member::BuiltIn(..) => own_list_exceeded(),
        }
    }

    /// It is there, and did not list everything in time.
    pub(crate) fn list_exceeded(&self, cx: &Context) -> Fault {
        match self {
            Member::Upstream(upstream) => {
                // One that is stuck for good would be missing from every list to come.
                upstream.of(cx).examine(cx);
                upstream.settings().answer_limit().exceeded()
            }
            Member::BuiltIn(..) => own_list_exceeded(),
        }
    }

    /// A list does without it for now.
    pub(crate) fn list_wait_exceeded(&self, cx: &Context) -> Fault {
        match self {
            Member::Upstream(upstream) => {
                let limit = upstream.settings().list_limit();
                let is_there = upstream.of(cx).made(cx).is_some();
                if is_there { limit.exceeded() } else { limit.still_starting() }
            }
            Member::BuiltIn(..) => own_list_exceeded(),
        }
    }

    /// Whether trouble with its lists is worth a line in the log.
    pub(crate) fn is_worth_reporting(&self, fault: &Fault) -> bool {
        match self {
            Member::Upstream(upstream) => upstream.is_worth_reporting(fault),
            Member::BuiltIn(..) => true,
        }
    }

    /// How many of its processes have ended; the next one may say something else.
    pub(crate) fn lives(&self) -> u64 {
        match self {
            Member::Upstream(upstream) => upstream.lives(),
            Member::BuiltIn(..) => 0,
        }
    }

    /// The roots of a client are others now.
    pub(crate) fn roots_changed(&self, cx: &Context) {
        match self {
            Member::Upstream(upstream) => upstream.of(cx).roots_changed(cx),
            Member::BuiltIn(_, room) => room.roots_changed(cx.clone()),
        }
    }

    /// Which of its faces the client of this request sees, where it has several.
    pub(crate) fn face(&self, cx: &Context) -> &'static str {
        match self {
            Member::Upstream(upstream) => upstream.face(cx),
            Member::BuiltIn(..) => "",
        }
    }

    /// Every item of a list, page by page, and how long they may be kept.
    pub(crate) async fn list(&self, list: List, cx: &Context) -> Result<(Vec<Json>, Cache), Fault> {
        let mut items = Vec::new();
        let mut cache = Cache { ttl_ms: u64::MAX, scope: CacheScope::Public };
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let page = self.page(list, cursor.take(), Params::ours(), cx).await?;
            let (found, next) = items_of(&page, list)?;
            items.extend(found);
            cache = narrower(cache, page.cache);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        Ok((items, cache))
    }

    /// One page of a list, as it comes.
    pub(crate) async fn page(
        &self,
        list: List,
        cursor: Option<String>,
        params: Params,
        cx: &Context,
    ) -> Result<Page, Fault> {
        let Member::Upstream(upstream) = self else { return self.own_page(list, cursor, cx).await };
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
        let asked = upstream.of(cx).request(cx, &Ask::of(method, &params)).await;
        let result = asked.map_err(|fault| match code(&fault) {
            Some(-32602) if cursor.is_some() => Fault::new(&reason::MCP_BAD_CURSOR).absorbing(fault),
            _ => fault,
        })?;
        let Members { members, meta, cache } = Found::of(result).members;
        Ok(Page { members: members.to_json(), meta, cache: cache.unwrap_or(UNSAID) })
    }

    async fn own_page(&self, list: List, cursor: Option<String>, cx: &Context) -> Result<Page, Fault> {
        match self {
            Member::BuiltIn(_, room) => room.list(list, cursor, cx.clone()).await,
            Member::Upstream(_) => Err(Fault::new(&reason::SERVER_BUG)),
        }
    }

    pub(crate) async fn call(
        &self,
        tool: &Callee,
        arguments: Json,
        cx: Context,
        parking: &Arc<Parking>,
    ) -> Result<ToolOutcome, Fault> {
        match self {
            Member::BuiltIn(_, room) => room.call(&tool.inside, arguments, cx).await,
            Member::Upstream(upstream) => {
                let params = Params::passing().with_text("name", &tool.inside).with("arguments", arguments);
                let mut params = match tool.tasks {
                    TaskSupport::Required => params.into_task(),
                    TaskSupport::Optional if cx.client().can(Capability::Tasks) => params.into_task(),
                    TaskSupport::Optional | TaskSupport::Forbidden => params,
                };
                Ok(ToolOutcome::relayed(
                    answered(upstream.of(&cx), "tools/call", &mut params, &cx, parking).await?,
                ))
            }
        }
    }

    pub(crate) async fn read(
        &self,
        uri: &str,
        cx: Context,
        parking: &Arc<Parking>,
    ) -> Result<Members, Fault> {
        match self {
            Member::BuiltIn(_, room) => room.read(uri, cx).await,
            Member::Upstream(upstream) => {
                let mut params = Params::passing().with_text("uri", uri);
                let read = answered(upstream.of(&cx), "resources/read", &mut params, &cx, parking).await;
                read.map_err(|fault| unknown_or(fault, uri))
            }
        }
    }

    pub(crate) async fn prompt(
        &self,
        name: &str,
        arguments: BTreeMap<String, String>,
        cx: Context,
        parking: &Arc<Parking>,
    ) -> Result<Members, Fault> {
        match self {
            Member::BuiltIn(_, room) => room.prompt(name, arguments, cx).await,
            Member::Upstream(upstream) => {
                // The arguments go on as they were written, with the rest of what the caller brought.
                let mut params = Params::passing().with_text("name", name);
                answered(upstream.of(&cx), "prompts/get", &mut params, &cx, parking).await
            }
        }
    }

    pub(crate) async fn complete(&self, wanted: Completion, cx: Context) -> Result<Members, Fault> {
        match self {
            Member::BuiltIn(_, room) => room.complete(wanted, cx).await,
            Member::Upstream(upstream) => {
                let params = Params::passing().renamed_ref(&wanted.of, &cx);
                let ask = Ask::of("completion/complete", &params);
                let result = upstream.of(&cx).request(&cx, &ask).await?;
                Ok(Found::of(result).members)
            }
        }
    }

    /// Asks to be told when a resource changes.
    pub(crate) async fn watch(&self, uri: &str, cx: Context) -> Result<(), Fault> {
        match self {
            Member::BuiltIn(_, room) => room.watch(uri, cx).await,
            Member::Upstream(upstream) => {
                let upstream = upstream.of(&cx);
                if upstream.note_watch(uri, &cx).await? == Watched::Already {
                    return Ok(());
                }
                let watched = ask_to_watch(upstream, uri, &cx).await;
                match watched {
                    Ok(()) => upstream.unwatch_unwanted(uri, &cx),
                    Err(_) => upstream.unwatch(uri, &cx),
                }
                watched
            }
        }
    }

    /// A resource is watched no more.
    pub(crate) fn unwatch(&self, uri: &str, cx: Context) {
        match self {
            Member::BuiltIn(_, room) => room.unwatch(uri, cx),
            Member::Upstream(upstream) => upstream.of(&cx).unwatch(uri, &cx),
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
        let params = Params::ours().with("notifications", Json::from(&wanted));
        return connection.link.watch(uri, params.text(&Onto::just(&connection), cx)).await;
    }
    let params = Params::passing().with_text("uri", uri);
    let watched = upstream.request(cx, &Ask::of("resources/subscribe", &params)).await;
    watched.map(|_| ()).map_err(|fault| unknown_or(fault, uri))
}

/// A request whose upstream may have questions before it answers.
async fn answered(
    upstream: &Arc<Upstream>,
    method: &'static str,
    params: &mut Params,
    cx: &Context,
    parking: &Arc<Parking>,
) -> Result<Members, Fault> {
    let seated = upstream.seated(cx).await?;
    match seated.1.era() {
        Era::Modern => answer_rounds(upstream, &seated, method, params, cx).await,
        // Kept apart: what a call between two of the modern era is made of stays small.
        Era::Session => Box::pin(answered_in_session(upstream, method, params, cx, parking)).await,
    }
}

/// The same of an upstream of the session era.
async fn answered_in_session(
    upstream: &Arc<Upstream>,
    method: &'static str,
    params: &Params,
    cx: &Context,
    parking: &Arc<Parking>,
) -> Result<Members, Fault> {
    let is_session = cx.client().revision.era() == Era::Session;
    // A task has its own way of asking.
    let is_followed = params.is_task() && cx.client().can(Capability::Tasks);
    let result = match is_session || is_followed {
        true => in_session(upstream.clone(), method, params.clone(), Relay::direct(cx)).await?,
        false => {
            parking.call(cx, |relay| in_session(upstream.clone(), method, params.clone(), relay)).await?
        }
    };
    Ok(Found::of(result).members)
}

/// A request to an upstream of the session era, which asks its questions while it works.
async fn in_session(
    upstream: Arc<Upstream>,
    method: &'static str,
    params: Params,
    relay: Relay,
) -> Result<Json, Fault> {
    let result = upstream.request(&relay.cx, &Ask::of(method, &params).relayed(&relay)).await?;
    if params.is_task() { session_task(&upstream, result, &relay).await } else { Ok(result) }
}

/// The items on a page, and where the next page begins.
pub(crate) fn items_of(page: &Page, list: List) -> Result<(Vec<Json>, Option<String>), Fault> {
    let nonsense = || garbled(page.members.text().as_bytes());
    let object = page.members.raw().as_object().ok_or_else(nonsense)?;
    let found = object.get(list.member()).and_then(Raw::as_array).ok_or_else(nonsense)?;
    let next = object.get("nextCursor").and_then(Raw::as_str).map(Cow::into_owned);
    Ok((found.map(Raw::to_json).collect(), next))
}

/// An upstream that does not know a resource says so with one of two codes.
fn unknown_or(fault: Fault, uri: &str) -> Fault {
    match code(&fault) {
        Some(-32002 | -32602) => failwell_server::unknown_resource(uri).absorbing(fault),
        _ => fault,
    }
}

/// The code of an error of the upstream.
fn code(fault: &Fault) -> Option<i64> {
    fault.get("upstream_code")?.to_string().parse().ok()
}
