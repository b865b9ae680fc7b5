/// Which row of the code table a reason answers by.
///
/// A kind says what the caller should do; a condition says which number each face has for it. The numbers
/// themselves live in `render`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The bytes are not JSON.
    NotJson,
    /// JSON, but not a message of the protocol.
    BadShape,
    /// No such method.
    UnknownMethod,
    /// The method's parameters are wrong.
    BadParams,
    /// The modern era's per-request metadata is missing or wrong.
    BadMeta,
    /// No such tool.
    UnknownTool,
    /// The tool's arguments do not fit its schema.
    BadArguments,
    /// The tool did its best and failed: the model should see it.
    ToolFailed,
    /// No such resource.
    ResourceNotFound,
    /// Credentials are missing or wrong.
    Credentials,
    /// The caller's token does not allow enough.
    InsufficientScope,
    /// The caller may not do this.
    NotAllowed,
    /// The content is not let through.
    Blocked,
    /// The operator's configuration is wrong.
    Configuration,
    /// An extension did not load.
    PluginLoad,
    /// A server behind the gateway is down, late or talks nonsense.
    Upstream,
    /// Remember The Milk is down, refuses or talks nonsense.
    RtmService,
    /// The ledger could not be written.
    AuditFailed,
    /// Too many requests.
    RateLimited,
    /// Too many bytes.
    TooLarge,
    /// Headers and body disagree.
    HeaderMismatch,
    /// The client lacks a capability the request needs.
    MissingCapability,
    /// A protocol version nobody here speaks.
    UnsupportedVersion,
    /// Something else must happen first.
    NotReady,
    /// This program is going away or not there yet.
    Unavailable,
    /// The HTTP method does not fit the path.
    MethodNotAllowed,
    /// A foreign host or origin.
    ForeignOrigin,
    /// The client accepts nothing that can be sent.
    NotAcceptable,
    /// The body is of a type nobody reads.
    MediaType,
    /// No such path.
    UnknownPath,
    /// A session id is needed.
    SessionRequired,
    /// The session is gone.
    SessionLost,
    /// None of the bytes that were asked for is there.
    Range,
    /// The body did not arrive in time.
    SlowBody,
    /// The caller called it off.
    Cancelled,
    /// Our own mistake.
    Bug,
}

impl Condition {
    /// Every condition, in the order of the code table.
    pub const ALL: [Condition; 36] = [
        Condition::NotJson,
        Condition::BadShape,
        Condition::UnknownMethod,
        Condition::BadParams,
        Condition::BadMeta,
        Condition::UnknownTool,
        Condition::BadArguments,
        Condition::ToolFailed,
        Condition::ResourceNotFound,
        Condition::Credentials,
        Condition::InsufficientScope,
        Condition::NotAllowed,
        Condition::Blocked,
        Condition::Configuration,
        Condition::PluginLoad,
        Condition::Upstream,
        Condition::RtmService,
        Condition::AuditFailed,
        Condition::RateLimited,
        Condition::TooLarge,
        Condition::HeaderMismatch,
        Condition::MissingCapability,
        Condition::UnsupportedVersion,
        Condition::NotReady,
        Condition::Unavailable,
        Condition::MethodNotAllowed,
        Condition::ForeignOrigin,
        Condition::NotAcceptable,
        Condition::MediaType,
        Condition::UnknownPath,
        Condition::SessionRequired,
        Condition::SessionLost,
        Condition::Range,
        Condition::SlowBody,
        Condition::Cancelled,
        Condition::Bug,
    ];
}
