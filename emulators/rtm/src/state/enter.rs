//! Getting in: what happens to a frob between asking for it and the token.

use super::{Frob, Permission, State};

impl State {
    /// The person said yes or no. False when nobody waits for it.
    pub(crate) fn decide(&mut self, frob: &str, decision: Frob) -> bool {
        match self.frobs.get_mut(frob) {
            Some(known @ Frob::Waiting) => {
                *known = decision;
                true
            }
            _ => false,
        }
    }

    /// The token of an approved frob, once.
    pub(crate) fn redeem(&mut self, frob: &str) -> Option<(String, Permission)> {
        let Some(Frob::Approved(permission)) = self.frobs.get(frob).copied() else { return None };
        self.frobs.remove(frob);
        Some((self.new_token(permission), permission))
    }
}
