//! The operator's access policy: the access rules of the configuration file, and optional Cedar policies.

use failwell_fault::{Fault, reason};

use crate::access_target::{AccessKind, AccessTarget};
use crate::cedar::CedarPolicies;
use crate::resource_uri::ResourceUri;
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

/// The items of one kind that a caller could see on a server, whatever the server lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KindVisibility {
    /// The policy says nothing about them.
    Unrestricted,
    /// At least some names would be visible.
    Restricted,
    /// None, whatever they are called.
    Hidden,
}

/// A name that no policy mentions: it stands for all such names.
const UNMENTIONED: &str = "\0";

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

    /// Returns true if both the rules and the Cedar policies let the caller see the resource, under every
    /// URI that a server takes for it. Without a normal form, only a policy that does not concern the
    /// server's resources lets it pass.
    pub fn shows_resource(&self, caller: &Caller, server: &str, uri: Option<&ResourceUri>) -> bool {
        if self.is_clear() {
            return true;
        }
        let key = self.view_key(caller);
        let view = self.view(&key, server, ItemKind::Resources);
        let target = |name| AccessTarget { server, sort: ItemKind::Resources, name };
        match uri {
            None => view.is_clear() && self.cedar.is_none(),
            Some(uri) => {
                view.shows_resource(uri) && uri.names().all(|name| self.reveals(caller, target(name)))
            }
        }
    }

    /// Refuses a use of a resource that the Cedar policies forbid.
    pub fn admit_resource(&self, caller: &Caller, server: &str, uri: &ResourceUri) -> Result<(), Fault> {
        let target = |name| AccessTarget { server, sort: ItemKind::Resources, name };
        uri.names().try_for_each(|name| self.admit(caller, target(name), None))
    }

    /// Returns what the caller could see of one kind on a server whose items are not known.
    pub fn visibility(&self, caller: &Caller, server: &str, sort: ItemKind) -> KindVisibility {
        let key = self.view_key(caller);
        let view = self.view(&key, server, sort);
        let can_show = match &self.cedar {
            None if view.is_clear() => return KindVisibility::Unrestricted,
            None => view.can_show(),
            // Cedar compares whole names only, so every unmentioned name is decided like any other.
            Some(policies) => {
                let reveals = |name: &str| self.reveals(caller, AccessTarget { server, sort, name });
                let mut mentioned = policies.mentioned(server, sort).into_iter();
                view.can_show() && reveals(UNMENTIONED)
                    || mentioned.any(|name| view.shows(&name) && reveals(&name))
            }
        };
        if can_show { KindVisibility::Restricted } else { KindVisibility::Hidden }
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

#[cfg(all(test, feature = "cedar"))]
mod tests {
    use super::{AccessPolicy, KindVisibility};
    use crate::rules::{AccessRules, ItemKind};
    use crate::{AccessRule, CallerMatcher, CedarPolicies, ItemRules, Pattern};
    use failwell_rpc::Caller;

    #[test]
    fn cedar_tells_what_could_be_seen_of_an_unknown_server() {
        let text = r#"
            permit (principal == Caller::"key:all", action, resource);
            permit (principal == Caller::"key:one", action, resource == Tool::"secret/x");
            permit (principal == Caller::"key:when", action, resource) when { resource == Tool::"secret/x" };
            permit (principal == Caller::"key:files", action, resource in Server::"files");
            permit (principal == Caller::"key:not", action, resource);
            forbid (principal == Caller::"key:not", action, resource in Server::"secret");
            permit (principal == Caller::"key:ruled", action, resource == Tool::"secret/hidden");
        "#;
        let hide = ItemRules { hide: vec![Pattern::new("hidden")], ..ItemRules::default() };
        let rule = AccessRule {
            callers: CallerMatcher::new([]),
            servers: Vec::new(),
            sort: ItemKind::Tools,
            items: hide,
        };
        let policy =
            AccessPolicy::new(AccessRules::new(vec![rule]), Some(CedarPolicies::parse(text).expect("valid")));
        for (name, sort, expected) in [
            ("all", ItemKind::Tools, KindVisibility::Restricted),
            ("all", ItemKind::Prompts, KindVisibility::Restricted),
            ("one", ItemKind::Tools, KindVisibility::Restricted),
            ("one", ItemKind::Prompts, KindVisibility::Hidden),
            ("when", ItemKind::Tools, KindVisibility::Restricted),
            ("files", ItemKind::Tools, KindVisibility::Hidden),
            ("not", ItemKind::Tools, KindVisibility::Hidden),
            ("ruled", ItemKind::Tools, KindVisibility::Hidden),
            ("stranger", ItemKind::Resources, KindVisibility::Hidden),
        ] {
            let seen = policy.visibility(&Caller::keyholder(name), "secret", sort);
            assert_eq!(seen, expected, "{name} {sort:?}");
        }
    }
}
