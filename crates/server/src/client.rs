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

    /// A client of the plain faces, which can do nothing for a server.
    pub fn plain(caller: Caller) -> Client {
        Client::new(caller, Revision::LATEST, None)
    }

    /// Whether the client said that it can do this.
    pub fn can(&self, capability: Capability) -> bool {
        let Some(declared) = self.capabilities.as_ref().and_then(|json| json.raw().as_object()) else {
            return false;
        };
        match capability {
            Capability::Tasks => {
                let extension = declared.get("extensions").and_then(Raw::as_object);
                self.revision.era() == Era::Modern
                    && extension.is_some_and(|named| named.get(TASKS_EXTENSION).is_some())
            }
            plain => declared.get(plain.as_str()).is_some_and(|raw| raw.as_object().is_some()),
        }
    }
}
