//! A build without Cedar refuses every policy text.

use crate::access_target::{AccessKind, AccessTarget};
use crate::cedar::{CedarPolicies, PolicyTextError};
use crate::rules::ItemKind;
use failwell_rpc::Caller;

impl CedarPolicies {
    pub fn parse(_: &str) -> Result<CedarPolicies, PolicyTextError> {
        Err(PolicyTextError { at: None, what: "this program was built without Cedar".to_owned() })
    }

    pub fn permits(&self, _: &Caller, _: AccessKind, _: AccessTarget<'_>, _: Option<&str>) -> bool {
        match self.never {}
    }

    pub(crate) fn mentioned(&self, _: &str, _: ItemKind) -> Vec<String> {
        match self.never {}
    }
}
