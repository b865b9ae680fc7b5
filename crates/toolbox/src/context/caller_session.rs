use failwell_rpc::Caller;

/// A caller and one of its sessions. Stateless requests of one caller cannot be told apart, so they share one
/// party.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallerSession {
    /// The caller.
    pub caller: Caller,
    /// The number of the session; `None` for stateless requests.
    pub session: Option<u64>,
}
