//! The operator's access policy: the access rules of the configuration file, and optional Cedar policies.

use failwell_fault::{Fault, reason};

use crate::access_target::{AccessKind, AccessTarget};
use crate::cedar::CedarPolicies;
use crate::rules::{AccessRules, ItemKind, MatchedRules, ServerView};
use failwell_rpc::Caller;

#[derive(Debug, Default)]
pub struct AccessPolicy {
    rules: AccessRules,
    cedar: Option<CedarPolicies>,
    /// Computed once, so that a call without approval rules needs a single check.
    asks: bool,
}

/// Identifies a group of callers with the same view. Views are cached under this key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ViewKey {
    matched: MatchedRules,
    /// The caller's name and roles. Set with Cedar policies only, which can distinguish any two callers.
    person: Option<Box<str>>,
}

impl AccessPolicy {
    pub fn new(rules: AccessRules, cedar: Option<CedarPolicies>) -> AccessPolicy {
        AccessPolicy { asks: rules.ask_for_approval(), rules, cedar }
    }

    /// Returns true if there are neither rules nor Cedar policies, so that every check passes.
    pub fn is_clear(&self) -> bool {
        self.rules.is_empty() && self.cedar.is_none()
    }

    /// Returns true if two callers can have different views.
    pub fn tells_callers_apart(&self) -> bool {
        self.cedar.is_some() || self.rules.tell_callers_apart()
    }

    pub fn view_key(&self, caller: &Caller) -> ViewKey {
        let person = self.cedar.as_ref().map(|_| {
            let roles: Vec<&str> = caller.roles().collect();
            format!("{caller}\n{}", roles.join("\n")).into()
        });
        ViewKey { matched: self.rules.matched_by(caller), person }
    }

    /// Returns the rules that apply to one kind of item on one server.
    pub fn view<'a>(&'a self, key: &'a ViewKey, server: &str, sort: ItemKind) -> ServerView<'a> {
        self.rules.view(&key.matched, server, sort)
    }

    /// Returns true if the Cedar policies let the caller see the item, or if there are none.
    pub fn reveals(&self, caller: &Caller, thing: AccessTarget<'_>) -> bool {
        self.cedar.as_ref().is_none_or(|policies| policies.permits(caller, AccessKind::See, thing, None))
    }

    pub fn has_cedar(&self) -> bool {
        self.cedar.is_some()
    }

    /// Returns true if both the rules and the Cedar policies let the caller see the item.
    pub fn shows(&self, caller: &Caller, thing: AccessTarget<'_>) -> bool {
        self.is_clear()
            || self.view(&self.view_key(caller), thing.server, thing.sort).shows(thing.name)
                && self.reveals(caller, thing)
    }

    /// Returns true if this caller needs human approval to use the item.
    pub fn wants_approval(&self, caller: &Caller, thing: AccessTarget<'_>) -> bool {
        self.asks && self.view(&self.view_key(caller), thing.server, thing.sort).wants_approval(thing.name)
    }

    /// Refuses a use that the Cedar policies forbid, or arguments that fail a check of the rules.
    pub fn admit(
        &self,
        caller: &Caller,
        thing: AccessTarget<'_>,
        arguments: Option<&str>,
    ) -> Result<(), Fault> {
        if self.is_clear() {
            return Ok(());
        }
        if let Some(arguments) = arguments {
            let key = self.view_key(caller);
            let view = self.view(&key, thing.server, thing.sort);
            view.argument_checks(thing.name).try_for_each(|check| check.check(arguments))?;
        }
        let permitted = self
            .cedar
            .as_ref()
            .is_none_or(|policies| policies.permits(caller, AccessKind::Use, thing, arguments));
        if permitted { Ok(()) } else { Err(Fault::new(&reason::POLICY_DENIED)) }
    }
}
