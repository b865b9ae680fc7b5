//! Access rules: the tools, prompts and resources that each caller can see and use.
//!
//! A rule selects callers, servers and items. Rules only restrict: a caller sees an item if every matching
//! rule allows it. Rules use the server's own names; the gateway adds its prefix afterwards.

mod argument;
mod caller_matcher;
mod item_rules;
mod pattern;

use std::sync::Arc;

use failwell_rpc::Caller;

use crate::resource_uri::ResourceUri;

pub use argument::ArgumentCheck;
pub use caller_matcher::CallerMatcher;
pub use item_rules::ItemRules;
pub use pattern::Pattern;

/// The kind of item that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemKind {
    Tools,
    Prompts,
    /// Resources and resource templates.
    Resources,
}

#[derive(Debug, Clone)]
pub struct AccessRule {
    pub callers: CallerMatcher,
    /// Servers that the rule applies to; empty means all.
    pub servers: Vec<Pattern>,
    pub sort: ItemKind,
    pub items: ItemRules,
}

/// All rules, in the order of the configuration file.
#[derive(Debug, Clone, Default)]
pub struct AccessRules(Arc<[AccessRule]>);

/// The indexes of the rules that match one caller. Callers with equal values see the same items, so computed
/// views are shared between them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MatchedRules(Box<[u16]>);

impl AccessRules {
    /// Maximum number of rules.
    pub const MOST: usize = 1_000;

    pub fn new(rules: Vec<AccessRule>) -> AccessRules {
        let normal = |rule: AccessRule| match rule.sort {
            ItemKind::Resources => AccessRule { items: rule.items.of_resources(), ..rule },
            ItemKind::Tools | ItemKind::Prompts => rule,
        };
        AccessRules(rules.into_iter().take(AccessRules::MOST).map(normal).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if two callers can have different views.
    pub fn tell_callers_apart(&self) -> bool {
        self.0.iter().any(|rule| !rule.callers.matches_all())
    }

    /// Returns true if any rule requires human approval.
    pub fn ask_for_approval(&self) -> bool {
        self.0.iter().any(|rule| !rule.items.approve.is_empty())
    }

    /// The rules that match this caller.
    pub fn matched_by(&self, caller: &Caller) -> MatchedRules {
        let about = |(index, rule): (usize, &AccessRule)| {
            rule.callers.includes(caller).then(|| u16::try_from(index).unwrap_or(u16::MAX))
        };
        MatchedRules(self.0.iter().enumerate().filter_map(about).collect())
    }

    /// The rules about one kind of item on one server, for callers that match `matched`.
    pub fn view<'a>(&'a self, matched: &'a MatchedRules, server: &str, sort: ItemKind) -> ServerView<'a> {
        let rules = matched.0.iter().filter_map(|index| self.0.get(usize::from(*index)));
        let fits = |rule: &&AccessRule| {
            rule.sort == sort
                && (rule.servers.is_empty() || rule.servers.iter().any(|pattern| pattern.matches(server)))
        };
        ServerView(rules.filter(fits).map(|rule| &rule.items).collect())
    }
}

/// The rules about one kind of item on one server, for one caller.
#[derive(Debug)]
pub struct ServerView<'a>(Vec<&'a ItemRules>);

impl<'a> ServerView<'a> {
    /// Returns true if no rule applies, so that all items stay as the server lists them.
    pub fn is_clear(&self) -> bool {
        self.0.is_empty()
    }

    pub fn shows(&self, name: &str) -> bool {
        self.0.iter().all(|items| items.show(name))
    }

    /// Returns true if a rule shows this resource, and none hides it under a URI that a server takes for it.
    pub fn shows_resource(&self, uri: &ResourceUri) -> bool {
        let mut others = uri.also().chain(uri.with_doubled_slashes());
        self.shows(uri.key()) && !others.any(|other| self.0.iter().any(|items| items.hide(other)))
    }

    /// Returns true unless no name at all can be shown. Where rules intersect, it may return true although no
    /// name fits them all.
    pub fn can_show(&self) -> bool {
        let hidden =
            |pattern: &Pattern| self.0.iter().any(|items| items.hide.iter().any(|hide| hide.covers(pattern)));
        let fits = |pattern: &Pattern| pattern.as_name().map_or(!hidden(pattern), |name| self.shows(name));
        let allowed = self.0.iter().filter_map(|items| items.allow.as_ref());
        !hidden(&Pattern::new("*")) && allowed.into_iter().all(|patterns| patterns.iter().any(fits))
    }

    /// The name that callers see; the last rule that renames the item wins.
    pub fn name<'n>(&self, name: &'n str) -> &'n str
    where
        'a: 'n,
    {
        self.0.iter().rev().find_map(|items| items.renamed(name)).unwrap_or(name)
    }

    /// The description that replaces the server's own; the last rule that has one wins.
    pub fn description(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find_map(|items| items.described(name))
    }

    /// Returns true if at least one rule requires human approval for the item.
    pub fn wants_approval(&self, name: &str) -> bool {
        self.0.iter().any(|items| items.wants_approval(name))
    }

    /// Checks on the arguments of a tool, in addition to its own schema.
    pub fn argument_checks<'n>(&'n self, name: &'n str) -> impl Iterator<Item = &'a ArgumentCheck> + 'n {
        self.0.iter().flat_map(move |items| items.argument_checks(name))
    }
}

#[cfg(test)]
mod tests {
    use super::{AccessRule, AccessRules, CallerMatcher, ItemKind, ItemRules, Pattern};
    use failwell_rpc::Caller;

    fn rule(callers: &[&str], servers: &[&str], items: ItemRules) -> AccessRule {
        let servers = servers.iter().map(|text| Pattern::new(text)).collect();
        AccessRule {
            callers: CallerMatcher::new(callers.iter().copied()),
            servers,
            sort: ItemKind::Tools,
            items,
        }
    }

    fn hide(names: &[&str]) -> ItemRules {
        ItemRules { hide: names.iter().map(|name| Pattern::new(name)).collect(), ..ItemRules::default() }
    }

    fn allow(names: &[&str]) -> ItemRules {
        ItemRules {
            allow: Some(names.iter().map(|name| Pattern::new(name)).collect()),
            ..ItemRules::default()
        }
    }

    fn shows(rules: &AccessRules, caller: &Caller, server: &str, name: &str) -> bool {
        rules.view(&rules.matched_by(caller), server, ItemKind::Tools).shows(name)
    }

    #[test]
    fn rules_take_away_and_never_give_back() {
        let rules = AccessRules::new(vec![
            rule(&[], &["ev"], allow(&["echo", "read_*"])),
            rule(&["role:intern"], &[], hide(&["read_secret"])),
            rule(&["!role:admin"], &["db*"], hide(&["drop"])),
        ]);
        let (plain, intern) = (Caller::keyholder("a"), Caller::keyholder("b").in_roles(["intern"]));
        let admin = Caller::keyholder("c").in_roles(["admin"]);
        for (caller, server, name, seen) in [
            (&plain, "ev", "echo", true),
            (&plain, "ev", "read_secret", true),
            (&plain, "ev", "crash", false),
            (&plain, "other", "crash", true),
            (&intern, "ev", "read_secret", false),
            (&intern, "ev", "read_public", true),
            (&intern, "other", "read_secret", false),
            (&plain, "db1", "drop", false),
            (&admin, "db1", "drop", true),
        ] {
            assert_eq!(shows(&rules, caller, server, name), seen, "{caller} {server} {name}");
        }
        assert!(rules.tell_callers_apart());
        assert_ne!(rules.matched_by(&plain), rules.matched_by(&intern));
        assert_eq!(rules.matched_by(&plain), rules.matched_by(&Caller::anonymous()));
    }

    #[test]
    fn one_rule_that_wants_approval_is_enough() {
        let approve = |names: &[&str]| ItemRules {
            approve: names.iter().map(|name| Pattern::new(name)).collect(),
            ..ItemRules::default()
        };
        let rules = AccessRules::new(vec![
            rule(&[], &["ev"], approve(&["write_*"])),
            rule(&["!role:admin"], &["db*"], approve(&["drop"])),
            rule(&[], &[], hide(&["gone"])),
        ]);
        let (plain, admin) = (Caller::keyholder("a"), Caller::keyholder("c").in_roles(["admin"]));
        for (caller, server, name, wanted) in [
            (&plain, "ev", "write_file", true),
            (&admin, "ev", "write_file", true),
            (&plain, "ev", "read_file", false),
            (&plain, "other", "write_file", false),
            (&plain, "db1", "drop", true),
            (&admin, "db1", "drop", false),
        ] {
            let standing = rules.matched_by(caller);
            let view = rules.view(&standing, server, ItemKind::Tools);
            assert_eq!(view.wants_approval(name), wanted, "{caller} {server} {name}");
        }
        assert!(rules.ask_for_approval());
        assert!(!AccessRules::new(vec![rule(&[], &[], hide(&["x"]))]).ask_for_approval());
    }

    #[test]
    fn other_sorts_are_not_touched_and_no_rules_are_clear() {
        let rules = AccessRules::new(vec![rule(&[], &[], hide(&["*"]))]);
        let standing = rules.matched_by(&Caller::anonymous());
        assert!(rules.view(&standing, "ev", ItemKind::Prompts).is_clear());
        assert!(!rules.view(&standing, "ev", ItemKind::Tools).shows("anything"));
        assert!(!rules.tell_callers_apart() && AccessRules::default().is_empty());
    }

    #[test]
    fn rules_that_leave_no_name_are_recognised() {
        let both =
            |allowed: &[&str], hidden: &[&str]| ItemRules { hide: hide(hidden).hide, ..allow(allowed) };
        for (rules, can_show) in [
            (vec![], true),
            (vec![hide(&["a"])], true),
            (vec![hide(&["*"])], false),
            (vec![hide(&["a*", "**"])], false),
            (vec![allow(&[])], false),
            (vec![allow(&["a", "b"])], true),
            (vec![allow(&["a", "b"]), hide(&["b"]), hide(&["a"])], false),
            (vec![allow(&["a", "b"]), hide(&["a"])], true),
            (vec![both(&["read_*"], &["read_*"])], false),
            (vec![both(&["read_*"], &["read_f*"])], true),
            (vec![allow(&["read_*"]), allow(&[])], false),
            (vec![allow(&["a"]), allow(&["b"])], false),
        ] {
            let shown = format!("{rules:?}");
            let rules = AccessRules::new(rules.into_iter().map(|items| rule(&[], &[], items)).collect());
            let standing = rules.matched_by(&Caller::anonymous());
            assert_eq!(rules.view(&standing, "ev", ItemKind::Tools).can_show(), can_show, "{shown}");
        }
    }

    #[test]
    fn the_last_rule_names_and_describes() {
        let naming = |new: &str| ItemRules {
            rename: vec![("echo".to_owned(), new.to_owned())],
            describe: vec![(Pattern::new("ec*"), format!("about {new}"))],
            ..ItemRules::default()
        };
        let rules =
            AccessRules::new(vec![rule(&[], &[], naming("say")), rule(&["role:loud"], &[], naming("shout"))]);
        let loud = rules.matched_by(&Caller::keyholder("x").in_roles(["loud"]));
        let view = rules.view(&loud, "ev", ItemKind::Tools);
        assert_eq!((view.name("echo"), view.description("echo")), ("shout", Some("about shout")));
        assert_eq!((view.name("other"), view.description("other")), ("other", None));
        let plain = rules.matched_by(&Caller::anonymous());
        assert_eq!(rules.view(&plain, "ev", ItemKind::Tools).name("echo"), "say");
    }
}
