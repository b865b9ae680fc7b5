//! Who may come in. A reload replaces all of it at once.

use arc_swap::ArcSwap;
use failwell_fault::{Fault, reason};
use failwell_policy::{Caller, Keys};

/// What opens the door. With nothing at all it is open to this machine.
#[derive(Debug, Default)]
pub struct Lock(ArcSwap<Credentials>);

/// What callers may present.
#[derive(Debug, Default)]
pub struct Credentials {
    /// Keys.
    pub keys: Keys,
}

impl Credentials {
    /// Whether nobody has to present anything.
    pub fn are_none(&self) -> bool {
        self.keys.is_empty()
    }
}

impl From<Credentials> for Lock {
    fn from(credentials: Credentials) -> Lock {
        Lock(ArcSwap::from_pointee(credentials))
    }
}

impl From<Keys> for Lock {
    fn from(keys: Keys) -> Lock {
        Lock::from(Credentials { keys })
    }
}

impl Lock {
    /// Something else opens it from now on.
    pub fn replace(&self, credentials: Credentials) {
        self.0.store(credentials.into());
    }

    /// Who presents this.
    pub(super) async fn admit(&self, presented: Option<&str>) -> Result<Caller, Fault> {
        let now = self.0.load();
        if now.are_none() {
            return Ok(Caller::anonymous());
        }
        let presented = presented.ok_or_else(|| Fault::new(&reason::POLICY_UNAUTHENTICATED))?;
        now.keys.owner(presented).ok_or_else(|| Fault::new(&reason::POLICY_BAD_CREDENTIALS))
    }
}
