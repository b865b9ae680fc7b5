//! `[tasks]`: the tasks server.

use std::time::Duration;

use failwell_fault::Secret;
use failwell_tasks::{Permission, TokenStore};

use super::upstream::{address_at, is_exposed, plain};
use crate::config::keys::TASKS_TIMEOUT;
use crate::config::parse::reader::{Reader, Section};
use crate::config::settings::Endpoint;
use crate::parts::KEYRING;

/// The settings of the tasks server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TasksConfig {
    pub(crate) api_key: Option<Secret<String>>,
    pub(crate) shared_secret: Option<Secret<String>>,
    pub(crate) base_url: Option<String>,
    pub(crate) permission: Option<Permission>,
    pub(crate) token_store: TokenStore,
    pub(crate) timeout: Duration,
    /// The emulator of the demonstration. It overrides the settings above; no file can set it.
    pub(crate) stand_in: Option<EmulatedService>,
}

/// An emulated service and a login to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EmulatedService {
    pub(crate) base_url: String,
    pub(crate) api_key: Secret<String>,
    pub(crate) shared_secret: Secret<String>,
    pub(crate) token: Secret<String>,
}

impl Default for TasksConfig {
    fn default() -> TasksConfig {
        TasksConfig {
            api_key: None,
            shared_secret: None,
            base_url: None,
            permission: None,
            token_store: TokenStore::Auto,
            timeout: Duration::from_secs(TASKS_TIMEOUT.default),
            stand_in: None,
        }
    }
}

pub(in crate::config) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> TasksConfig {
    let Some(section) = reader.table(root, "tasks") else { return TasksConfig::default() };
    let base_url = address_at(reader, &section, "base_url");
    if base_url.as_ref().is_some_and(is_exposed)
        && let Some(text) = reader.text(&section, "base_url")
    {
        let help = "begin it with https://, or use an address of this machine: keys are sent there";
        reader.wrong(&text.span, &text.key, "`base_url` is not encrypted", help);
    }
    let [api_key, shared_secret] =
        ["api_key", "shared_secret"].map(|name| plain(reader, &section, name).map(Secret::new));
    let permission = reader.choice(&section, "permission").and_then(Permission::named);
    let token_store = reader.choice(&section, "token_store").and_then(TokenStore::named);
    if token_store == Some(TokenStore::Keyring) {
        reader.has_part(KEYRING, &section.key_span("token_store"), &section.path("token_store"));
    }
    let timeout = Duration::from_secs(reader.number(&section, &TASKS_TIMEOUT));
    for (name, other) in [("api_key", "shared_secret"), ("shared_secret", "api_key")] {
        if section.has(name) && !section.has(other) && std::env::var_os(variable(other)).is_none() {
            let message = format!("`{name}` needs `{other}`");
            let help = "write both below [tasks], or leave both to the environment";
            reader.missing(&section, other, &message, help);
        }
    }
    TasksConfig {
        api_key,
        shared_secret,
        base_url: base_url.map(|Endpoint(uri)| uri.to_string()),
        permission,
        token_store: token_store.unwrap_or(TokenStore::Auto),
        timeout,
        stand_in: None,
    }
}

/// The environment variable of a key.
fn variable(name: &str) -> &'static str {
    if name == "api_key" { "RTM_API_KEY" } else { "RTM_SHARED_SECRET" }
}

/// Whether requests to a URL are readable on the network. `None` if the text is not an HTTP URL.
pub(crate) fn is_exposed_url(url: &str) -> Option<bool> {
    let uri: http::Uri = url.parse().ok()?;
    uri.host()?;
    matches!(uri.scheme_str()?, "http" | "https").then(|| is_exposed(&Endpoint(uri)))
}
