use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

/// Who is calling, as far as we know. Sessions, tasks and sealed states belong to a caller.
///
/// Two callers are the same when their names are: roles may be given and taken while a session lasts.
#[derive(Debug, Clone)]
pub struct Caller(Arc<Known>);

#[derive(Debug, Clone)]
struct Known {
    name: Arc<str>,
    roles: Box<[Box<str>]>,
}

impl Caller {
    /// Somebody on this machine who was not asked for a key.
    pub fn anonymous() -> Caller {
        static ANONYMOUS: LazyLock<Caller> = LazyLock::new(|| Caller::named("anonymous"));
        ANONYMOUS.clone()
    }

    /// The holder of a key, by the key's name.
    pub fn keyholder(name: &str) -> Caller {
        Caller::named(&format!("key:{name}"))
    }

    /// The subject of a token.
    pub fn bearer(subject: &str) -> Caller {
        Caller::named(&format!("jwt:{subject}"))
    }

    fn named(name: &str) -> Caller {
        Caller(Arc::new(Known { name: name.into(), roles: Box::default() }))
    }

    /// The same caller in these roles.
    #[must_use]
    pub fn in_roles<'a>(mut self, roles: impl IntoIterator<Item = &'a str>) -> Caller {
        Arc::make_mut(&mut self.0).roles = roles.into_iter().map(Box::from).collect();
        self
    }

    /// The name, with what it is a name of: `key:ci`.
    pub fn name(&self) -> &Arc<str> {
        &self.0.name
    }

    /// The roles.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.0.roles.iter().map(AsRef::as_ref)
    }

    /// Whether the caller is in this role.
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
