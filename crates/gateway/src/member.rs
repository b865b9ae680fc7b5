//! One member of the federation: a server behind us, or a room of our own.

use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_fault::Fault;
use failwell_rpc::{Era, Json, Raw, meta};
use failwell_server::{Completion, Context, List, Members, Offers, Room, Standing, ToolOutcome};
use serde_json::{Value, json};

use crate::introduction::modern_meta;
use crate::line::garbled;
use crate::parked::Parking;
use crate::relay::Relay;
use crate::rounds::answer_rounds;
use crate::said::members;
use crate::upstream::{Connection, Upstream};

/// Pages of one list read at the most.
const MOST_PAGES: usize = 100;

/// A member.
#[derive(Clone)]
pub(crate) enum Member {
    /// A server other people wrote.
    Upstream(Arc<Upstream>),
    /// A room of ours.
    BuiltIn(String, Arc<dyn Room>),
}

impl Member {
    pub(crate) fn name(&self) -> &str {
        match self {
            Member::Upstream(upstream) => upstream.name(),
            Member::BuiltIn(name, _) => name,
        }
    }

    /// How a server of other people is doing; a room of ours is simply there.
    pub(crate) fn standing(&self) -> Option<Standing> {
        match self {
            Member::Upstream(upstream) => Some(upstream.standing()),
            Member::BuiltIn(..) => None,
        }
    }

    pub(crate) async fn offers(&self) -> Result<Offers, Fault> {
        match self {
            Member::Upstream(upstream) => Ok(upstream.connection().await?.introduction.offers),
            Member::BuiltIn(_, room) => Ok(room.offers()),
        }
    }

    /// Every item of a list, page by page.
    pub(crate) async fn list(&self, list: List, cx: &Context) -> Result<Vec<Json>, Fault> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let page = self.page(list, cursor.take(), cx).await?;
            let object = page.raw().as_object().ok_or_else(|| garbled(page.text().as_bytes()))?;
            let found = object.get(list.member()).and_then(Raw::as_array);
            let found = found.ok_or_else(|| garbled(page.text().as_bytes()))?;
            items.extend(found.map(Raw::to_json));
            cursor = object.get("nextCursor").and_then(Raw::as_str).map(std::borrow::Cow::into_owned);
            if cursor.is_none() {
                break;
            }
        }
        Ok(items)
    }

    async fn page(&self, list: List, cursor: Option<String>, cx: &Context) -> Result<Json, Fault> {
        match self {
            Member::BuiltIn(_, room) => Ok(room.list(list, cursor, cx.clone()).await?.members),
            Member::Upstream(upstream) => {
                let method = match list {
                    List::Tools => "tools/list",
                    List::Prompts => "prompts/list",
                    List::Resources => "resources/list",
                    List::Templates => "resources/templates/list",
                };
                let base = cursor.map_or(json!({}), |cursor| json!({"cursor": cursor}));
                let params = |connection: &Connection, _| with_meta(&base, connection, None, cx);
                Ok(upstream.request(method, params, None).await?.0)
            }
        }
    }

    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Json,
        cx: Context,
        parking: &Arc<Parking>,
    ) -> Result<ToolOutcome, Fault> {
        match self {
            Member::BuiltIn(_, room) => room.call(tool, arguments, cx).await,
            Member::Upstream(upstream) => {
                let base = json!({"name": tool, "arguments": arguments});
                let result = answered(upstream, "tools/call", base, &cx, parking).await?;
                Ok(ToolOutcome::relayed(members(&result)))
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
                let read = answered(upstream, "resources/read", json!({"uri": uri}), &cx, parking).await;
                read.map(|result| members(&result)).map_err(|fault| unknown_or(fault, uri))
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
                let base = json!({"name": name, "arguments": arguments});
                let result = answered(upstream, "prompts/get", base, &cx, parking).await?;
                Ok(members(&result))
            }
        }
    }

    pub(crate) async fn complete(&self, wanted: Completion, cx: Context) -> Result<Members, Fault> {
        match self {
            Member::BuiltIn(_, room) => room.complete(wanted, cx).await,
            Member::Upstream(upstream) => {
                let of = if wanted.of.contains("://") {
                    json!({"type": "ref/resource", "uri": wanted.of})
                } else {
                    json!({"type": "ref/prompt", "name": wanted.of})
                };
                let base = json!({"ref": of, "argument": {"name": wanted.argument, "value": wanted.value}});
                let params = |connection: &Connection, _| with_meta(&base, connection, None, &cx);
                let (result, _) = upstream.request("completion/complete", params, None).await?;
                Ok(members(&result))
            }
        }
    }

    /// Asks to be told when a resource changes.
    pub(crate) async fn watch(&self, uri: &str, cx: Context) -> Result<(), Fault> {
        match self {
            Member::BuiltIn(_, room) => room.watch(uri, cx).await,
            Member::Upstream(upstream) => {
                let connection = upstream.connection().await?;
                if connection.era() == Era::Modern {
                    let base = json!({"notifications": {"resourceSubscriptions": [uri]}});
                    let params = with_meta(&base, &connection, None, &cx);
                    return connection.link.watch(uri, params).await;
                }
                let base = json!({"uri": uri});
                let params = |connection: &Connection, _| with_meta(&base, connection, None, &cx);
                let watched = upstream.request("resources/subscribe", params, None).await;
                watched.map(|_| ()).map_err(|fault| unknown_or(fault, uri))
            }
        }
    }
}

/// A request whose upstream may have questions before it answers.
async fn answered(
    upstream: &Arc<Upstream>,
    method: &'static str,
    base: Value,
    cx: &Context,
    parking: &Arc<Parking>,
) -> Result<Json, Fault> {
    let upstream_era = upstream.connection().await?.era();
    let client_era = cx.client().revision.era();
    match (client_era, upstream_era) {
        (Era::Modern, Era::Session) => parking.call(upstream.clone(), method, base, cx).await,
        (_, Era::Modern) => answer_rounds(upstream, method, base, cx).await,
        (Era::Session, Era::Session) => {
            let params = |connection: &Connection, number| with_meta(&base, connection, Some(number), cx);
            Ok(upstream.request(method, params, Some(&Relay::direct(cx))).await?.0)
        }
    }
}

/// Params with the `_meta` the upstream's era wants: a token of ours where the client wants to hear of progress.
pub(crate) fn with_meta(base: &Value, connection: &Connection, number: Option<u64>, cx: &Context) -> String {
    let progress = number.filter(|_| cx.progress_token().is_some());
    let mut params = base.clone();
    let meta = match connection.era() {
        Era::Modern => Some(with_level(modern_meta(cx.client(), progress), cx)),
        Era::Session => progress.map(|token| json!({"progressToken": token})),
    };
    if let (Some(members), Some(meta)) = (params.as_object_mut(), meta) {
        members.insert("_meta".to_owned(), meta);
    }
    params.to_string()
}

/// A modern upstream logs only when the request says how much.
fn with_level(mut meta: Value, cx: &Context) -> Value {
    if let (Some(members), Some(level)) = (meta.as_object_mut(), cx.log_level()) {
        members.insert(meta::LOG_LEVEL.to_owned(), json!(level.as_str()));
    }
    meta
}

/// An upstream that does not know a resource says so with one of two codes.
fn unknown_or(fault: Fault, uri: &str) -> Fault {
    let code = fault.get("upstream_code").map(ToString::to_string);
    match code.as_deref() {
        Some("-32002" | "-32602") => failwell_server::unknown_resource(uri).absorbing(fault),
        _ => fault,
    }
}
