use failwell_rpc::Direction;
use std::collections::BTreeMap;

use super::category::{Category, Guard};

/// The action of a guard on its findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// The guard does not scan.
    Off,
    /// The message passes; the finding is recorded.
    AuditOnly,
    /// The finding is replaced with a label.
    Redact,
    /// The message is blocked.
    Block,
}

impl Action {
    pub const ALL: [Action; 4] = [Action::Block, Action::Redact, Action::AuditOnly, Action::Off];

    /// The name in the configuration file.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Off => "off",
            Action::AuditOnly => "audit_only",
            Action::Redact => "redact",
            Action::Block => "block",
        }
    }

    pub fn parse(name: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// The sensitivity of the injection guard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sensitivity {
    /// Matches phrases that hardly ever occur in harmless text.
    Relaxed,
    /// Also matches phrases that occur in harmless text now and then.
    #[default]
    Standard,
    /// Matches everything that could be an injection.
    Strict,
}

impl Sensitivity {
    pub const ALL: [Sensitivity; 3] = [Sensitivity::Relaxed, Sensitivity::Standard, Sensitivity::Strict];

    /// The name in the configuration file.
    pub fn as_str(self) -> &'static str {
        match self {
            Sensitivity::Relaxed => "relaxed",
            Sensitivity::Standard => "standard",
            Sensitivity::Strict => "strict",
        }
    }

    pub fn parse(name: &str) -> Option<Sensitivity> {
        Sensitivity::ALL.into_iter().find(|sensitivity| sensitivity.as_str() == name)
    }
}

/// The settings of one guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardRule {
    /// The default action for all servers.
    pub action: Action,
    /// Actions for single servers, by name.
    pub servers: BTreeMap<String, Action>,
    /// Categories to detect; `None` selects all that are on by default.
    pub categories: Option<Vec<Category>>,
    /// Message kinds to scan.
    pub directions: Vec<Direction>,
}

impl GuardRule {
    /// A rule for all categories, directions and servers.
    pub fn everywhere(action: Action) -> GuardRule {
        GuardRule { action, servers: BTreeMap::new(), categories: None, directions: Direction::ALL.to_vec() }
    }

    pub(super) fn action_for(&self, server: &str) -> Action {
        self.servers.get(server).copied().unwrap_or(self.action)
    }

    /// Returns true if the rule redacts or blocks for any server.
    pub(super) fn redacts_or_blocks(&self) -> bool {
        let mut actions = self.servers.values().chain([&self.action]);
        actions.any(|action| matches!(action, Action::Redact | Action::Block))
    }

    /// The categories as a bit set.
    pub(super) fn categories_of(&self, guard: Guard) -> u64 {
        let all = Category::all().filter(|category| category.guard() == guard);
        match &self.categories {
            Some(chosen) => all.filter(|category| chosen.contains(category)).map(Category::bit).sum(),
            None => all.filter(|category| category.is_usual()).map(Category::bit).sum(),
        }
    }
}

/// The settings of all guards. The default redacts secrets in messages to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardSettings {
    pub secrets: GuardRule,
    pub pii: GuardRule,
    pub injection: GuardRule,
    pub sensitivity: Sensitivity,
}

impl Default for GuardSettings {
    fn default() -> GuardSettings {
        let out = vec![Direction::Result, Direction::Error, Direction::Notice];
        GuardSettings {
            secrets: GuardRule { directions: out, ..GuardRule::everywhere(Action::Redact) },
            pii: GuardRule::everywhere(Action::Off),
            injection: GuardRule::everywhere(Action::Off),
            sensitivity: Sensitivity::default(),
        }
    }
}

impl GuardSettings {
    pub(super) fn rule(&self, guard: Guard) -> &GuardRule {
        match guard {
            Guard::Secrets => &self.secrets,
            Guard::Pii => &self.pii,
            Guard::Injection => &self.injection,
        }
    }
}
