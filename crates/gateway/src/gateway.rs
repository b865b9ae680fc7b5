//! Many servers behind one room.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use failwell_consent::Pins;
use failwell_fault::{Echo, Fault, OrFault, reason};
use failwell_policy::{Caller, Ruling};
use failwell_process::Launcher;
use failwell_render::{Cache, CacheScope};
use failwell_rpc::Json;
use failwell_server::{
    Alone, Completion, Context, Event, Guidance, HeaderParam, Hub, Info, List, Members, Numbers, Offered,
    Offers, Page, Party, Room, SharedState, ToolOutcome, Work, nearest, unknown_resource,
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::catalogue::{Callee, Catalogue, Entry, Fresh, shown_names};
use crate::faces::Faces;
use crate::hubs::Hubs;
use crate::late::Late;
use crate::member::Member;
use crate::metrics;
use crate::names::{inside_uri, outside, outside_uri, server_of};
use crate::parked::Parking;
use crate::portable::LeftOut;
use crate::roster::{Reloaded, Roster};
use crate::settings::UpstreamSettings;
use crate::single::Single;
use crate::uris;
use crate::veil::Veil;

/// How long a room of our own has to say what it offers. Upstreams have settings for it.
pub(crate) const OWN_LIST_LIMIT: Duration = Duration::from_secs(10);
/// Items on one page.
const PAGE: usize = 200;
/// Lists depend on what is running right now.
const KEEP: Cache = Cache { ttl_ms: 5_000, scope: CacheScope::Public };

/// Members may come and go, so everything is offered; what nobody has is an empty list.
pub(crate) const EVERYTHING: Offers = Offers {
    tools: Offered::Yes,
    prompts: Offered::Yes,
    resources: Offered::Yes,
    completions: Offered::Yes,
    tasks: Offered::Yes,
};

/// A room made of others.
#[derive(Clone)]
pub struct Gateway(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) info: Info,
    roster: Roster,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) veil: Veil,
    pub(crate) parking: Arc<Parking>,
    pub(crate) pins: OnceLock<Arc<Pins>>,
    pub(crate) hubs: Arc<Hubs>,
    pub(crate) late: Late,
    pub(crate) left_out: LeftOut,
    launcher: Launcher,
    state: Arc<dyn SharedState>,
    pub(crate) end: CancellationToken,
}

impl Gateway {
    /// A gateway to these servers and rooms.
    pub fn new(
        info: Info,
        upstreams: Vec<UpstreamSettings>,
        built_in: Vec<(String, Arc<dyn Room>)>,
        launcher: &Launcher,
    ) -> Gateway {
        let gateway = Gateway::sharing(info, launcher, Arc::new(Alone));
        gateway.reload(upstreams, built_in);
        gateway
    }

    /// A gateway to nobody yet, on one of several nodes.
    pub fn sharing(info: Info, launcher: &Launcher, state: Arc<dyn SharedState>) -> Gateway {
        Gateway(Arc::new(Inner {
            info,
            roster: Roster::default(),
            catalogue: Arc::default(),
            veil: Veil::default(),
            parking: Arc::new(Parking::new(state.clone())),
            pins: OnceLock::new(),
            hubs: Arc::default(),
            late: Late::default(),
            left_out: LeftOut::default(),
            launcher: launcher.clone(),
            state,
            end: CancellationToken::new(),
        }))
    }

    /// From now on these are the servers and rooms. Those with the settings they had are left alone, with their
    /// connections and all that is in flight; what was begun with one that changed or went ends with it, within the
    /// time its requests have anyway.
    pub fn reload(
        &self,
        upstreams: Vec<UpstreamSettings>,
        built_in: Vec<(String, Arc<dyn Room>)>,
    ) -> Reloaded {
        let rooms = built_in.into_iter().map(|(name, room)| Member::BuiltIn(name.into(), room));
        let change = self.0.roster.replace(upstreams, rooms, |settings| self.0.upstream(settings));
        for gone in &change.gone {
            self.0.catalogue.forget(gone.name());
            if let Member::Upstream(upstream) = gone {
                upstream.retire(&self.0.end);
            }
        }
        change.told
    }

    /// Tells clients that the lists are others now.
    pub fn announce(&self, reloaded: &Reloaded) {
        self.0.hubs.tell(reloaded);
    }

    /// From now on this is what callers see and may do. Says whether anybody may see something else than before.
    pub fn rule(&self, ruling: Ruling) -> bool {
        self.0.veil.replace(ruling)
    }

    /// Refuses a resource that a caller may not know of or use, for those who keep some beside the members.
    pub fn reveal(&self, caller: &Caller, server: &str, uri: &str) -> Result<(), Fault> {
        self.0.reveal_to(caller, server, uri, uri)
    }

    /// The names of all members.
    pub fn names(&self) -> Vec<String> {
        self.0.roster.all().iter().map(|member| member.name().to_owned()).collect()
    }

    /// A built-in room that is served.
    pub fn built_in(&self, name: &str) -> Option<Arc<dyn Room>> {
        match self.0.roster.find(name)? {
            Member::BuiltIn(_, room) => Some(room),
            Member::Upstream(_) => None,
        }
    }

    /// One member alone, under its own names: whoever has this name, now and after a reload.
    pub fn single(&self, name: &str) -> Arc<dyn Room> {
        Arc::new(Single { inner: self.0.clone(), name: name.to_owned(), offers: Arc::default() })
    }

    /// Where changes of the upstreams are announced.
    pub fn announce_to(&self, hub: &Hub) {
        self.0.hubs.add(None, hub);
    }

    /// Where changes of one upstream are announced, under its own names.
    pub fn announce_single_to(&self, name: &str, hub: &Hub) {
        self.0.hubs.add(Some(name), hub);
    }

    /// Ends every upstream.
    pub fn stop(&self) {
        self.0.end.cancel();
        for member in self.0.roster.all().iter() {
            if let Member::Upstream(upstream) = member {
                upstream.stop();
            }
        }
    }
}

impl Inner {
    fn upstream(&self, settings: UpstreamSettings) -> Arc<Faces> {
        let (name, known, hubs) = (settings.name.clone(), self.catalogue.clone(), self.hubs.clone());
        let changed = Arc::new(move |event: Event, to: Option<Arc<Party>>| {
            if event.changes_a_list() {
                known.forget(&name);
            }
            hubs.announce(&name, &event, to.as_ref());
        });
        Faces::new(settings, &self.launcher, changed, &self.state)
    }

    pub(crate) fn member(&self, name: &str) -> Option<Member> {
        self.roster.find(name)
    }

    /// Who is a member right now.
    pub(crate) fn members(&self) -> Arc<Vec<Member>> {
        self.roster.all()
    }

    /// Whether this very member is still one.
    pub(crate) fn has(&self, member: &Member) -> bool {
        self.roster.has(member)
    }

    /// Everything of one kind: from each member what it has, and which members could not be asked.
    async fn all(self: &Arc<Self>, list: List, cx: &Context) -> (Vec<Arc<Vec<Entry>>>, Vec<Value>) {
        let members = self.roster.all();
        let asked =
            members.iter().map(|member| async move { (member, self.in_time(member, list, cx).await) });
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (member, answer) in join_all(asked).await {
            match answer {
                Ok(entries) => found.push(entries),
                Err(fault) => {
                    missing.push(json!({"server": member.name(), "reason": fault.reason().id}));
                    if member.is_worth_reporting(&fault) {
                        cx.report(fault.note("unlisted", member.name()));
                    }
                }
            }
        }
        (found, missing)
    }

    /// What a caller sees of a member's list.
    pub(crate) async fn of(
        &self,
        member: &Member,
        list: List,
        cx: &Context,
    ) -> Result<Arc<Vec<Entry>>, Fault> {
        let entries = self.listed(member, list, cx).await?;
        Ok(self.veil.over(entries, member.name(), list, &cx.client().caller))
    }

    pub(crate) async fn listed(
        &self,
        member: &Member,
        list: List,
        cx: &Context,
    ) -> Result<Arc<Vec<Entry>>, Fault> {
        let lives = member.lives();
        if let Some(known) = self.catalogue.get(member.name(), list, lives) {
            return Ok(known);
        }
        // Rare and large, so kept apart: what every call is made of stays small.
        Box::pin(self.list_anew(member, list, lives, cx)).await
    }

    async fn list_anew(
        &self,
        member: &Member,
        list: List,
        lives: u64,
        cx: &Context,
    ) -> Result<Arc<Vec<Entry>>, Fault> {
        let (start, answer) = member.limits();
        let deadline = Instant::now() + start + answer;
        let offered = timeout_at(deadline, self.offers(member, list, cx)).await;
        let (items, cache) = match offered.map_err(|_| member.start_exceeded())?? {
            true => {
                // Each page has as long as any request, and all of them together have no longer.
                let listed = timeout_at(deadline.min(Instant::now() + answer), member.list(list, cx)).await;
                listed.map_err(|_| member.list_exceeded(cx))??
            }
            false => (Vec::new(), KEEP),
        };
        let held = self.examine(member, list, &items, cx).await?;
        let shown = self.portable(member, list, &items, cx);
        Ok(self.learn(member, list, &Fresh { items: &items, shown: &shown, held: &held, cache, lives }))
    }

    /// Remembers what a member just listed.
    pub(crate) fn learn(&self, member: &Member, list: List, fresh: &Fresh<'_>) -> Arc<Vec<Entry>> {
        let entries = fresh.items.iter().zip(fresh.shown).enumerate().filter_map(|(place, (item, shown))| {
            let entry = Entry::of(member.name(), list, item, shown.as_ref()?)?;
            Some(Entry { held: fresh.held.contains(&place), ..entry })
        });
        let entries = self.catalogue.put(member.name(), list, entries.collect(), fresh);
        // Asked before a reload and answered after it: true of what was, not of what is.
        if !self.roster.has(member) {
            self.catalogue.forget(member.name());
        }
        entries
    }

    /// Whether a member has lists of this kind at all.
    pub(crate) async fn offers(&self, member: &Member, list: List, cx: &Context) -> Result<bool, Fault> {
        let offers = member.offers(cx).await?;
        let offered = match list {
            List::Tools => offers.tools,
            List::Prompts => offers.prompts,
            List::Resources | List::Templates => offers.resources,
        };
        Ok(offered == Offered::Yes)
    }

    async fn page(self: &Arc<Self>, list: List, cursor: Option<String>, cx: &Context) -> Result<Page, Fault> {
        let start: usize = match cursor {
            Some(cursor) => cursor.parse().or_fault(&reason::MCP_BAD_CURSOR)?,
            None => 0,
        };
        let (found, missing) = self.all(list, cx).await;
        let all: Vec<&Entry> =
            found.iter().flat_map(|entries| entries.iter()).filter(|entry| !entry.held).collect();
        if start > all.len() {
            return Err(Fault::new(&reason::MCP_BAD_CURSOR));
        }
        let era = cx.client().revision.era();
        let items: Vec<&Json> =
            all.iter().skip(start).take(PAGE).map(|entry| entry.definition_for(era)).collect();
        let items = Json::of(&items).or_fault(&reason::SERVER_BUG)?;
        let next = Json::of(&(start + PAGE).to_string()).or_fault(&reason::SERVER_BUG)?;
        let more = (start + PAGE < all.len()).then_some(("nextCursor", next.raw()));
        let members = Json::object([(list.member(), items.raw())].into_iter().chain(more));
        let meta = (!missing.is_empty()).then(|| Json::of(&json!({"dev.failwell/unreachable": missing})));
        Ok(Page {
            members,
            meta: meta.transpose().or_fault(&reason::SERVER_BUG)?,
            cache: self.catalogue.cache(list, Cache { scope: self.veil.scope(), ..KEEP }),
        })
    }

    /// Whose an outside name is, and what it is called there. A bare name resolves when only one member has it.
    async fn resolve(
        self: &Arc<Self>,
        list: List,
        name: &str,
        cx: &Context,
    ) -> Result<(Member, Callee), Fault> {
        if let Some(member) = server_of(name).and_then(|server| self.member(server)) {
            let entries = self.of(&member, list, cx).await?;
            if let Some(entry) = entries.iter().find(|entry| entry.outside == name) {
                return Ok((member, entry.callee()?));
            }
            return Err(self.unknown(list, name, cx));
        }
        // Rare and large, so kept apart.
        let (found, missing) = Box::pin(self.all(list, cx)).await;
        let mut having = found.iter().flat_map(|entries| entries.iter()).filter(|entry| entry.shown == name);
        match (having.next(), having.next()) {
            (Some(only), None) => {
                let member = self.member(&only.server).or_fault(&reason::SERVER_BUG)?;
                Ok((member, only.callee()?))
            }
            // One that is still starting may be the one that has it.
            (None, _) => Err(self.still_starting(&missing).unwrap_or_else(|| self.unknown(list, name, cx))),
            _ => Err(self.unknown(list, name, cx)),
        }
    }

    /// Says that one of those who could not be asked is still starting.
    fn still_starting(&self, missing: &[Value]) -> Option<Fault> {
        let starting = missing.iter().find(|one| one["reason"] == reason::GATEWAY_UPSTREAM_STARTING.id)?;
        match self.member(starting["server"].as_str()?)? {
            Member::Upstream(upstream) => Some(upstream.settings().list_limit().still_starting()),
            Member::BuiltIn(..) => None,
        }
    }

    /// Hidden names are as unknown as those nobody has: what is near comes from what the caller sees.
    fn unknown(&self, list: List, name: &str, cx: &Context) -> Fault {
        let row = if list == List::Tools { &reason::MCP_UNKNOWN_TOOL } else { &reason::MCP_UNKNOWN_PROMPT };
        let known = self.seen(list, &cx.client().caller);
        let names = known.iter().flat_map(|entries| shown_names(entries, |entry| &entry.outside));
        Fault::new(row).fact("name", Echo::of_caller(name)).nearest(nearest(name, names))
    }

    /// What a caller sees of all lists of one kind that are known already.
    fn seen(&self, list: List, caller: &Caller) -> Vec<Arc<Vec<Entry>>> {
        let known = self.catalogue.known(list).into_iter();
        known.map(|(server, entries)| self.veil.over(entries, &server, list, caller)).collect()
    }

    /// Whose an item is and what its server calls it, if what is known already leaves no doubt.
    pub(crate) fn own_name(
        &self,
        list: List,
        caller: &Caller,
        is: impl Fn(&Entry) -> bool,
    ) -> Option<(Box<str>, Box<str>)> {
        let seen = self.seen(list, caller);
        let mut having = seen.iter().flat_map(|entries| entries.iter()).filter(|entry| is(entry));
        let only = having.next().filter(|_| having.next().is_none())?;
        Some((only.server.as_str().into(), only.inside.as_str().into()))
    }

    /// What a tool wants repeated in headers, as far as its definition is known and the caller sees it.
    pub(crate) fn header_params(
        &self,
        server: &str,
        caller: &Caller,
        is: impl Fn(&Entry) -> bool,
    ) -> Vec<HeaderParam> {
        let Some(known) = self.catalogue.last(server, List::Tools) else { return Vec::new() };
        let seen = self.veil.over(known, server, List::Tools, caller);
        seen.iter().find(|entry| is(entry)).map(|tool| tool.header_params.clone()).unwrap_or_default()
    }

    fn of_uri<'a>(&self, uri: &'a str, cx: &Context) -> Result<(Member, &'a str), Fault> {
        let (server, inside) = inside_uri(uri).ok_or_else(|| unknown_resource(uri))?;
        let member = self.member(&server).ok_or_else(|| unknown_resource(uri))?;
        self.reveal(&member, inside, uri, cx)?;
        Ok((member, inside))
    }

    /// Refuses what the caller may not use, or not like this.
    pub(crate) fn admit(
        &self,
        member: &Member,
        list: List,
        name: &str,
        arguments: Option<&Json>,
        cx: &Context,
    ) -> Result<(), Fault> {
        self.veil.admit(&cx.client().caller, member.name(), list, name, arguments)
    }

    /// Refuses an address the caller may not know of, as one nobody knows.
    pub(crate) fn reveal(&self, member: &Member, inside: &str, uri: &str, cx: &Context) -> Result<(), Fault> {
        self.reveal_to(&cx.client().caller, member.name(), inside, uri)
    }

    fn reveal_to(&self, caller: &Caller, server: &str, inside: &str, uri: &str) -> Result<(), Fault> {
        if !self.veil.shows_resource(caller, server, inside) {
            return Err(unknown_resource(uri));
        }
        self.veil.admit(caller, server, List::Resources, inside, None)
    }
}

impl Room for Gateway {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn behind(&self, target: &str) -> Option<Box<str>> {
        let named = inside_uri(target).map(|(server, _)| server);
        let named = named.or_else(|| server_of(target).map(str::to_owned));
        let member = named.filter(|server| self.0.member(server).is_some());
        member.or_else(|| self.0.catalogue.owner(target)).map(String::into_boxed_str)
    }

    fn has_others(&self) -> bool {
        true
    }

    fn own_tool(&self, tool: &str, caller: &Caller) -> Option<(Box<str>, Box<str>)> {
        match server_of(tool).filter(|server| self.0.member(server).is_some()) {
            Some(_) => self.0.own_name(List::Tools, caller, |entry| entry.outside == tool),
            None => self.0.own_name(List::Tools, caller, |entry| entry.shown == tool),
        }
    }

    fn offers(&self) -> Offers {
        EVERYTHING
    }

    fn guidance(&self, cx: Context) -> Work<Guidance> {
        let inner = self.0.clone();
        Box::pin(async move { Ok(inner.guidance(&cx).await) })
    }

    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page> {
        let inner = self.0.clone();
        Box::pin(async move { inner.page(list, cursor, &cx).await })
    }

    fn header_params(&self, tool: &str, caller: &Caller) -> Vec<HeaderParam> {
        let server = server_of(tool).unwrap_or_default();
        self.0.header_params(server, caller, |entry| entry.outside == tool)
    }

    fn metrics(&self, out: &mut Numbers) {
        let members = self.0.roster.all();
        let upstreams = members.iter().filter_map(|member| match member {
            Member::Upstream(upstream) => Some(upstream),
            Member::BuiltIn(..) => None,
        });
        metrics::write(&upstreams.collect::<Vec<_>>(), out);
        self.0.write_held(out);
        for member in members.iter() {
            if let Member::BuiltIn(_, room) = member {
                room.metrics(out);
            }
        }
    }

    fn call(&self, tool: &str, arguments: Json, cx: Context) -> Work<ToolOutcome> {
        let (inner, tool) = (self.0.clone(), tool.to_owned());
        Box::pin(async move {
            let (member, tool) = inner.resolve(List::Tools, &tool, &cx).await?;
            inner.admit(&member, List::Tools, &tool.inside, Some(&arguments), &cx)?;
            let _turn = cx.turn(member.name(), &tool.inside).await?;
            let outcome = inner.run(&member, &tool, arguments, cx).await?;
            Ok(outcome.map_relayed(|members| uris::in_content(member.name(), members)))
        })
    }

    fn read(&self, uri: &str, cx: Context) -> Work<Members> {
        let (inner, uri) = (self.0.clone(), uri.to_owned());
        Box::pin(async move {
            let (member, inside) = inner.of_uri(&uri, &cx)?;
            let read = member.read(inside, cx, &inner.parking).await;
            // The address the caller knows is the one it hears of.
            let read = read.map_err(|fault| {
                let unknown = *fault.reason() == reason::MCP_UNKNOWN_RESOURCE;
                if unknown { unknown_resource(&uri).absorbing(fault) } else { fault }
            });
            Ok(uris::in_contents(member.name(), read?))
        })
    }

    fn watch(&self, uri: &str, cx: Context) -> Work<()> {
        let (inner, uri) = (self.0.clone(), uri.to_owned());
        Box::pin(async move {
            let (member, inside) = inner.of_uri(&uri, &cx)?;
            let cx = cx.known_as(inside, &uri);
            member.watch(inside, cx).await
        })
    }

    fn unwatch(&self, uri: &str, cx: Context) {
        if let Ok((member, inside)) = self.0.of_uri(uri, &cx) {
            member.unwatch(inside, cx);
        }
    }

    fn roots_changed(&self, cx: Context) {
        self.0.members().iter().for_each(|member| member.roots_changed(&cx));
    }

    fn prompt(&self, name: &str, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members> {
        let (inner, name) = (self.0.clone(), name.to_owned());
        Box::pin(async move {
            let (member, prompt) = inner.resolve(List::Prompts, &name, &cx).await?;
            inner.admit(&member, List::Prompts, &prompt.inside, None, &cx)?;
            member.prompt(&prompt.inside, arguments, cx, &inner.parking).await
        })
    }

    fn complete(&self, wanted: Completion, cx: Context) -> Work<Members> {
        let inner = self.0.clone();
        Box::pin(async move {
            if wanted.of.contains("://") {
                let (member, inside) = inner.of_uri(&wanted.of, &cx)?;
                let of = inside.to_owned();
                return member.complete(Completion { of, ..wanted.clone() }, cx).await;
            }
            let (member, prompt) = inner.resolve(List::Prompts, &wanted.of, &cx).await?;
            member.complete(Completion { of: prompt.inside, ..wanted.clone() }, cx).await
        })
    }
}

/// The outside name of an item, by the list it is in.
pub(crate) fn outside_name(server: &str, list: List, inside: &str) -> String {
    match list {
        List::Tools | List::Prompts => outside(server, inside),
        List::Resources | List::Templates => outside_uri(server, inside),
    }
}

/// The member of an item that names it.
pub(crate) fn naming_member(list: List) -> &'static str {
    match list {
        List::Tools | List::Prompts => "name",
        List::Resources => "uri",
        List::Templates => "uriTemplate",
    }
}
