//! Compares the definitions of upstreams with their pins. A definition that changed is quarantined.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, reason};
use failwell_rpc::Json;
use failwell_store::{ListedItems, PinCheck, QuarantinedItem, ToolPins, describe_change};
use failwell_toolbox::{Context, List, MetricsText};
use tokio_util::sync::CancellationToken;

use crate::federation::member::Member;
use crate::federation::member::member_set::ReloadReport;
use crate::federation::names::naming_member;
use crate::federation::{Federation, Gateway};

/// How often approvals made in another process are looked for.
const LOOK: Duration = Duration::from_millis(500);

/// The kind under which server instructions are pinned.
const INSTRUCTIONS: &str = "instructions";

/// Indices of items in a list.
pub(crate) type ItemIndices = HashSet<usize>;

impl Gateway {
    /// Sets the pins, once. An approval made on the command line takes effect within half a second.
    pub fn set_pins(&self, pins: Arc<ToolPins>) {
        if self.0.pins.set(pins.clone()).is_ok() {
            tokio::spawn(watch_pins(Arc::downgrade(&self.0), pins, self.0.end.clone()));
        }
    }

    /// Compares all lists with their pins again before they are next shown.
    pub fn recheck_pins(&self) {
        self.0.recheck_pins();
    }
}

async fn watch_pins(federation: std::sync::Weak<Federation>, pins: Arc<ToolPins>, end: CancellationToken) {
    loop {
        tokio::select! {
            () = end.cancelled() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let has_changes = pins.has_changed().await;
        let Some(federation) = federation.upgrade() else { return };
        if has_changes {
            federation.recheck_pins();
        }
    }
}

impl Federation {
    fn recheck_pins(&self) {
        self.catalogue.clear();
        self.hubs.announce_reload(&ReloadReport { ruled: true, ..ReloadReport::default() });
    }

    fn pins(&self, member: &Member, list: List) -> Option<(&Arc<ToolPins>, &'static str)> {
        let pins = self.pins.get()?;
        let kind = match list {
            List::Tools => "tools",
            List::Prompts => "prompts",
            List::Resources | List::Templates => return None,
        };
        is_watched(pins, member).then_some((pins, kind))
    }

    /// Whether a member's instructions match their pin. A check that fails counts as a mismatch.
    pub(crate) async fn matches_pin(&self, member: &Member, words: &str, cx: &Context) -> bool {
        let Some(pins) = self.pins.get().filter(|pins| is_watched(pins, member)) else { return true };
        let Ok(item) = Json::of(words) else { return false };
        let items = vec![(INSTRUCTIONS.to_owned(), item)];
        let (server, era) = (member.name().to_owned(), member.era_name(cx));
        let Ok(looked) = Box::pin(pins.check(ListedItems { server, era, kind: INSTRUCTIONS, items })).await
        else {
            return false;
        };
        report(member, INSTRUCTIONS, looked, cx).held.is_empty()
    }

    /// Fetches a paged list whole once, so that later pages can be compared with it.
    pub(crate) async fn ensure_listed(&self, member: &Member, list: List, cx: &Context) -> Result<(), Fault> {
        match self.pins(member, list) {
            Some((pins, kind)) if !pins.has_listed(member.name(), kind) => {
                Box::pin(self.listed(member, list, cx)).await.map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// The items to quarantine. Each change is reported to the operator once.
    pub(crate) async fn check_pins(
        &self,
        member: &Member,
        list: List,
        items: &[Json],
        cx: &Context,
    ) -> Result<ItemIndices, Fault> {
        let Some((pins, kind)) = self.pins(member, list) else { return Ok(ItemIndices::new()) };
        let named = |(place, item): (usize, &Json)| {
            let name = item.raw().as_object()?.get(naming_member(list))?.as_str()?.into_owned();
            Some((place, (name, item.clone())))
        };
        let (places, items): (Vec<usize>, Vec<(String, Json)>) =
            items.iter().enumerate().filter_map(named).unzip();
        let listing = ListedItems { server: member.name().to_owned(), era: member.era_name(cx), kind, items };
        let looked = report(member, kind, Box::pin(pins.check(listing)).await?, cx);
        Ok(looked.held.iter().filter_map(|place| places.get(*place).copied()).collect())
    }

    pub(crate) fn write_quarantined(&self, out: &mut MetricsText) {
        if self.pins.get().is_none() {
            return;
        }
        out.family("failwell_pins_held", "gauge", "Quarantined tools and prompts of an upstream.");
        for (kind, list) in [("tools", List::Tools), ("prompts", List::Prompts)] {
            let seen = self.members_seen_by(out.reader());
            let known = self.catalogue.known(list).into_iter();
            for (server, entries) in known.filter(|(name, _)| seen.iter().any(|one| one.name() == name)) {
                let quarantined = entries.iter().filter(|entry| entry.quarantined).count();
                out.put("failwell_pins_held", &[("upstream", server.as_str()), ("kind", kind)], quarantined);
            }
        }
    }
}

/// Built-in servers change only with this program, so they need no pins.
fn is_watched(pins: &ToolPins, member: &Member) -> bool {
    matches!(member, Member::Upstream(_)) && pins.is_watched(member.name())
}

fn report(member: &Member, kind: &str, mut looked: PinCheck, cx: &Context) -> PinCheck {
    if let Some(trouble) = looked.trouble.take() {
        cx.report(trouble.note("pins", "they last as long as this program"));
    }
    looked.changes.iter().for_each(|change| cx.report(change_fault(member, kind, change, &looked)));
    looked
}

/// Describes a change to the operator.
fn change_fault(member: &Member, kind: &str, change: &QuarantinedItem, looked: &PinCheck) -> Fault {
    let how = match (change.is_new, looked.passes) {
        (true, false) => "is new, and held",
        (true, true) => "is new, and passes",
        (false, false) => "has changed, and is held",
        (false, true) => "has changed, and passes",
    };
    Fault::new(&reason::POLICY_PIN_CHANGED)
        .note("pin", format!("{kind} of {}: {} {how}", member.name(), change.name))
        .note("change", describe_change(change.before.as_deref(), change.after.as_deref()))
}
