use std::collections::BTreeMap;

use super::category::{Category, Guard};

/// What a guard does with what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Does not even look.
    Off,
    /// Lets it pass and tells the operator.
    AuditOnly,
    /// Takes it out.
    Redact,
    /// Stops the whole message.
    Block,
}

impl Action {
    /// All of them, as they are written in the file.
    pub const ALL: [Action; 4] = [Action::Block, Action::Redact, Action::AuditOnly, Action::Off];

    /// As it is written in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Off => "off",
            Action::AuditOnly => "audit_only",
            Action::Redact => "redact",
            Action::Block => "block",
        }
    }

    /// The action of a name.
    pub fn named(name: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// What a message is, as far as guards care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a client: a request, a notice, or an answer to a question.
    Request,
    /// The result of a request.
    Result,
    /// The error a request ended in.
    Error,
    /// To a client, without being asked: notices and questions.
    Notice,
}

impl Direction {
    /// All of them, as they are written in the file.
    pub const ALL: [Direction; 4] =
        [Direction::Request, Direction::Result, Direction::Error, Direction::Notice];

    /// As it is written in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Direction::Request => "requests",
            Direction::Result => "results",
            Direction::Error => "errors",
            Direction::Notice => "notices",
        }
    }

    /// What one message of it is called in records and questions.
    pub fn looked_at(self) -> &'static str {
        match self {
            Direction::Request => "request",
            Direction::Result => "result",
            Direction::Error => "error",
            Direction::Notice => "notification",
        }
    }

    /// The direction of a name.
    pub fn named(name: &str) -> Option<Direction> {
        Direction::ALL.into_iter().find(|direction| direction.as_str() == name)
    }
}

/// How readily the injection guard speaks up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sensitivity {
    /// Only what is hardly ever said in good faith.
    Relaxed,
    /// What is said in good faith now and then, too.
    #[default]
    Standard,
    /// Everything that could be one.
    Strict,
}

impl Sensitivity {
    /// All of them, as they are written in the file.
    pub const ALL: [Sensitivity; 3] = [Sensitivity::Relaxed, Sensitivity::Standard, Sensitivity::Strict];

    /// As it is written in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Sensitivity::Relaxed => "relaxed",
            Sensitivity::Standard => "standard",
            Sensitivity::Strict => "strict",
        }
    }

    /// The sensitivity of a name.
    pub fn named(name: &str) -> Option<Sensitivity> {
        Sensitivity::ALL.into_iter().find(|sensitivity| sensitivity.as_str() == name)
    }
}

/// How one guard is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it does, where no server has an action of its own.
    pub action: Action,
    /// What it does for single servers, by name.
    pub servers: BTreeMap<String, Action>,
    /// What it looks for; `None` for everything but what must be asked for.
    pub categories: Option<Vec<Category>>,
    /// Where it looks.
    pub directions: Vec<Direction>,
}

impl Rule {
    /// A rule for everything everywhere.
    pub fn everywhere(action: Action) -> Rule {
        Rule { action, servers: BTreeMap::new(), categories: None, directions: Direction::ALL.to_vec() }
    }

    /// What it does for a server.
    pub(super) fn action_for(&self, server: &str) -> Action {
        self.servers.get(server).copied().unwrap_or(self.action)
    }

    /// Whether what it finds is kept from anybody.
    pub(super) fn is_kept_back(&self) -> bool {
        let mut actions = self.servers.values().chain([&self.action]);
        actions.any(|action| matches!(action, Action::Redact | Action::Block))
    }

    /// Its categories as a set of bits.
    pub(super) fn categories_of(&self, guard: Guard) -> u64 {
        let all = Category::all().filter(|category| category.guard() == guard);
        match &self.categories {
            Some(chosen) => all.filter(|category| chosen.contains(category)).map(Category::bit).sum(),
            None => all.filter(|category| category.is_usual()).map(Category::bit).sum(),
        }
    }
}

/// How all guards are set. Without a file: secrets are taken out of whatever goes to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardSettings {
    /// Keys, tokens and passwords.
    pub secrets: Rule,
    /// What tells who somebody is.
    pub pii: Rule,
    /// Text that wants to command a model.
    pub injection: Rule,
    /// How readily the injection guard speaks up.
    pub sensitivity: Sensitivity,
}

impl Default for GuardSettings {
    fn default() -> GuardSettings {
        let out = vec![Direction::Result, Direction::Error, Direction::Notice];
        GuardSettings {
            secrets: Rule { directions: out, ..Rule::everywhere(Action::Redact) },
            pii: Rule::everywhere(Action::Off),
            injection: Rule::everywhere(Action::Off),
            sensitivity: Sensitivity::default(),
        }
    }
}

impl GuardSettings {
    pub(super) fn rule(&self, guard: Guard) -> &Rule {
        match guard {
            Guard::Secrets => &self.secrets,
            Guard::Pii => &self.pii,
            Guard::Injection => &self.injection,
        }
    }
}
