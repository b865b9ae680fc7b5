use failwell_rpc::{Json, Object, Raw};
use serde::Serialize;

use crate::room::Members;

/// One block of content in a result or a prompt.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Base64.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
    },
    /// A sound.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// Base64.
        data: String,
        /// Such as `audio/wav`.
        mime_type: String,
    },
    /// A resource, with its content.
    Resource {
        /// The resource.
        resource: ResourceContents,
    },
    /// A resource the client may read.
    #[serde(rename_all = "camelCase")]
    ResourceLink {
        /// Where.
        uri: String,
        /// What it is called.
        name: String,
        /// Such as `text/plain`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

impl Content {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Content {
        Content::Text { text: text.into() }
    }
}

/// What a resource holds: text, or base64.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    /// Which resource.
    pub uri: String,
    /// Such as `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text, or the bytes in base64.
    #[serde(flatten)]
    pub body: ResourceBody,
}

/// Text or bytes.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Base64.
    Blob(String),
}

impl ResourceContents {
    /// A text of a type.
    pub fn text(uri: impl Into<String>, mime_type: &str, text: impl Into<String>) -> ResourceContents {
        let body = ResourceBody::Text(text.into());
        ResourceContents { uri: uri.into(), mime_type: Some(mime_type.to_owned()), body }
    }

    /// Bytes of a type, in base64 already.
    pub fn blob(uri: impl Into<String>, mime_type: &str, base64: impl Into<String>) -> ResourceContents {
        let body = ResourceBody::Blob(base64.into());
        ResourceContents { uri: uri.into(), mime_type: Some(mime_type.to_owned()), body }
    }
}

/// What a tool call came to.
#[derive(Debug, Default)]
pub struct ToolOutcome {
    pub(crate) content: Vec<Content>,
    pub(crate) structured: Option<Json>,
    pub(crate) verdict: Verdict,
}

#[derive(Debug, Default)]
pub(crate) enum Verdict {
    #[default]
    Done,
    MarkedAsError,
    Failed(failwell_fault::Fault),
    Relayed(Members),
    /// The same with `isError`.
    RelayedFailure(Members),
}

/// Whether the result of a tool call says that the tool failed.
pub fn reports_failure(result: Object<'_>) -> bool {
    result.get("isError").and_then(Raw::as_bool) == Some(true)
}

impl ToolOutcome {
    /// A result of one text.
    pub fn text(text: impl Into<String>) -> ToolOutcome {
        ToolOutcome::default().with(Content::text(text))
    }

    /// Adds a block.
    #[must_use]
    pub fn with(mut self, content: Content) -> ToolOutcome {
        self.content.push(content);
        self
    }

    /// Adds the structured form.
    #[must_use]
    pub fn structured(mut self, structured: Json) -> ToolOutcome {
        self.structured = Some(structured);
        self
    }

    /// Somebody else's result, passed on as it is. This is where it is decided whether the tool failed.
    pub fn relayed(members: Members) -> ToolOutcome {
        let verdict = match reports_failure(members.members.object()) {
            true => Verdict::RelayedFailure(members),
            false => Verdict::Relayed(members),
        };
        ToolOutcome { verdict, ..ToolOutcome::default() }
    }

    /// Changes somebody else's result on its way; one of ours stays as it is.
    #[must_use]
    pub fn map_relayed(mut self, change: impl FnOnce(Members) -> Members) -> ToolOutcome {
        self.verdict = match self.verdict {
            Verdict::Relayed(members) => Verdict::Relayed(change(members)),
            Verdict::RelayedFailure(members) => Verdict::RelayedFailure(change(members)),
            ours => ours,
        };
        self
    }

    /// A tool's own account of a failure that has no row in the catalogue.
    #[must_use]
    pub fn marked_as_error(mut self) -> ToolOutcome {
        self.verdict = Verdict::MarkedAsError;
        self
    }

    /// A failure that has more to show than its fault: blocks and a structured object of the tool's own.
    #[must_use]
    pub fn failed(mut self, fault: failwell_fault::Fault) -> ToolOutcome {
        self.verdict = Verdict::Failed(fault);
        self
    }
}
