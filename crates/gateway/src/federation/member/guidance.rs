//! Instructions of members, as far as they are already known: no member is started or waited for.

use std::sync::Arc;

use failwell_rpc::Caller;
use failwell_toolbox::{Context, Guidance, ServerInstructions, Setting};

use crate::federation::Federation;
use crate::federation::member::Member;
use crate::federation::visibility::hidden::LISTS;

impl Federation {
    /// The instructions of all members, for clients of `/mcp`.
    pub(crate) async fn guidance(&self, cx: &Context) -> Guidance {
        let mut quoted = Vec::new();
        for member in self.members().iter() {
            quoted.extend(self.instructions_of(member, cx).await);
        }
        Guidance { own: self.info.instructions, quoted, setting: Setting::UnderNames }
    }

    /// The instructions of one member, for clients of `/mcp/<server>`.
    pub(crate) async fn guidance_of(&self, member: &Member, cx: &Context) -> Guidance {
        let quoted = self.instructions_of(member, cx).await.into_iter().collect();
        Guidance { own: "", quoted, setting: Setting::Alone }
    }

    async fn instructions_of(&self, member: &Member, cx: &Context) -> Option<ServerInstructions> {
        let words: Arc<str> = match member {
            Member::Upstream(upstream) => upstream.for_client(cx).instructions()?,
            Member::BuiltIn(_, server) => server.info().instructions.into(),
        };
        let passes = !words.trim().is_empty()
            && self.sees_all(member, &cx.client().caller)
            && self.matches_pin(member, &words, cx).await;
        passes.then(|| ServerInstructions { server: member.name().to_owned(), words })
    }

    /// Whether the caller sees every item of a member. Instructions may name any tool of their server.
    fn sees_all(&self, member: &Member, caller: &Caller) -> bool {
        if self.visibility.is_clear() {
            return true;
        }
        if self.is_hidden(member, caller) {
            return false;
        }
        let name = member.name();
        let whole = LISTS.map(|list| {
            let known = self.catalogue.last(name, list)?;
            let seen = self.visibility.filter(known.clone(), name, list, caller);
            Some(seen.len() == known.len())
        });
        // As long as the tools are not listed, hidden ones cannot be ruled out.
        whole.first().is_some_and(Option::is_some) && !whole.contains(&Some(false))
    }
}
