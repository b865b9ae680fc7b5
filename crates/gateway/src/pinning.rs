//! Definitions of upstreams against those that are known: what changed is held.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use failwell_consent::{Held, Listing, Looked, Pins, changes};
use failwell_fault::{Fault, reason};
use failwell_rpc::Json;
use failwell_server::{Context, List, Numbers};
use tokio_util::sync::CancellationToken;

use crate::gateway::{Gateway, Inner, naming_member};
use crate::member::Member;
use crate::roster::Reloaded;

/// How often it is looked whether somebody approved something.
const LOOK: Duration = Duration::from_millis(500);

/// What a server says of how it is to be used, as pins know it.
const INSTRUCTIONS: &str = "instructions";

/// The places of items that are held.
pub(crate) type Places = HashSet<usize>;

impl Gateway {
    /// From now on definitions of upstreams are compared with these, once. What somebody approves at a terminal counts
    /// within a moment.
    pub fn pin(&self, pins: Arc<Pins>) {
        if self.0.pins.set(pins.clone()).is_ok() {
            tokio::spawn(follow(Arc::downgrade(&self.0), pins, self.0.end.clone()));
        }
    }

    /// Lists are looked at again before they are shown.
    pub fn look_again(&self) {
        self.0.look_again();
    }
}

async fn follow(inner: std::sync::Weak<Inner>, pins: Arc<Pins>, end: CancellationToken) {
    loop {
        tokio::select! {
            () = end.cancelled() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let has_news = pins.has_news().await;
        let Some(inner) = inner.upgrade() else { return };
        if has_news {
            inner.look_again();
        }
    }
}

impl Inner {
    fn look_again(&self) {
        self.catalogue.clear();
        self.hubs.tell(&Reloaded { ruled: true, ..Reloaded::default() });
    }

    /// The pins a list of this member is compared with.
    fn pins(&self, member: &Member, list: List) -> Option<(&Arc<Pins>, &'static str)> {
        let pins = self.pins.get()?;
        let kind = match list {
            List::Tools => "tools",
            List::Prompts => "prompts",
            List::Resources | List::Templates => return None,
        };
        is_watched(pins, member).then_some((pins, kind))
    }

    /// Whether what a member says of how it is to be used is what is known of it. Every doubt is a no.
    pub(crate) async fn is_vouched_for(&self, member: &Member, words: &str, cx: &Context) -> bool {
        let Some(pins) = self.pins.get().filter(|pins| is_watched(pins, member)) else { return true };
        let Ok(item) = Json::of(words) else { return false };
        let items = vec![(INSTRUCTIONS.to_owned(), item)];
        let (server, face) = (member.name().to_owned(), member.face(cx));
        let Ok(looked) = Box::pin(pins.look(Listing { server, face, kind: INSTRUCTIONS, items })).await
        else {
            return false;
        };
        report(member, INSTRUCTIONS, looked, cx).held.is_empty()
    }

    /// A list that comes in parts is seen whole once, so that what is new in it can be told from what is not.
    pub(crate) async fn get_to_know(&self, member: &Member, list: List, cx: &Context) -> Result<(), Fault> {
        match self.pins(member, list) {
            Some((pins, kind)) if !pins.knows(member.name(), kind) => {
                Box::pin(self.listed(member, list, cx)).await.map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Which items of a list are held. The operator hears of every change once.
    pub(crate) async fn examine(
        &self,
        member: &Member,
        list: List,
        items: &[Json],
        cx: &Context,
    ) -> Result<Places, Fault> {
        let Some((pins, kind)) = self.pins(member, list) else { return Ok(Places::new()) };
        let named = |(place, item): (usize, &Json)| {
            let name = item.raw().as_object()?.get(naming_member(list))?.as_str()?.into_owned();
            Some((place, (name, item.clone())))
        };
        let (places, items): (Vec<usize>, Vec<(String, Json)>) =
            items.iter().enumerate().filter_map(named).unzip();
        let listing = Listing { server: member.name().to_owned(), face: member.face(cx), kind, items };
        let looked = report(member, kind, Box::pin(pins.look(listing)).await?, cx);
        Ok(looked.held.iter().filter_map(|place| places.get(*place).copied()).collect())
    }

    /// Writes how many tools and prompts of each upstream are held.
    pub(crate) fn write_held(&self, out: &mut Numbers) {
        if self.pins.get().is_none() {
            return;
        }
        out.family("failwell_pins_held", "gauge");
        for (kind, list) in [("tools", List::Tools), ("prompts", List::Prompts)] {
            for (server, entries) in self.catalogue.known(list) {
                let held = entries.iter().filter(|entry| entry.held).count();
                out.put("failwell_pins_held", &[("upstream", server.as_str()), ("kind", kind)], held);
            }
        }
    }
}

/// Built-in servers change with this program alone.
fn is_watched(pins: &Pins, member: &Member) -> bool {
    matches!(member, Member::Upstream(_)) && pins.watch(member.name())
}

/// Tells the operator what is new.
fn report(member: &Member, kind: &str, mut looked: Looked, cx: &Context) -> Looked {
    if let Some(trouble) = looked.trouble.take() {
        cx.report(trouble.note("pins", "they last as long as this program"));
    }
    looked.news.iter().for_each(|news| cx.report(told(member, kind, news, &looked)));
    looked
}

/// A change, for the operator: what it is about, and how it differs.
fn told(member: &Member, kind: &str, news: &Held, looked: &Looked) -> Fault {
    let how = match (news.is_new, looked.passes) {
        (true, false) => "is new, and held",
        (true, true) => "is new, and passes",
        (false, false) => "has changed, and is held",
        (false, true) => "has changed, and passes",
    };
    Fault::new(&reason::POLICY_PIN_CHANGED)
        .note("pin", format!("{kind} of {}: {} {how}", member.name(), news.name))
        .note("change", changes(news.before.as_deref(), news.after.as_deref()))
}
