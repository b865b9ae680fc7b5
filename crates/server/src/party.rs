use failwell_policy::Caller;

/// One side of a conversation: a caller, and which of its conversations. Stateless requests of one caller cannot be
/// told apart, so they are one party together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Party {
    /// Who.
    pub caller: Caller,
    /// In which session; `None` for requests that belong to none.
    pub session: Option<u64>,
}
