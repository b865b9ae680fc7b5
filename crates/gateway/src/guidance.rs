//! What members say of how they are to be used, as far as it is known already: nobody is started or waited for.

use std::sync::Arc;

use failwell_policy::Caller;
use failwell_server::{Context, Guidance, List, Quoted, Setting};

use crate::gateway::Inner;
use crate::member::Member;

const LISTS: [List; 4] = [List::Tools, List::Prompts, List::Resources, List::Templates];

impl Inner {
    /// The words of all members, for one who sees all of them.
    pub(crate) async fn guidance(&self, cx: &Context) -> Guidance {
        let mut quoted = Vec::new();
        for member in self.members().iter() {
            quoted.extend(self.words_of(member, cx).await);
        }
        Guidance { own: self.info.instructions, quoted, setting: Setting::UnderNames }
    }

    /// The words of one member, for one who sees nobody else.
    pub(crate) async fn guidance_of(&self, member: &Member, cx: &Context) -> Guidance {
        let quoted = self.words_of(member, cx).await.into_iter().collect();
        Guidance { own: "", quoted, setting: Setting::Alone }
    }

    async fn words_of(&self, member: &Member, cx: &Context) -> Option<Quoted> {
        let words: Arc<str> = match member {
            Member::Upstream(upstream) => upstream.of(cx).instructions()?,
            Member::BuiltIn(_, room) => room.info().instructions.into(),
        };
        let passes = !words.trim().is_empty()
            && self.sees_all(member, &cx.client().caller)
            && self.is_vouched_for(member, &words, cx).await;
        passes.then(|| Quoted { server: member.name().to_owned(), words })
    }

    /// Whether nothing of a member is hidden from a caller. What a server says of itself may name any of its tools.
    fn sees_all(&self, member: &Member, caller: &Caller) -> bool {
        if self.veil.is_clear() {
            return true;
        }
        let name = member.name();
        let whole = LISTS.map(|list| {
            let known = self.catalogue.last(name, list)?;
            let seen = self.veil.over(known.clone(), name, list, caller);
            Some(seen.len() == known.len())
        });
        // Of one whose tools nobody has listed yet, nobody knows what there is to hide.
        whole.first().is_some_and(Option::is_some) && !whole.contains(&Some(false))
    }
}
