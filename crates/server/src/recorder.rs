use std::fmt;
use std::sync::Arc;

use failwell_audit::Ended;
use failwell_fault::{Fault, Ref};
use failwell_rpc::{Face, Id, ReplyTo, Revision};

use crate::house::House;

/// Where failures that are no answer are written down.
#[derive(Clone)]
pub(crate) struct Recorder(pub(crate) Arc<House>);

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

impl Recorder {
    pub(crate) fn house(&self) -> &House {
        &self.0
    }

    pub(crate) fn record(&self, fault: Fault, revision: Revision, reference: Ref) {
        let mut to = ReplyTo::request(Id::from_number(0), Face::Mcp(revision));
        (to.id, to.reference) = (None, reference);
        self.0.record(Ended::Fault(Arc::new(fault)), to, "aside", "");
    }
}
