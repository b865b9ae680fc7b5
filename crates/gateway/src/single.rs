//! One member alone, under its own names: what `/mcp/<server>` serves.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use failwell_fault::{Echo, Fault, OrFault, reason};
use failwell_policy::Caller;
use failwell_render::{Cache, CacheScope};
use failwell_rpc::Json;
use failwell_server::{
    Completion, Context, Guidance, HeaderParam, Info, List, Members, Offers, Page, Room, ToolOutcome, Work,
    nearest,
};
use serde_json::json;

use crate::catalogue::{Callee, Entry, Fresh, shown_names};
use crate::gateway::{EVERYTHING, Inner, naming_member};
use crate::member::{Member, items_of};
use crate::params::Params;
use crate::portable::page_for;
use crate::veil::with;

/// A view of one member.
pub(crate) struct Single {
    pub(crate) inner: Arc<Inner>,
    pub(crate) name: String,
    pub(crate) offers: Arc<Mutex<Option<Offers>>>,
}

/// What is there may change any moment.
const KEEP: Cache = Cache { ttl_ms: 0, scope: CacheScope::Private };

impl Single {
    /// The member as it is now. Its door goes with it, so only a request that was on its way finds it gone.
    fn member(&self) -> Result<Member, Fault> {
        self.inner.member(&self.name).ok_or_else(|| Fault::new(&reason::SERVER_SHUTDOWN))
    }

    /// What the member itself calls this; refuses names it does not have, with the nearest it has.
    async fn known(
        inner: &Inner,
        member: &Member,
        list: List,
        name: &str,
        cx: &Context,
    ) -> Result<Callee, Fault> {
        let entries = inner.of(member, list, cx).await?;
        if let Some(entry) = entries.iter().find(|entry| entry.shown == name) {
            return entry.callee();
        }
        let row = if list == List::Tools { &reason::MCP_UNKNOWN_TOOL } else { &reason::MCP_UNKNOWN_PROMPT };
        let near = nearest(name, shown_names(&entries, |entry| &entry.shown));
        Err(Fault::new(row).fact("name", Echo::of_caller(name)).nearest(near))
    }

    /// A list as the caller sees it, whole.
    async fn veiled(inner: &Inner, member: &Member, list: List, cx: &Context) -> Result<Page, Fault> {
        let entries = inner.of(member, list, cx).await?;
        let there = entries.iter().filter(|entry| !entry.held);
        let era = cx.client().revision.era();
        let own =
            there.filter_map(|entry| with(entry.definition_for(era), naming_member(list), &entry.shown));
        let items: Vec<Json> = own.collect();
        let items = Json::of(&items).or_fault(&reason::SERVER_BUG)?;
        Ok(Page {
            members: Json::object([(list.member(), items.raw())].into_iter()),
            meta: None,
            cache: KEEP,
        })
    }
}

impl Room for Single {
    fn info(&self) -> &Info {
        &self.inner.info
    }

    fn behind(&self, _target: &str) -> Option<Box<str>> {
        Some(self.name.as_str().into())
    }

    fn has_others(&self) -> bool {
        true
    }

    fn own_tool(&self, tool: &str, caller: &Caller) -> Option<(Box<str>, Box<str>)> {
        let is = |entry: &Entry| entry.server == self.name && entry.shown == tool;
        self.inner.own_name(List::Tools, caller, is)
    }

    /// What the member offers, once that is known.
    fn offers(&self) -> Offers {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(EVERYTHING)
    }

    fn settle(&self, cx: Context) -> Work<()> {
        let (inner, member, offers) = (self.inner.clone(), self.member(), self.offers.clone());
        Box::pin(async move {
            let member = member?;
            // One that is not there now may be there later, and is then asked for what it offers.
            let patience = inner.patience_with(&member, List::Tools);
            if let Ok(Ok(found)) = tokio::time::timeout(patience, member.offers(&cx)).await {
                *offers.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
            }
            Ok(())
        })
    }

    fn guidance(&self, cx: Context) -> Work<Guidance> {
        let (inner, member) = (self.inner.clone(), self.member());
        Box::pin(async move { Ok(inner.guidance_of(&member?, &cx).await) })
    }

    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page> {
        let (inner, member) = (self.inner.clone(), self.member());
        Box::pin(async move {
            let member = member?;
            if !inner.offers(&member, list, &cx).await? {
                let members = Json::of(&json!({list.member(): []})).or_fault(&reason::SERVER_BUG)?;
                return Ok(Page { members, meta: None, cache: KEEP });
            }
            if !inner.veil.is_clear() {
                // Such a list comes whole, so no cursor is one of ours.
                let foreign = cursor.map_or(Ok(()), |_| Err(Fault::new(&reason::MCP_BAD_CURSOR)));
                return foreign.and(Single::veiled(&inner, &member, list, &cx).await);
            }
            let (first, lives) = (cursor.is_none(), member.lives());
            inner.get_to_know(&member, list, &cx).await?;
            let page = member.page(list, cursor, Params::passing(), &cx).await?;
            let (items, next) = items_of(&page, list)?;
            let held = inner.examine(&member, list, &items, &cx).await?;
            let shown = inner.portable(&member, list, &items, &cx);
            let fresh = Fresh { items: &items, shown: &shown, held: &held, cache: page.cache, lives };
            // Learnt from only when it is the whole of the list.
            if first && next.is_none() {
                inner.learn(&member, list, &fresh);
            }
            page_for(page, list, &fresh, cx.client().revision.era())
        })
    }

    fn header_params(&self, tool: &str, caller: &Caller) -> Vec<HeaderParam> {
        self.inner.header_params(&self.name, caller, |entry| entry.shown == tool)
    }

    fn call(&self, tool: &str, arguments: Json, cx: Context) -> Work<ToolOutcome> {
        let (inner, member, tool) = (self.inner.clone(), self.member(), tool.to_owned());
        Box::pin(async move {
            let member = member?;
            let tool = Single::known(&inner, &member, List::Tools, &tool, &cx).await?;
            inner.admit(&member, List::Tools, &tool.inside, Some(&arguments), &cx)?;
            let _turn = cx.turn(member.name(), &tool.inside).await?;
            inner.run(&member, &tool, arguments, cx).await
        })
    }

    fn read(&self, uri: &str, cx: Context) -> Work<Members> {
        let (inner, member, uri) = (self.inner.clone(), self.member(), uri.to_owned());
        Box::pin(async move {
            let member = member?;
            inner.reveal(&member, &uri, &uri, &cx)?;
            member.read(&uri, cx, &inner.parking).await
        })
    }

    fn watch(&self, uri: &str, cx: Context) -> Work<()> {
        let (inner, member, uri) = (self.inner.clone(), self.member(), uri.to_owned());
        Box::pin(async move {
            let member = member?;
            inner.reveal(&member, &uri, &uri, &cx)?;
            member.watch(&uri, cx).await
        })
    }

    fn unwatch(&self, uri: &str, cx: Context) {
        if let Ok(member) = self.member() {
            member.unwatch(uri, cx);
        }
    }

    fn roots_changed(&self, cx: Context) {
        if let Ok(member) = self.member() {
            member.roots_changed(&cx);
        }
    }

    fn prompt(&self, name: &str, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members> {
        let (inner, member, name) = (self.inner.clone(), self.member(), name.to_owned());
        Box::pin(async move {
            let member = member?;
            let name = Single::known(&inner, &member, List::Prompts, &name, &cx).await?;
            inner.admit(&member, List::Prompts, &name.inside, None, &cx)?;
            member.prompt(&name.inside, arguments, cx, &inner.parking).await
        })
    }

    fn complete(&self, wanted: Completion, cx: Context) -> Work<Members> {
        let (inner, member) = (self.inner.clone(), self.member());
        Box::pin(async move {
            let member = member?;
            let list = if wanted.of.contains("://") { List::Templates } else { List::Prompts };
            let of = Single::known(&inner, &member, list, &wanted.of, &cx).await?;
            member.complete(Completion { of: of.inside, ..wanted }, cx).await
        })
    }
}
