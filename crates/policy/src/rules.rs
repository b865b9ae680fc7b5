//! What a caller sees of the servers, and what it may do there.
//!
//! A rule says whom it is about, which servers, and what of their tools, prompts and resources. Rules only ever
//! take away: an item is there for a caller when every rule about both lets it be. Names are those the server itself
//! uses; the gateway's prefix comes after.

mod argument;
mod items;
mod pattern;
mod whom;

use std::sync::Arc;

use crate::Caller;

pub use argument::ArgumentCheck;
pub use items::Items;
pub use pattern::Pattern;
pub use whom::Whom;

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Tools.
    Tools,
    /// Prompts.
    Prompts,
    /// Resources and their templates.
    Resources,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Whom it is about.
    pub callers: Whom,
    /// Which servers; none means all.
    pub servers: Vec<Pattern>,
    /// What it is about there.
    pub sort: Sort,
    /// What it says.
    pub items: Items,
}

/// All rules, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct Rules(Arc<[Rule]>);

/// The rules about one caller. Callers with the same rules see the same, so what is worked out for one can be kept
/// for all of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Standing(Box<[u16]>);

impl Rules {
    /// The most rules there may be.
    pub const MOST: usize = 1_000;

    /// Rules in this order.
    pub fn new(rules: Vec<Rule>) -> Rules {
        Rules(rules.into_iter().take(Rules::MOST).collect())
    }

    /// Whether there is nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether two callers may see different things.
    pub fn tell_callers_apart(&self) -> bool {
        self.0.iter().any(|rule| !rule.callers.is_everybody())
    }

    /// Whether anything of anybody needs a person's yes.
    pub fn ask_for_approval(&self) -> bool {
        self.0.iter().any(|rule| !rule.items.approve.is_empty())
    }

    /// Which rules are about this caller.
    pub fn standing(&self, caller: &Caller) -> Standing {
        let about = |(index, rule): (usize, &Rule)| {
            rule.callers.includes(caller).then(|| u16::try_from(index).unwrap_or(u16::MAX))
        };
        Standing(self.0.iter().enumerate().filter_map(about).collect())
    }

    /// What the rules say of one sort of thing on one server, to somebody of this standing.
    pub fn about<'a>(&'a self, standing: &'a Standing, server: &str, sort: Sort) -> View<'a> {
        let rules = standing.0.iter().filter_map(|index| self.0.get(usize::from(*index)));
        let fits = |rule: &&Rule| {
            rule.sort == sort
                && (rule.servers.is_empty() || rule.servers.iter().any(|pattern| pattern.matches(server)))
        };
        View(rules.filter(fits).map(|rule| &rule.items).collect())
    }
}

/// What the rules say of one sort of thing on one server.
#[derive(Debug)]
pub struct View<'a>(Vec<&'a Items>);

impl<'a> View<'a> {
    /// Whether everything is there, as it is.
    pub fn is_clear(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an item is there.
    pub fn shows(&self, name: &str) -> bool {
        self.0.iter().all(|items| items.show(name))
    }

    /// What an item is called; the last rule that names it wins.
    pub fn name<'n>(&self, name: &'n str) -> &'n str
    where
        'a: 'n,
    {
        self.0.iter().rev().find_map(|items| items.renamed(name)).unwrap_or(name)
    }

    /// How an item is described, where a rule says so.
    pub fn description(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find_map(|items| items.described(name))
    }

    /// Whether a person has to say yes before it runs: one rule that wants it is enough.
    pub fn wants_approval(&self, name: &str) -> bool {
        self.0.iter().any(|items| items.wants_approval(name))
    }

    /// What the arguments of a tool must satisfy beyond its own schema.
    pub fn argument_checks<'n>(&'n self, name: &'n str) -> impl Iterator<Item = &'a ArgumentCheck> + 'n {
        self.0.iter().flat_map(move |items| items.argument_checks(name))
    }
}

#[cfg(test)]
mod tests {
    use super::{Items, Pattern, Rule, Rules, Sort, Whom};
    use crate::Caller;

    fn rule(callers: &[&str], servers: &[&str], items: Items) -> Rule {
        let servers = servers.iter().map(|text| Pattern::new(text)).collect();
        Rule { callers: Whom::new(callers.iter().copied()), servers, sort: Sort::Tools, items }
    }

    fn hide(names: &[&str]) -> Items {
        Items { hide: names.iter().map(|name| Pattern::new(name)).collect(), ..Items::default() }
    }

    fn allow(names: &[&str]) -> Items {
        Items { allow: Some(names.iter().map(|name| Pattern::new(name)).collect()), ..Items::default() }
    }

    fn shows(rules: &Rules, caller: &Caller, server: &str, name: &str) -> bool {
        rules.about(&rules.standing(caller), server, Sort::Tools).shows(name)
    }

    #[test]
    fn rules_take_away_and_never_give_back() {
        let rules = Rules::new(vec![
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
        assert_ne!(rules.standing(&plain), rules.standing(&intern));
        assert_eq!(rules.standing(&plain), rules.standing(&Caller::anonymous()));
    }

    #[test]
    fn one_rule_that_wants_approval_is_enough() {
        let approve = |names: &[&str]| Items {
            approve: names.iter().map(|name| Pattern::new(name)).collect(),
            ..Items::default()
        };
        let rules = Rules::new(vec![
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
            let standing = rules.standing(caller);
            let view = rules.about(&standing, server, Sort::Tools);
            assert_eq!(view.wants_approval(name), wanted, "{caller} {server} {name}");
        }
        assert!(rules.ask_for_approval());
        assert!(!Rules::new(vec![rule(&[], &[], hide(&["x"]))]).ask_for_approval());
    }

    #[test]
    fn other_sorts_are_not_touched_and_no_rules_are_clear() {
        let rules = Rules::new(vec![rule(&[], &[], hide(&["*"]))]);
        let standing = rules.standing(&Caller::anonymous());
        assert!(rules.about(&standing, "ev", Sort::Prompts).is_clear());
        assert!(!rules.about(&standing, "ev", Sort::Tools).shows("anything"));
        assert!(!rules.tell_callers_apart() && Rules::default().is_empty());
    }

    #[test]
    fn the_last_rule_names_and_describes() {
        let naming = |new: &str| Items {
            rename: vec![("echo".to_owned(), new.to_owned())],
            describe: vec![(Pattern::new("ec*"), format!("about {new}"))],
            ..Items::default()
        };
        let rules =
            Rules::new(vec![rule(&[], &[], naming("say")), rule(&["role:loud"], &[], naming("shout"))]);
        let loud = rules.standing(&Caller::keyholder("x").in_roles(["loud"]));
        let view = rules.about(&loud, "ev", Sort::Tools);
        assert_eq!((view.name("echo"), view.description("echo")), ("shout", Some("about shout")));
        assert_eq!((view.name("other"), view.description("other")), ("other", None));
        let plain = rules.standing(&Caller::anonymous());
        assert_eq!(rules.about(&plain, "ev", Sort::Tools).name("echo"), "say");
    }
}
