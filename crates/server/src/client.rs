use failwell_policy::Caller;
use failwell_rpc::{Era, Json, Raw, Revision};

/// The extension by which a modern client says that it can follow tasks.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Something a client can do for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Ask the user.
    Elicitation,
    /// Ask the model.
    Sampling,
    /// Tell its roots.
    Roots,
    /// Follow tasks.
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

/// What is known about the client of one request.
#[derive(Debug, Clone)]
pub struct Client {
    /// Who.
    pub caller: Caller,
    /// Which revision it speaks.
    pub revision: Revision,
    capabilities: Option<Json>,
}

impl Client {
    /// A client with the capabilities object it sent.
    pub fn new(caller: Caller, revision: Revision, capabilities: Option<Json>) -> Client {
        Client { caller, revision, capabilities }
    }

    /// The same client of this caller.
    pub(crate) fn of(mut self, caller: &Caller) -> Client {
        self.caller = caller.clone();
        self
    }

    /// The capabilities object it sent.
    pub fn capabilities(&self) -> Option<&Json> {
        self.capabilities.as_ref()
    }

    /// A client of the plain faces, which can do nothing for a server.
    pub fn plain(caller: Caller) -> Client {
        Client::new(caller, Revision::LATEST, None)
    }

    /// What the client said about one of its capabilities, as it said it.
    pub fn declared(&self, capability: Capability) -> Option<Raw<'_>> {
        let declared = self.capabilities.as_ref()?.raw().as_object()?;
        match capability {
            Capability::Tasks => declared.get("extensions")?.as_object()?.get(TASKS_EXTENSION),
            plain => declared.get(plain.as_str()).filter(|raw| raw.as_object().is_some()),
        }
    }

    /// Whether the client said that it can do this.
    pub fn can(&self, capability: Capability) -> bool {
        let of_the_era = capability != Capability::Tasks || self.revision.era() == Era::Modern;
        of_the_era && self.declared(capability).is_some()
    }
}
