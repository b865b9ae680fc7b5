//! Which server `tools` and `call` speak to.

use std::net::SocketAddr;
use std::time::Duration;

use failwell_fault::Secret;
use failwell_gateway::{Endpoint, SessionSharing, UpstreamSettings};
use http::Uri;

use super::CallError;
use super::client::ServerClient;
use crate::cli::ServerOptions;
use crate::commands::backends::upstreams;
use crate::commands::config_file::{self, ConfigFileError};
use crate::commands::serving::endpoint::the_key;
use crate::commands::serving::serve;
use crate::complaint::Complaint;
use crate::config::{Config, DEFAULT_ADDRESS, endpoint_problem, reachable};

/// How long a server may take to start. The first start of a package runner downloads the package.
const START: Duration = Duration::from_secs(60);

/// A server, and what to do if it cannot be reached.
pub(super) struct CallTarget {
    pub(super) client: ServerClient,
    pub(super) help: String,
}

/// The server of a command, an address, or the program that runs on this machine.
pub(super) fn connect(url: Option<&str>, options: &ServerOptions) -> Result<CallTarget, CallError> {
    let (settings, help) = match (url, options.command.is_empty()) {
        (Some(_), false) => {
            let help = "leave out the address, or the command after --";
            return Err(CallError::Usage(Complaint::new("there are both an address and a command", help)));
        }
        (None, false) => (of_command(&options.command)?, "check the command".to_owned()),
        (Some(url), true) => (
            of_url(url, options, own_address(options).ok())?,
            "check the address, and that the server runs".to_owned(),
        ),
        (None, true) => {
            let own = own_address(options)?;
            if own.port() == 0 {
                let help = "name the address that `failwell up` printed";
                return Err(Complaint::new("the configuration listens on any free port", help).into());
            }
            let url = format!("http://{own}/mcp");
            let help = format!(
                "start it with `failwell up`, or name an address or -- COMMAND; it was looked for at {url}"
            );
            (of_url(&url, options, Some(own))?, help)
        }
    };
    let settings = UpstreamSettings {
        timeout: Duration::from_secs(options.timeout),
        start_timeout: START,
        // There is one caller, and no questions can be answered.
        sharing: Some(SessionSharing::Shared),
        ..settings
    };
    let client = ServerClient::new(settings).map_err(|fault| serve::unexpected(&fault))?;
    Ok(CallTarget { client, help })
}

fn of_command(words: &[String]) -> Result<UpstreamSettings, CallError> {
    let config = Config::of_command(words);
    let settings = upstreams::all(&config).pop();
    let settings = settings.ok_or_else(|| Complaint::new("there is no command", "name it after --"))?;
    match endpoint_problem(&settings.endpoint) {
        Some(why) => {
            let program = words.first().map_or("", String::as_str);
            let help = "install it, or write its full path";
            Err(Complaint::new(format!("`{program}` cannot be started: {why}"), help).into())
        }
        None => Ok(settings),
    }
}

/// The key in FAILWELL_KEY goes to the program of this machine, and to no other server.
fn of_url(
    url: &str,
    options: &ServerOptions,
    own: Option<SocketAddr>,
) -> Result<UpstreamSettings, CallError> {
    let wrong = |title: &str| {
        CallError::Usage(Complaint::new(title, "write it in full, such as http://127.0.0.1:8484/mcp"))
    };
    let uri: Uri = url.parse().map_err(|_| wrong("this is no address"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.authority().is_none() {
        return Err(wrong("the address is neither http nor https"));
    }
    let has_path = uri.path() != "/" || uri.query().is_some();
    let url = if has_path { url.to_owned() } else { format!("{}/mcp", url.trim_end_matches('/')) };
    let typed =
        options.header.iter().map(|(name, value)| (name.to_ascii_lowercase(), Secret::new(value.clone())));
    let mut headers: Vec<(String, Secret<String>)> = typed.collect();
    let is_local = uri.host().is_some_and(|host| matches!(host, "127.0.0.1" | "localhost" | "[::1]"));
    let is_own = is_local && own.is_some_and(|own| uri.port_u16() == Some(own.port()));
    let has_key = headers.iter().any(|(name, _)| name == "x-api-key" || name == "authorization");
    if let Some(key) = the_key().filter(|_| is_own && !has_key) {
        headers.push(("x-api-key".to_owned(), key));
    }
    Ok(UpstreamSettings::new("server", Endpoint::Http { url, headers }))
}

/// The address of the program that runs on this machine.
fn own_address(options: &ServerOptions) -> Result<SocketAddr, Complaint> {
    let config = config_file::settle_place(options.config.as_deref()).map_err(ConfigFileError::report)?;
    Ok(reachable(config.listen.unwrap_or(DEFAULT_ADDRESS)))
}
