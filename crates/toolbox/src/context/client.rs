use failwell_rpc::Caller;
use failwell_rpc::{Era, Json, Raw, Revision};

/// The extension by which a modern client declares support for tasks.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A capability of a client that servers can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// The client can ask its user.
    Elicitation,
    /// The client can ask a model.
    Sampling,
    /// The client can list its roots.
    Roots,
    /// The client can follow tasks.
    Tasks,
}

impl Capability {
    /// The capability as the protocol names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Capability::Elicitation => "elicitation",
            Capability::Sampling => "sampling",
            Capability::Roots => "roots",
            Capability::Tasks => TASKS_EXTENSION,
        }
    }
}

/// The facts about the client of one request.
#[derive(Debug, Clone)]
pub struct Client {
    /// The caller that the client acts for.
    pub caller: Caller,
    /// The protocol revision of the client.
    pub revision: Revision,
    capabilities: Option<Json>,
}

impl Client {
    /// Creates a client from the capabilities object that it sent.
    pub fn new(caller: Caller, revision: Revision, capabilities: Option<Json>) -> Client {
        Client { caller, revision, capabilities }
    }

    /// Returns the same client with this caller.
    #[must_use]
    pub fn with_caller(mut self, caller: &Caller) -> Client {
        self.caller = caller.clone();
        self
    }

    /// The capabilities object that the client sent.
    pub fn capabilities(&self) -> Option<&Json> {
        self.capabilities.as_ref()
    }

    /// Creates a client of `/rpc` or REST, which has no capabilities.
    pub fn plain(caller: Caller) -> Client {
        Client::new(caller, Revision::LATEST, None)
    }

    /// The client's declaration of one capability, verbatim.
    pub fn declared(&self, capability: Capability) -> Option<Raw<'_>> {
        let declared = self.capabilities.as_ref()?.raw().as_object()?;
        match capability {
            Capability::Tasks => declared.get("extensions")?.as_object()?.get(TASKS_EXTENSION),
            plain => declared.get(plain.as_str()).filter(|raw| raw.as_object().is_some()),
        }
    }

    /// Whether the client declared this capability.
    pub fn can(&self, capability: Capability) -> bool {
        let of_the_era = capability != Capability::Tasks || self.revision.era() == Era::Modern;
        of_the_era && self.declared(capability).is_some()
    }
}
