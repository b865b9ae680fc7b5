//! Instructions for a model: those of a server, and those of the servers behind it.

use std::sync::Arc;

/// Instructions for the model that uses a server.
#[derive(Debug, Clone, Default)]
pub struct Guidance {
    /// The server's own instructions.
    pub own: &'static str,
    /// Instructions of the servers behind it.
    pub quoted: Vec<ServerInstructions>,
    /// The layout of the quoted instructions.
    pub setting: Setting,
}

/// The instructions of one server.
#[derive(Debug, Clone)]
pub struct ServerInstructions {
    /// The name of the server.
    pub server: String,
    /// The text of its instructions.
    pub words: Arc<str>,
}

/// The layout of quoted instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Setting {
    /// Each text follows the name of its server.
    #[default]
    UnderNames,
    /// The text stands alone, because there is only one server.
    Alone,
}
