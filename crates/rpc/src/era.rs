//! Protocol revisions, and what differs between them on the wire.

/// Keys of `_meta` that the protocol reserves.
pub mod meta {
    /// Revision a modern request speaks; required on each.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// Capabilities of the client; required on each modern request.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Self-reported name and version of the client; never for security.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// Self-reported name and version of the server; never for security.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// Log level the modern request asks for on its own stream.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Id of the `subscriptions/listen` request a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// Task a 2025-11-25 message belongs to.
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// Token under which progress is reported.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// W3C trace context; untrusted.
    pub const TRACEPARENT: &str = "traceparent";
    /// W3C trace state; untrusted.
    pub const TRACESTATE: &str = "tracestate";
    /// W3C baggage; untrusted.
    pub const BAGGAGE: &str = "baggage";
}

/// How a peer keeps its state: the largest divide between revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Era {
    /// `initialize`, sessions, requests in both directions.
    Session,
    /// Stateless: every request carries its version and capabilities.
    Modern,
}

/// A published revision of the protocol, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26
    V2025_03_26,
    /// 2025-06-18
    V2025_06_18,
    /// 2025-11-25
    V2025_11_25,
    /// 2026-07-28
    V2026_07_28,
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest revision that still has sessions: what `initialize` falls back to.
    pub const LATEST_SESSION: Self = Self::V2025_11_25;
    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;
    /// What an HTTP peer that names no version is taken to speak.
    pub const UNSAID: Self = Self::V2025_03_26;

    /// The date that names the revision.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == name)
    }

    /// The era the revision belongs to.
    pub fn era(self) -> Era {
        if self < Self::V2026_07_28 { Era::Session } else { Era::Modern }
    }

    /// Batches came with 2025-03-26 and went with 2025-06-18.
    pub fn allows_batch(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Up to 2025-06-18 the schema requires `id` on errors, so an unreadable one is `null`; later it is left out.
    pub fn null_id_when_unreadable(self) -> bool {
        self <= Self::V2025_06_18
    }

    /// `structuredContent` and `outputSchema` came with 2025-06-18.
    pub fn has_structured_content(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Before 2026-07-28 `structuredContent` had to be an object; since then it is any JSON.
    pub fn structured_content_is_object(self) -> bool {
        self < Self::V2026_07_28
    }

    /// `resource_link` content came with 2025-06-18.
    pub fn has_resource_links(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Tool annotations came with 2025-03-26.
    pub fn has_tool_annotations(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// `resultType`, `ttlMs` and `cacheScope` came with 2026-07-28; strict older clients refuse them.
    pub fn has_result_type(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// From 2025-06-18 HTTP requests after the first name their version in a header.
    pub fn has_version_header(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// 2026-07-28 forbids −32002 for a missing resource.
    pub fn has_resource_not_found_code(self) -> bool {
        self < Self::V2026_07_28
    }

    /// `ping` went with sessions.
    pub fn has_ping(self) -> bool {
        self.era() == Era::Session
    }
}
