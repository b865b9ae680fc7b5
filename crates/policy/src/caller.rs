use std::fmt;
use std::sync::{Arc, LazyLock};

/// Who is calling, as far as we know. Sessions, tasks and sealed states belong to a caller.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Caller(Arc<str>);

impl Caller {
    /// Somebody on this machine who was not asked for a key.
    pub fn anonymous() -> Caller {
        static ANONYMOUS: LazyLock<Caller> = LazyLock::new(|| Caller("anonymous".into()));
        ANONYMOUS.clone()
    }

    /// The holder of a key, by the key's name.
    pub fn keyholder(name: &str) -> Caller {
        Caller(format!("key:{name}").into())
    }

    /// The name it goes by.
    pub fn name(&self) -> Arc<str> {
        self.0.clone()
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
