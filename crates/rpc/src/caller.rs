use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

/// The identity of a caller. It owns sessions, tasks and sealed states.
///
/// Two callers are equal if their names are equal: roles can change during a session.
#[derive(Debug, Clone)]
pub struct Caller(Arc<CallerIdentity>);

#[derive(Debug, Clone)]
struct CallerIdentity {
    name: Arc<str>,
    roles: Box<[Box<str>]>,
}

impl Caller {
    /// A local caller without credentials.
    pub fn anonymous() -> Caller {
        static ANONYMOUS: LazyLock<Caller> = LazyLock::new(|| Caller::named("anonymous"));
        ANONYMOUS.clone()
    }

    /// The caller of an API key, by the key's name.
    pub fn keyholder(name: &str) -> Caller {
        Caller::named(&format!("key:{name}"))
    }

    /// The caller of a token, by its subject.
    pub fn bearer(subject: &str) -> Caller {
        Caller::named(&format!("jwt:{subject}"))
    }

    fn named(name: &str) -> Caller {
        Caller(Arc::new(CallerIdentity { name: name.into(), roles: Box::default() }))
    }

    /// The same caller with these roles.
    #[must_use]
    pub fn in_roles<'a>(mut self, roles: impl IntoIterator<Item = &'a str>) -> Caller {
        Arc::make_mut(&mut self.0).roles = roles.into_iter().map(Box::from).collect();
        self
    }

    /// The name with its kind, such as `key:ci`.
    pub fn name(&self) -> &Arc<str> {
        &self.0.name
    }

    /// The name under which stored things belong to the caller. It is empty for callers without credentials, who are
    /// not told apart.
    pub fn owner(&self) -> &str {
        if *self == Caller::anonymous() { "" } else { self.name() }
    }

    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.0.roles.iter().map(AsRef::as_ref)
    }

    /// Whether the caller has this role.
    pub fn is_in(&self, role: &str) -> bool {
        self.roles().any(|held| held == role)
    }
}

impl PartialEq for Caller {
    fn eq(&self, other: &Caller) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Caller {}

impl Hash for Caller {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}
