//! A resource of a member: read, and watched for changes.

use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_rpc::{Caller, Era, Json};
use failwell_toolbox::{Context, Lookup, Members, ResourceTarget, Work, unknown_resource};
use serde_json::json;

use super::MemberTarget;
use crate::federation::Federation;
use crate::federation::member::Member;
use crate::federation::names::uris;
use crate::relay::call_upstream;
use crate::upstream::{
    DualEraUpstream, RequestError, RequestParams, SendContext, Upstream, UpstreamRequest, WatchOutcome,
};

pub(crate) struct MemberResource {
    gateway: Arc<Federation>,
    target: MemberTarget<dyn ResourceTarget>,
    uris: ResourceUris,
}

/// The spellings of one resource's URI.
pub(crate) struct ResourceUris {
    /// Its URI at the member.
    pub(crate) inside: String,
    /// Its prefixed URI; `None` at `/mcp/<server>`.
    pub(crate) outside: Option<String>,
    /// Its URI as the caller wrote it.
    pub(crate) asked: String,
}

impl MemberResource {
    pub(crate) fn look_up(
        gateway: Arc<Federation>,
        member: Member,
        uris: ResourceUris,
        caller: &Caller,
    ) -> Lookup<dyn ResourceTarget> {
        let (inside, asked) = (uris.inside.clone(), uris.asked.clone());
        let found = member.look_up(
            |server| server.find_resource(&inside, caller),
            move |target| Arc::new(MemberResource { gateway, target, uris }) as _,
        );
        found.map_fault(move |fault| naming(&asked, fault))
    }
}

impl ResourceTarget for MemberResource {
    fn server(&self) -> Option<&str> {
        Some(self.target.member_name())
    }

    fn uri(&self) -> Option<&str> {
        Some(self.uris.outside.as_deref().unwrap_or(&self.uris.inside))
    }

    fn read(self: Arc<Self>, cx: Context) -> Work<Members> {
        Box::pin(async move {
            let read = match &self.target {
                MemberTarget::BuiltIn(_, resource) => resource.clone().read(cx).await,
                MemberTarget::Upstream(upstream) => {
                    let mut params = RequestParams::forwarded().with_text("uri", &self.uris.inside);
                    let (upstream, pending) = (upstream.for_client(&cx), &self.gateway.pending_calls);
                    let read = call_upstream(upstream, "resources/read", &mut params, &cx, pending).await;
                    read.map(|result| result.members).map_err(|error| unknown_or(error, &self.uris.inside))
                }
            };
            let read = read.map_err(|fault| naming(&self.uris.asked, fault));
            match self.uris.outside {
                Some(_) => Ok(uris::in_contents(self.target.member_name(), read?)),
                None => read,
            }
        })
    }

    fn watch(self: Arc<Self>, cx: Context) -> Work<()> {
        Box::pin(async move {
            let inside = &self.uris.inside;
            let cx = match &self.uris.outside {
                Some(outside) => cx.with_alias(inside, outside),
                None => cx,
            };
            match &self.target {
                MemberTarget::BuiltIn(_, resource) => resource.clone().watch(cx).await,
                MemberTarget::Upstream(upstream) => watch(upstream, inside, &cx).await,
            }
        })
    }

    fn unwatch(&self, cx: Context) {
        match &self.target {
            MemberTarget::BuiltIn(_, resource) => resource.unwatch(cx),
            MemberTarget::Upstream(upstream) => upstream.for_client(&cx).unwatch(&self.uris.inside, &cx),
        }
    }
}

/// The fault names the URI that the caller used.
fn naming(asked: &str, fault: Fault) -> Fault {
    let unknown = *fault.reason() == reason::MCP_UNKNOWN_RESOURCE;
    if unknown { unknown_resource(asked).absorbing(fault) } else { fault }
}

async fn watch(upstream: &DualEraUpstream, uri: &str, cx: &Context) -> Result<(), Fault> {
    let upstream = upstream.for_client(cx);
    if upstream.add_watch(uri, cx).await? == WatchOutcome::Existing {
        return Ok(());
    }
    let watched = ask_to_watch(upstream, uri, cx).await;
    match watched {
        Ok(()) => upstream.drop_unused_watch(uri, cx),
        Err(_) => upstream.unwatch(uri, cx),
    }
    watched
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
    watched.map(|_| ()).map_err(|error| unknown_or(error, uri))
}

/// Upstreams report an unknown resource with one of two codes.
fn unknown_or(error: RequestError, uri: &str) -> Fault {
    match error {
        RequestError::Rejected { code: -32002 | -32602, fault } => unknown_resource(uri).absorbing(fault),
        error => error.into(),
    }
}
