//! Members that must look like members that do not exist, because a caller can see nothing of them.
//!
//! What a member lists is unknown before its first start, and may be obsolete while it is down. The policy alone is
//! therefore asked first: if no item of any name could be visible, the member is neither asked, started nor named.

use failwell_policy::KindVisibility;
use failwell_rpc::Caller;
use failwell_toolbox::{List, ServerFeatures, Support};

use crate::federation::Federation;
use crate::federation::member::Member;

pub(in crate::federation) const LISTS: [List; 4] =
    [List::Tools, List::Prompts, List::Resources, List::Templates];

impl Federation {
    /// Whether the policy lets this caller see nothing of a member, whatever it lists.
    ///
    /// Before a member's first start its offers are unknown. Rules that hide all of one kind then hide the member,
    /// unless other rules show something of another kind: a rule about tools is enough for a server with tools.
    pub(crate) fn is_hidden(&self, member: &Member, caller: &Caller) -> bool {
        if self.visibility.is_clear() {
            return false;
        }
        let offers = member.known_offers();
        let seen = LISTS.map(|list| (list, self.visibility.of_kind(caller, member.name(), list)));
        let can_see = |(list, seen): &(List, KindVisibility)| match (seen, offers) {
            (KindVisibility::Hidden, _) | (KindVisibility::Unrestricted, None) => false,
            (KindVisibility::Restricted, None) => true,
            (_, Some(offers)) => offers_list(offers, *list),
        };
        seen.iter().any(|(_, seen)| *seen == KindVisibility::Hidden) && !seen.iter().any(can_see)
    }

    /// Whether this caller sees nothing of a member, as far as its items are known. Such a member is still asked for
    /// new items, but its failures are not reported to the caller.
    pub(crate) fn is_unseen(&self, member: &Member, caller: &Caller) -> bool {
        if self.visibility.is_clear() {
            return false;
        }
        let name = member.name();
        let mut known = LISTS.iter().map(|list| (*list, self.catalogue.last(name, *list)));
        let has_items =
            LISTS.iter().any(|list| self.catalogue.last(name, *list).is_some_and(|known| !known.is_empty()));
        let sees_nothing = |(list, known)| match known {
            Some(known) => self.visibility.filter(known, name, list, caller).is_empty(),
            None => {
                let is_hidden = self.visibility.of_kind(caller, name, list) == KindVisibility::Hidden;
                is_hidden || member.known_offers().is_some_and(|offers| !offers_list(offers, list))
            }
        };
        self.is_hidden(member, caller) || has_items && known.all(sees_nothing)
    }
}

pub(in crate::federation) fn offers_list(offers: ServerFeatures, list: List) -> bool {
    let offered = match list {
        List::Tools => offers.tools,
        List::Prompts => offers.prompts,
        List::Resources | List::Templates => offers.resources,
    };
    offered == Support::Yes
}
