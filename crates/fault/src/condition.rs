/// The row of the code table that a reason uses.
///
/// A kind tells the caller what to do. A condition selects the code number in each dialect. The numbers
/// themselves are in `render`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The bytes are not JSON.
    NotJson,
    /// The JSON is not a message of the protocol.
    BadShape,
    UnknownMethod,
    /// The parameters of the method are wrong.
    BadParams,
    /// The modern era's per-request metadata is missing or wrong.
    BadMeta,
    UnknownTool,
    /// The arguments do not match the tool's schema.
    BadArguments,
    /// The tool ran and failed. The model should see it.
    ToolFailed,
    ResourceNotFound,
    /// Credentials are missing or wrong.
    Credentials,
    /// The token lacks a required scope.
    InsufficientScope,
    /// The caller is not permitted to do this.
    NotAllowed,
    /// A content policy blocks the message.
    Blocked,
    /// The configuration is invalid.
    Configuration,
    /// An extension did not load.
    PluginLoad,
    /// An upstream server is down, late or sends invalid responses.
    Upstream,
    /// A service that a tool server calls on the caller's behalf is down, refuses or sends invalid responses.
    ExternalService,
    /// The ledger could not be written.
    AuditFailed,
    RateLimited,
    TooLarge,
    /// Headers and body disagree.
    HeaderMismatch,
    /// The client lacks a capability the request needs.
    MissingCapability,
    /// The protocol version is not supported.
    UnsupportedVersion,
    /// Another step must come first.
    NotReady,
    /// This program is shutting down or not ready.
    Unavailable,
    /// The HTTP method does not fit the path.
    MethodNotAllowed,
    /// The host or origin is not allowed.
    ForeignOrigin,
    /// The client accepts no media type that can be sent.
    NotAcceptable,
    /// The body's media type is not supported.
    MediaType,
    UnknownPath,
    /// The request needs a session id.
    SessionRequired,
    /// The session has ended.
    SessionLost,
    /// The requested range lies outside of the resource.
    Range,
    /// The body did not arrive in time.
    SlowBody,
    /// The head of the request is too large.
    HeadTooLarge,
    /// The target of the request is too long.
    TargetTooLong,
    /// The caller cancelled the request.
    Cancelled,
    /// A bug in this program.
    Bug,
}

impl Condition {
    /// All conditions, in the order of the code table.
    pub const ALL: [Condition; 38] = [
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
        Condition::ExternalService,
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
        Condition::HeadTooLarge,
        Condition::TargetTooLong,
        Condition::Cancelled,
        Condition::Bug,
    ];
}
