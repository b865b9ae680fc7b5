//! Getting in: what happens to a frob between asking for it and the token.

use super::{FrobState, Permission, State};

impl State {
    /// Records the user's decision. False when no login waits with this frob.
    pub(crate) fn decide(&mut self, frob: &str, decision: FrobState) -> bool {
        match self.frobs.get_mut(frob) {
            Some(known @ FrobState::Waiting) => {
                *known = decision;
                true
            }
            _ => false,
        }
    }

    /// The token of an approved frob, once.
    pub(crate) fn redeem(&mut self, frob: &str) -> Option<(String, Permission)> {
        let Some(FrobState::Approved(permission)) = self.frobs.get(frob).copied() else { return None };
        self.frobs.remove(frob);
        Some((self.new_token(permission), permission))
    }
}
