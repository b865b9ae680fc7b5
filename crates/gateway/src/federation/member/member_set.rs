//! The current members: an immutable list, replaced as a whole.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use crate::federation::member::Member;
use crate::upstream::{DualEraUpstream, UpstreamSettings};

/// The result of a reload, by server names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReloadReport {
    pub added: Vec<String>,
    /// Replaced, because the settings changed.
    pub changed: Vec<String>,
    pub removed: Vec<String>,
    /// Unchanged.
    pub unchanged: Vec<String>,
    /// The access policy changed, so callers may see other lists.
    pub ruled: bool,
}

impl ReloadReport {
    /// Whether the reload changed nothing.
    pub fn is_nothing(&self) -> bool {
        !self.ruled && self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

#[derive(Default)]
pub(crate) struct MemberSet {
    now: ArcSwap<Vec<Member>>,
    changing: Mutex<()>,
}

pub(crate) struct MembershipChange {
    pub(crate) report: ReloadReport,
    /// Members that were removed or replaced.
    pub(crate) gone: Vec<Member>,
}

impl MemberSet {
    pub(crate) fn all(&self) -> Arc<Vec<Member>> {
        self.now.load_full()
    }

    pub(crate) fn find(&self, name: &str) -> Option<Member> {
        self.now.load().iter().find(|member| member.name() == name).cloned()
    }

    /// Whether this object, not only its name, is still a member.
    pub(crate) fn has(&self, member: &Member) -> bool {
        self.now.load().iter().any(|known| known.is(member))
    }

    /// Replaces the list. An upstream with unchanged settings is reused.
    pub(crate) fn replace(
        &self,
        upstreams: Vec<UpstreamSettings>,
        built_in: impl Iterator<Item = Member>,
        make: impl Fn(UpstreamSettings) -> Arc<DualEraUpstream>,
    ) -> MembershipChange {
        let _one_at_a_time = self.changing.lock();
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
        let after: Vec<Member> = upstreams.chain(built_in).collect();
        let change = MembershipChange::between(&before, &after);
        self.now.store(Arc::new(after));
        change
    }
}

impl MembershipChange {
    fn between(before: &[Member], after: &[Member]) -> MembershipChange {
        let mut report = ReloadReport::default();
        for member in after {
            let known = before.iter().find(|known| known.name() == member.name());
            let names = match known {
                Some(known) if known.is(member) => &mut report.unchanged,
                Some(_) => &mut report.changed,
                None => &mut report.added,
            };
            names.push(member.name().to_owned());
        }
        let is_gone = |known: &&Member| !after.iter().any(|member| member.is(known));
        let gone: Vec<Member> = before.iter().filter(is_gone).cloned().collect();
        let names = gone.iter().map(|member| member.name().to_owned());
        report.removed = names.filter(|name| !report.changed.contains(name)).collect();
        MembershipChange { report, gone }
    }
}
