//! Who is a member right now: one immutable list, swapped whole.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use crate::faces::Faces;
use crate::member::Member;
use crate::settings::UpstreamSettings;

/// What a reload did, by the names of servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// Not there before.
    pub added: Vec<String>,
    /// There before, otherwise set up: calls from now on go to the new one.
    pub changed: Vec<String>,
    /// Not there any more.
    pub removed: Vec<String>,
    /// Left alone.
    pub kept: Vec<String>,
    /// Whether callers may see something else of any of them.
    pub ruled: bool,
}

impl Reloaded {
    /// Whether everything is as it was.
    pub fn is_nothing(&self) -> bool {
        !self.ruled && self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// The list of members.
#[derive(Default)]
pub(crate) struct Roster {
    now: ArcSwap<Vec<Member>>,
    changing: Mutex<()>,
}

/// A change of the list.
pub(crate) struct Change {
    pub(crate) told: Reloaded,
    /// Members that are no longer in it, though one of the same name may be.
    pub(crate) gone: Vec<Member>,
}

impl Roster {
    pub(crate) fn all(&self) -> Arc<Vec<Member>> {
        self.now.load_full()
    }

    pub(crate) fn find(&self, name: &str) -> Option<Member> {
        self.now.load().iter().find(|member| member.name() == name).cloned()
    }

    /// Whether this very member is still one.
    pub(crate) fn has(&self, member: &Member) -> bool {
        self.now.load().iter().any(|known| known.is(member))
    }

    /// The new list; an upstream whose settings did not change stays the one it is.
    pub(crate) fn replace(
        &self,
        upstreams: Vec<UpstreamSettings>,
        rooms: impl Iterator<Item = Member>,
        make: impl Fn(UpstreamSettings) -> Arc<Faces>,
    ) -> Change {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.all();
        let same = |settings: &UpstreamSettings| {
            before
                .iter()
                .find(|member| matches!(member, Member::Upstream(known) if *known.settings() == *settings))
        };
        let upstreams = upstreams.into_iter().map(|settings| match same(&settings) {
            Some(member) => member.clone(),
            None => Member::Upstream(make(settings)),
        });
        let after: Vec<Member> = upstreams.chain(rooms).collect();
        let change = Change::between(&before, &after);
        self.now.store(Arc::new(after));
        change
    }
}

impl Change {
    fn between(before: &[Member], after: &[Member]) -> Change {
        let mut told = Reloaded::default();
        for member in after {
            let known = before.iter().find(|known| known.name() == member.name());
            let names = match known {
                Some(known) if known.is(member) => &mut told.kept,
                Some(_) => &mut told.changed,
                None => &mut told.added,
            };
            names.push(member.name().to_owned());
        }
        let is_gone = |known: &&Member| !after.iter().any(|member| member.is(known));
        let gone: Vec<Member> = before.iter().filter(is_gone).cloned().collect();
        let names = gone.iter().map(|member| member.name().to_owned());
        told.removed = names.filter(|name| !told.changed.contains(name)).collect();
        Change { told, gone }
    }
}
