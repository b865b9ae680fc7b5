//! The tool server behind `/mcp/<server>`: one member under its own names.

use std::sync::Arc;

use failwell_fault::{Echo, Fault, OrFault, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::Caller;
use failwell_rpc::Json;
use failwell_toolbox::{
    CompletionTarget, Context, Find, Guidance, Info, List, Lookup, Page, PromptTarget, ResourceTarget,
    ServerFeatures, ToolServer, ToolTarget, Work, nearest,
};
use parking_lot::Mutex;
use serde_json::json;

use crate::federation::Federation;
use crate::federation::catalogue::{Entry, FetchedList, shown_names};
use crate::federation::lists::page_cursor::{PageCursor, without_cursor};
use crate::federation::member::{Member, items_of};
use crate::federation::names::naming_member;
use crate::federation::portable::page_for;
use crate::federation::targets::{
    MemberCompletion, MemberPrompt, MemberResource, MemberTool, NameScope, ResourceUris,
};
use crate::federation::visibility::with;
use crate::upstream::{ALL_FEATURES, RequestParams};

pub(crate) struct SingleMember {
    pub(crate) federation: Arc<Federation>,
    pub(crate) name: String,
    pub(crate) offers: Arc<Mutex<Option<ServerFeatures>>>,
}

/// Not cached: the member may change at any moment.
const KEEP: Cache = Cache { ttl_ms: 0, scope: CacheScope::Private };

impl SingleMember {
    /// The current member of this name. A reload also removes the route, so only requests in flight see it missing.
    fn member(&self) -> Result<Member, Fault> {
        self.federation.member(&self.name).ok_or_else(|| Fault::new(&reason::SERVER_SHUTDOWN))
    }

    /// Looks a name up in the cached list, or returns a future that asks the member.
    fn look_up<T: ?Sized + Send + Sync + 'static>(
        &self,
        list: List,
        name: &str,
        caller: &Caller,
        target: impl Fn(Arc<Federation>, Member, Arc<Entry>, &Caller) -> Lookup<T> + Send + 'static,
    ) -> Lookup<T> {
        let member = match self.member() {
            Ok(member) => member,
            Err(fault) => return self.refuse(fault),
        };
        let known = self.federation.catalogue.get(member.name(), list, member.generation());
        if let Some(known) = known {
            let entries = self.federation.visibility.filter(known, member.name(), list, caller);
            return match find(&entries, list, name) {
                Ok(entry) => target(self.federation.clone(), member, entry, caller),
                Err(fault) => member.refuse(fault),
            };
        }
        let (federation, name) = (self.federation.clone(), name.to_owned());
        let find: Find<T> = Box::new(move |cx| {
            Box::pin(async move {
                let entries = federation.visible_list(&member, list, &cx).await?;
                let entry = find(&entries, list, &name)?;
                target(federation, member, entry, &cx.client().caller).resolve(&cx).await
            })
        });
        Lookup::Pending { find, server: Some(self.name.as_str().into()) }
    }

    fn refuse<T: ?Sized>(&self, fault: Fault) -> Lookup<T> {
        Lookup::Refused { fault, server: Some(self.name.as_str().into()) }
    }

    /// The whole list as this caller sees it.
    async fn visible(
        federation: &Federation,
        member: &Member,
        list: List,
        cx: &Context,
    ) -> Result<Page, Fault> {
        let entries = federation.visible_list(member, list, cx).await?;
        let there = entries.iter().filter(|entry| !entry.quarantined);
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

/// Finds an entry by name. The fault for an unknown name suggests the nearest known names.
fn find(entries: &[Arc<Entry>], list: List, name: &str) -> Result<Arc<Entry>, Fault> {
    if let Some(entry) = entries.iter().find(|entry| entry.shown == name) {
        return Ok(entry.clone());
    }
    let row = if list == List::Tools { &reason::MCP_UNKNOWN_TOOL } else { &reason::MCP_UNKNOWN_PROMPT };
    let near = nearest(name, shown_names(entries, |entry| &entry.shown));
    Err(Fault::new(row).fact("name", Echo::of_caller(name)).nearest(near))
}

impl ToolServer for SingleMember {
    fn info(&self) -> &Info {
        &self.federation.info
    }

    fn is_federation(&self) -> bool {
        true
    }

    /// Everything, until the member has said what it offers.
    fn offers(&self) -> ServerFeatures {
        self.offers.lock().unwrap_or(ALL_FEATURES)
    }

    fn prepare(&self, cx: Context) -> Work<()> {
        let (federation, member, offers) = (self.federation.clone(), self.member(), self.offers.clone());
        Box::pin(async move {
            let member = member?;
            // A member that is not ready is asked again later.
            let patience = federation.list_timeout(&member, List::Tools);
            if let Ok(Ok(found)) = tokio::time::timeout(patience, member.offers(&cx)).await {
                *offers.lock() = Some(found);
            }
            Ok(())
        })
    }

    fn guidance(&self, cx: Context) -> Work<Guidance> {
        let (federation, member) = (self.federation.clone(), self.member());
        Box::pin(async move { Ok(federation.guidance_of(&member?, &cx).await) })
    }

    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page> {
        let (federation, member) = (self.federation.clone(), self.member());
        Box::pin(async move {
            let member = member?;
            if !federation.offers(&member, list, &cx).await? {
                let members = Json::of(&json!({list.member(): []})).or_fault(&reason::SERVER_BUG)?;
                return Ok(Page { members, meta: None, cache: KEEP });
            }
            if !federation.visibility.is_clear() {
                // A filtered list has a single page, so no cursor is valid.
                let foreign = cursor.map_or(Ok(()), |_| Err(Fault::new(&reason::MCP_BAD_CURSOR)));
                return foreign.and(SingleMember::visible(&federation, &member, list, &cx).await);
            }
            let (first, generation) = (cursor.is_none(), member.generation());
            federation.ensure_listed(&member, list, &cx).await?;
            let asked = cursor.map(|cursor| PageCursor::parse(&cursor)).transpose()?;
            let own = asked.as_ref().map(|asked| asked.own.clone());
            let page = member.page(list, own, RequestParams::forwarded(), &cx).await?;
            let (items, next) = items_of(&page, list)?;
            let (next, cut) = PageCursor::after(asked.as_ref(), next);
            federation.report_cut(&member, list, cut, &cx);
            let quarantined = federation.check_pins(&member, list, &items, &cx).await?;
            let shown = federation.portable(&member, list, &items, &cx);
            let fresh = FetchedList {
                items: &items,
                shown: &shown,
                quarantined: &quarantined,
                cache: page.cache,
                generation,
            };
            // Only a complete list is cached.
            if first && next.is_none() {
                federation.learn(&member, list, &fresh);
            }
            let page = page_for(page, list, &fresh, cx.client().revision.era())?;
            match next {
                Some(next) => next.write(page),
                None => without_cursor(page),
            }
        })
    }

    fn shows_tool(&self, server: &str, tool: &str, caller: &Caller) -> bool {
        self.federation.shows_tool(server, tool, caller)
    }

    fn is_visible_to(&self, caller: &Caller) -> bool {
        self.member().is_ok_and(|member| !self.federation.is_unseen(&member, caller))
    }

    fn roots_changed(&self, cx: Context) {
        if let Ok(member) = self.member() {
            member.roots_changed(&cx);
        }
    }

    fn find_tool(&self, name: &str, caller: &Caller) -> Lookup<dyn ToolTarget> {
        self.look_up(List::Tools, name, caller, |gateway, member, entry, caller| {
            MemberTool::look_up(gateway, member, entry, NameScope::Single, caller)
        })
    }

    fn find_prompt(&self, name: &str, caller: &Caller) -> Lookup<dyn PromptTarget> {
        self.look_up(List::Prompts, name, caller, MemberPrompt::look_up)
    }

    fn find_resource(&self, uri: &str, caller: &Caller) -> Lookup<dyn ResourceTarget> {
        let member = match self.member() {
            Ok(member) => member,
            Err(fault) => return self.refuse(fault),
        };
        let (federation, of, asked) = (self.federation.clone(), member.clone(), uri.to_owned());
        let target = move |caller: &Caller| match federation.reveal_to(caller, of.name(), &asked, &asked) {
            Ok(inside) => {
                let uris = ResourceUris { inside, outside: None, asked };
                MemberResource::look_up(federation, of, uris, caller)
            }
            Err(fault) => of.refuse(fault),
        };
        self.federation.look_up_uri(Some((member, uri)), List::Resources, caller, target)
    }

    fn find_completion(&self, of: &str, caller: &Caller) -> Lookup<dyn CompletionTarget> {
        let list = if of.contains("://") { List::Templates } else { List::Prompts };
        self.look_up(list, of, caller, move |gateway, member, entry, caller| {
            MemberCompletion::look_up(&gateway, member, list, &entry, caller)
        })
    }
}
