//! The combined lists: all members are asked concurrently, the results are cached and returned page by page.

pub(super) mod background_listing;
pub(super) mod page_cursor;

use std::borrow::Cow;
use std::sync::Arc;

use failwell_fault::{Fault, OrFault, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::Json;
use failwell_toolbox::{Context, List, Page};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::federation::Federation;
use crate::federation::catalogue::{Entry, EntryList, FetchedList, usable};
use crate::federation::member::{Member, WholeList};
use crate::federation::names::uris;
use crate::federation::visibility::hidden::offers_list;

const PAGE: usize = 200;
/// Short, because members come and go.
const KEEP: Cache = Cache { ttl_ms: 5_000, scope: CacheScope::Public };

impl Federation {
    /// Lists one kind of item of every member, and names the members that could not be asked.
    pub(super) async fn all(self: &Arc<Self>, list: List, cx: &Context) -> (Vec<EntryList>, Vec<Value>) {
        let members = self.members.all();
        let caller = &cx.client().caller;
        let asked = members
            .iter()
            .map(|member| async move { (member, self.list_within_limit(member, list, cx).await) });
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (member, answer) in join_all(asked).await {
            match answer {
                Ok(entries) => found.push(entries),
                Err(fault) => {
                    if !self.is_unseen(member, caller) {
                        missing.push(json!({"server": member.name(), "reason": fault.reason().id}));
                    }
                    member.report_unlisted(fault, cx);
                }
            }
        }
        (found, missing)
    }

    /// A member's list as this caller sees it.
    pub(crate) async fn visible_list(
        &self,
        member: &Member,
        list: List,
        cx: &Context,
    ) -> Result<EntryList, Fault> {
        let entries = self.listed(member, list, cx).await?;
        Ok(self.visibility.filter(entries, member.name(), list, &cx.client().caller))
    }

    pub(crate) async fn listed(&self, member: &Member, list: List, cx: &Context) -> Result<EntryList, Fault> {
        let generation = member.generation();
        if let Some(known) = self.catalogue.get(member.name(), list, generation) {
            return Ok(known);
        }
        // Boxed, because it is rare: the future of every call stays small.
        Box::pin(self.fetch_list(member, list, generation, cx)).await
    }

    async fn fetch_list(
        &self,
        member: &Member,
        list: List,
        generation: u64,
        cx: &Context,
    ) -> Result<EntryList, Fault> {
        let (start, answer) = member.limits();
        let deadline = Instant::now() + start + answer;
        let offered = timeout_at(deadline, self.offers(member, list, cx)).await;
        let (items, cache) = match offered.map_err(|_| member.start_exceeded())?? {
            true => {
                // The request timeout bounds each page and all pages together.
                let listed = timeout_at(deadline.min(Instant::now() + answer), member.list(list, cx)).await;
                let WholeList { items, cache, cut } = listed.map_err(|_| member.list_exceeded(cx))??;
                self.report_cut(member, list, cut, cx);
                (items, cache)
            }
            false => (Vec::new(), KEEP),
        };
        let quarantined = self.check_pins(member, list, &items, cx).await?;
        let shown = self.portable(member, list, &items, cx);
        Ok(self.learn(
            member,
            list,
            &FetchedList { items: &items, shown: &shown, quarantined: &quarantined, cache, generation },
        ))
    }

    pub(crate) fn report_cut(&self, member: &Member, list: List, cut: Option<&'static str>, cx: &Context) {
        if let Some(why) = cut {
            let (kind, name) = (list.member(), member.name());
            self.notes.report(format!("the list of {kind} of {name} is cut: {why}"), cx);
        }
    }

    /// Caches a list that a member just returned.
    pub(crate) fn learn(&self, member: &Member, list: List, fresh: &FetchedList<'_>) -> EntryList {
        let entries = fresh.items.iter().zip(fresh.shown).enumerate().filter_map(|(place, (item, shown))| {
            let entry = Entry::new(member.name(), list, item, shown.as_ref()?)?;
            Some(Arc::new(Entry { quarantined: fresh.quarantined.contains(&place), ..entry }))
        });
        let entries = self.catalogue.put(member.name(), list, entries.collect(), fresh);
        if let (List::Tools, Member::Upstream(upstream)) = (list, member) {
            upstream.lifecycle().counted(usable(&entries));
        }
        // A reload may have replaced the member while it was asked: its list is then obsolete.
        if !self.members.has(member) {
            self.catalogue.forget(member.name());
        }
        entries
    }

    pub(crate) async fn offers(&self, member: &Member, list: List, cx: &Context) -> Result<bool, Fault> {
        Ok(offers_list(member.offers(cx).await?, list))
    }

    pub(super) async fn page(
        self: &Arc<Self>,
        list: List,
        cursor: Option<String>,
        cx: &Context,
    ) -> Result<Page, Fault> {
        let start: usize = match cursor {
            Some(cursor) => cursor.parse().or_fault(&reason::MCP_BAD_CURSOR)?,
            None => 0,
        };
        let (found, missing) = self.all(list, cx).await;
        let all: Vec<&Arc<Entry>> =
            found.iter().flat_map(|entries| entries.iter()).filter(|entry| !entry.quarantined).collect();
        if start > all.len() {
            return Err(Fault::new(&reason::MCP_BAD_CURSOR));
        }
        let era = cx.client().revision.era();
        let items: Vec<Cow<'_, Json>> =
            all.iter().skip(start).take(PAGE).map(|entry| uris::in_definition(entry, era)).collect();
        let items = Json::of(&items).or_fault(&reason::SERVER_BUG)?;
        let next = Json::of(&(start + PAGE).to_string()).or_fault(&reason::SERVER_BUG)?;
        let more = (start + PAGE < all.len()).then_some(("nextCursor", next.raw()));
        let members = Json::object([(list.member(), items.raw())].into_iter().chain(more));
        let meta = (!missing.is_empty()).then(|| Json::of(&json!({"dev.failwell/unreachable": missing})));
        Ok(Page {
            members,
            meta: meta.transpose().or_fault(&reason::SERVER_BUG)?,
            cache: self.catalogue.cache(list, Cache { scope: self.visibility.scope(), ..KEEP }),
        })
    }
}
