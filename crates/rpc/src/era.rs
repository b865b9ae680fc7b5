//! Protocol revisions and their differences on the wire.

/// Keys of `_meta` that the protocol reserves.
pub mod meta {
    /// The revision of a modern request. Required on each.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// The client's capabilities. Required on each modern request.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The client's self-reported name and version. Not a security property.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The server's self-reported name and version. Not a security property.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The log level that a modern request sets for its own stream.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// The id of the `subscriptions/listen` request that a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The task that a 2025-11-25 message belongs to.
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// The token for progress notifications.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// W3C trace context; untrusted.
    pub const TRACEPARENT: &str = "traceparent";
    /// W3C trace state; untrusted.
    pub const TRACESTATE: &str = "tracestate";
    /// W3C baggage; untrusted.
    pub const BAGGAGE: &str = "baggage";
}

/// The state model of a peer, which is the largest difference between revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Era {
    /// `initialize`, sessions, requests in both directions.
    Session,
    /// Stateless: every request has its version and capabilities.
    Modern,
}

/// A published revision of the protocol, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest revision with sessions. `initialize` falls back to it.
    pub const LATEST_SESSION: Self = Self::V2025_11_25;
    pub const LATEST: Self = Self::V2026_07_28;

    /// The date that identifies the revision.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Finds a revision by its date.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == name)
    }

    pub fn era(self) -> Era {
        if self < Self::V2026_07_28 { Era::Session } else { Era::Modern }
    }

    /// Batches exist in 2025-03-26 only; 2025-06-18 removed them.
    pub fn allows_batch(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Up to 2025-06-18 the schema requires `id` on errors, so an unreadable id is `null`. Later it is
    /// omitted.
    pub fn null_id_when_unreadable(self) -> bool {
        self <= Self::V2025_06_18
    }

    /// 2025-06-18 added `structuredContent` and `outputSchema`.
    pub fn has_structured_content(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Before 2026-07-28 `structuredContent` had to be an object; since then it is any JSON.
    pub fn structured_content_is_object(self) -> bool {
        self < Self::V2026_07_28
    }

    /// 2025-06-18 added `resource_link` content.
    pub fn has_resource_links(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// 2025-03-26 added tool annotations.
    pub fn has_tool_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// 2026-07-28 added `resultType`, `ttlMs` and `cacheScope`. Strict older clients refuse them.
    pub fn has_result_type(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// Since 2025-06-18, HTTP requests after the first have a version header.
    pub fn has_version_header(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// 2026-07-28 forbids −32002 for a missing resource.
    pub fn has_resource_not_found_code(self) -> bool {
        self < Self::V2026_07_28
    }

    /// 2026-07-28 removed `ping` together with sessions.
    pub fn has_ping(self) -> bool {
        self.era() == Era::Session
    }
}
