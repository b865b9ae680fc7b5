//! Every method, one row each.

mod auth;
mod contacts;
mod groups;
mod lists;
mod locations;
mod push;
mod reflection;
mod scripts;
mod settings;
mod shared;
mod tags;
mod tasks;
mod test;
mod time;
mod timelines;

use jiff::Timestamp;

use super::api_error::ApiResult;
use super::params::Params;
use crate::api::response::{Element, Version};
use crate::state::{Permission, State};

/// The effect of a method on the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    /// Needs a timeline; cannot be undone.
    Adds,
    /// Needs a timeline; can be undone.
    Changes,
}

/// One method of the service.
pub(crate) struct ApiMethod {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// `None` when the method needs no login.
    pub(crate) permission: Option<Permission>,
    pub(crate) is_signed: bool,
    pub(crate) effect: Effect,
    pub(crate) since: Version,
    /// The arguments beside the key, the token and the timeline; a `?` marks those that may be left out.
    pub(crate) arguments: &'static [&'static str],
    pub(crate) run: fn(&mut MethodRequest<'_>) -> ApiResult<Vec<Element>>,
}

/// One request that has passed the checks.
pub(crate) struct MethodRequest<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) params: &'a Params,
    pub(crate) version: Version,
    pub(crate) now: Timestamp,
    pub(crate) token: &'a str,
}

type MethodFn = fn(&mut MethodRequest<'_>) -> ApiResult<Vec<Element>>;

impl ApiMethod {
    /// Signed, and open to all applications with a key.
    const fn open(name: &'static str, about: &'static str, run: MethodFn) -> ApiMethod {
        let (since, arguments): (_, &[_]) = (Version::One, &[]);
        ApiMethod {
            name,
            about,
            permission: None,
            is_signed: true,
            effect: Effect::Reads,
            since,
            arguments,
            run,
        }
    }

    /// Reads the account.
    const fn reads(name: &'static str, about: &'static str, run: MethodFn) -> ApiMethod {
        ApiMethod { permission: Some(Permission::Read), ..ApiMethod::open(name, about, run) }
    }

    /// Changes it, and can be undone.
    const fn changes(name: &'static str, about: &'static str, run: MethodFn) -> ApiMethod {
        let permission = Some(Permission::Write);
        ApiMethod { permission, effect: Effect::Changes, ..ApiMethod::open(name, about, run) }
    }

    /// Changes it, and cannot be undone.
    const fn adds(name: &'static str, about: &'static str, run: MethodFn) -> ApiMethod {
        ApiMethod { effect: Effect::Adds, ..ApiMethod::changes(name, about, run) }
    }

    const fn with(self, arguments: &'static [&'static str]) -> ApiMethod {
        ApiMethod { arguments, ..self }
    }

    const fn deletes(self) -> ApiMethod {
        ApiMethod { permission: Some(Permission::Delete), ..self }
    }

    const fn unsigned(self) -> ApiMethod {
        ApiMethod { is_signed: false, ..self }
    }

    const fn only_two(self) -> ApiMethod {
        ApiMethod { since: Version::Two, ..self }
    }
}

/// All of them, in the order of their names.
const ALL: &[&[ApiMethod]] = &[
    auth::METHODS,
    contacts::METHODS,
    groups::METHODS,
    lists::METHODS,
    locations::METHODS,
    push::METHODS,
    reflection::METHODS,
    scripts::METHODS,
    settings::METHODS,
    tags::METHODS,
    tasks::METHODS,
    tasks::notes::METHODS,
    test::METHODS,
    time::METHODS,
    timelines::METHODS,
];

pub(crate) fn all() -> impl Iterator<Item = &'static ApiMethod> {
    ALL.iter().flat_map(|part| part.iter())
}

pub(crate) fn find(name: &str) -> Option<&'static ApiMethod> {
    all().find(|method| method.name == name)
}

#[cfg(test)]
mod tests {
    use super::{Effect, all};
    use crate::state::Permission;

    #[test]
    fn there_are_sixty_four_of_different_names() {
        let mut names: Vec<&str> = all().map(|method| method.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 64);
        assert_eq!(all().count(), 64);
    }

    #[test]
    fn what_changes_needs_permission_to() {
        for method in all().filter(|method| method.effect != Effect::Reads) {
            assert!(method.permission >= Some(Permission::Write), "{}", method.name);
        }
        let deleting: Vec<&str> = all()
            .filter(|method| method.permission == Some(Permission::Delete))
            .map(|method| method.name)
            .collect();
        for name in
            ["rtm.tasks.delete", "rtm.lists.delete", "rtm.tasks.notes.delete", "rtm.tasks.setParentTask"]
        {
            assert!(deleting.contains(&name), "{name}");
        }
    }
}
