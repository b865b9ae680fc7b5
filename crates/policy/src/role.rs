use crate::Caller;

/// What a caller may do beyond calling tools. Each may do what the ones before it may.
///
/// Roles are names and there may be any others beside these; rules know all of them as `role:NAME`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Calls tools. Whoever came in may do so.
    User,
    /// Looks at what everybody does.
    Developer,
    /// Makes keys and takes them back.
    Admin,
}

impl Role {
    /// All of them, the least first.
    pub const ALL: [Role; 3] = [Role::User, Role::Developer, Role::Admin];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Developer => "developer",
            Role::Admin => "admin",
        }
    }

    /// The highest of a caller's.
    pub fn of(caller: &Caller) -> Role {
        let held = Role::ALL.into_iter().rev().find(|role| caller.is_in(role.as_str()));
        held.unwrap_or(Role::User)
    }
}

#[cfg(test)]
mod tests {
    use super::Role;
    use crate::Caller;

    #[test]
    fn the_highest_role_counts_and_other_names_are_none() {
        for (roles, highest) in [
            (&[][..], Role::User),
            (&["user"], Role::User),
            (&["writer", "developer"], Role::Developer),
            (&["user", "admin", "developer"], Role::Admin),
            (&["Admin", "root"], Role::User),
        ] {
            assert_eq!(
                Role::of(&Caller::keyholder("a").in_roles(roles.iter().copied())),
                highest,
                "{roles:?}"
            );
        }
        assert!(Role::Admin > Role::Developer && Role::Developer > Role::User);
    }
}
