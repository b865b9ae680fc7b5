use crate::Caller;

/// Permissions beyond calling tools. Each role includes the roles before it.
///
/// Callers can have roles of other names too; access rules match any role as `role:NAME`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Calls tools. Every authenticated caller has this role.
    User,
    /// Sees the activity of all callers.
    Developer,
    /// Creates and revokes API keys.
    Admin,
}

impl Role {
    /// All roles, in ascending order.
    pub const ALL: [Role; 3] = [Role::User, Role::Developer, Role::Admin];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Developer => "developer",
            Role::Admin => "admin",
        }
    }

    /// The caller's highest role.
    pub fn highest(caller: &Caller) -> Role {
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
                Role::highest(&Caller::keyholder("a").in_roles(roles.iter().copied())),
                highest,
                "{roles:?}"
            );
        }
        assert!(Role::Admin > Role::Developer && Role::Developer > Role::User);
    }
}
