//! Content blocks of results and prompts.

use serde::Serialize;

/// One block of content in a result or a prompt.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// A text block.
    Text {
        /// The text, as plain UTF-8.
        text: String,
    },
    /// An image.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The image bytes in base64.
        data: String,
        /// The media type, such as `image/png`.
        mime_type: String,
    },
    /// An audio clip.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// The audio bytes in base64.
        data: String,
        /// The media type, such as `audio/wav`.
        mime_type: String,
    },
    /// A resource with its contents embedded.
    Resource {
        /// The embedded resource.
        resource: ResourceContents,
    },
    /// A link to a resource that the client can read.
    #[serde(rename_all = "camelCase")]
    ResourceLink {
        /// The URI of the resource.
        uri: String,
        /// The display name of the resource.
        name: String,
        /// The media type, such as `text/plain`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

impl Content {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Content {
        Content::Text { text: text.into() }
    }
}

/// The contents of a resource: text, or bytes in base64.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    /// The URI of the resource.
    pub uri: String,
    /// The media type, such as `text/plain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text, or the bytes in base64.
    #[serde(flatten)]
    pub body: ResourceBody,
}

/// The body of a resource.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ResourceBody {
    /// Text, serialized as the member `text`.
    Text(String),
    /// Bytes in base64, serialized as the member `blob`.
    Blob(String),
}

impl ResourceContents {
    /// Creates text contents of this media type.
    pub fn text(uri: impl Into<String>, mime_type: &str, text: impl Into<String>) -> ResourceContents {
        let body = ResourceBody::Text(text.into());
        ResourceContents { uri: uri.into(), mime_type: Some(mime_type.to_owned()), body }
    }

    /// Creates binary contents of this media type. The bytes are already in base64.
    pub fn blob(uri: impl Into<String>, mime_type: &str, base64: impl Into<String>) -> ResourceContents {
        let body = ResourceBody::Blob(base64.into());
        ResourceContents { uri: uri.into(), mime_type: Some(mime_type.to_owned()), body }
    }
}
