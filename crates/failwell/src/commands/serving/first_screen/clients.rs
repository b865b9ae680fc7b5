//! How to connect the clients that most people have: lines to copy.

use std::path::{PathBuf, absolute};

use serde_json::{Value, json};

use super::FirstScreen;
use crate::config::Config;

/// The credentials that a caller needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands::serving) enum RequiredCredentials {
    No,
    /// Only the key from `FAILWELL_KEY`.
    ByTheKey,
    /// A key or token of the configuration.
    ByTheFile,
    /// A key that an admin created.
    ByMadeKeys,
}

impl RequiredCredentials {
    pub(in crate::commands::serving) fn of(has_key: bool, config: &Config) -> RequiredCredentials {
        match (has_key, config.keys.is_empty() && config.jwt.is_none()) {
            _ if config.require_key => RequiredCredentials::ByMadeKeys,
            (false, true) => RequiredCredentials::No,
            (true, true) => RequiredCredentials::ByTheKey,
            (_, false) => RequiredCredentials::ByTheFile,
        }
    }

    /// The line that says which key HTTP clients need.
    pub(super) fn line(self) -> Option<&'static str> {
        match self {
            RequiredCredentials::No => None,
            RequiredCredentials::ByTheKey => Some("every HTTP client needs the key in FAILWELL_KEY"),
            RequiredCredentials::ByTheFile => {
                Some("every HTTP client needs a key or token that the configuration knows, in place of KEY")
            }
            RequiredCredentials::ByMadeKeys => {
                Some("every HTTP client needs a key in place of KEY; an admin makes them with POST /v1/keys")
            }
        }
    }

    /// The header for a shell.
    pub(in crate::commands::serving) fn shell_header(self) -> Option<&'static str> {
        match self {
            RequiredCredentials::No => None,
            RequiredCredentials::ByTheKey => Some(r#""X-API-Key: $FAILWELL_KEY""#),
            RequiredCredentials::ByTheFile | RequiredCredentials::ByMadeKeys => Some(r#""X-API-Key: KEY""#),
        }
    }

    /// The value of the header in the file of a client that reads environment variables.
    fn file_header(self) -> Option<&'static str> {
        match self {
            RequiredCredentials::No => None,
            RequiredCredentials::ByTheKey => Some("${env:FAILWELL_KEY}"),
            RequiredCredentials::ByTheFile | RequiredCredentials::ByMadeKeys => Some("KEY"),
        }
    }
}

/// The lines for each client.
pub(super) struct Clients {
    url: String,
    credentials: RequiredCredentials,
    /// The arguments of `failwell stdio` for a client that starts in another folder.
    arguments: Vec<String>,
    /// This program: desktop clients have a short PATH.
    program: PathBuf,
}

impl Clients {
    pub(super) fn new(facts: &FirstScreen<'_>) -> Clients {
        let mut arguments = vec!["stdio".to_owned()];
        if let Some(file) = &facts.file {
            let whole = absolute(file).unwrap_or_else(|_| file.clone());
            arguments.extend(["--config".to_owned(), whole.display().to_string()]);
        }
        Clients {
            url: format!("http://{}/mcp", facts.address),
            credentials: facts.credentials,
            arguments,
            program: std::env::current_exe().unwrap_or_else(|_| "failwell".into()),
        }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let header = self.credentials.shell_header();
        let header = header.map_or(String::new(), |header| format!(" --header {header}"));
        let url = &self.url;
        let desktop = json!({"command": self.program.display().to_string(), "args": self.arguments});
        let code = self.entry(json!({"name": "failwell", "type": "http"}));
        [
            ("Claude Code", format!("claude mcp add --transport http failwell {url}{header}")),
            ("Claude Desktop", format!("claude_desktop_config.json: {}", servers(&desktop))),
            ("Cursor", format!("~/.cursor/mcp.json: {}", servers(&self.entry(json!({}))))),
            ("VS Code", format!("code --add-mcp '{code}'")),
            ("others", format!("{url}; /rpc and /v1/tools are plain JSON-RPC and REST")),
        ]
        .into_iter()
        .map(|(client, line)| format!("{client:<14} {line}"))
        .collect()
    }

    /// The address, and the header with the key, in addition to these members.
    fn entry(&self, mut members: Value) -> Value {
        if let Some(object) = members.as_object_mut() {
            object.insert("url".to_owned(), json!(self.url));
            if let Some(key) = self.credentials.file_header() {
                object.insert("headers".to_owned(), json!({"X-API-Key": key}));
            }
        }
        members
    }
}

fn servers(entry: &Value) -> Value {
    json!({"mcpServers": {"failwell": entry}})
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Clients, RequiredCredentials};

    fn lines(credentials: RequiredCredentials) -> Vec<String> {
        let clients = Clients {
            url: "http://127.0.0.1:8484/mcp".to_owned(),
            credentials,
            arguments: ["stdio", "--config", "/shop/failwell.toml"].map(str::to_owned).into(),
            program: "/bin/failwell".into(),
        };
        clients.lines()
    }

    fn json_of(line: &str) -> Value {
        let from = line.find('{').expect("JSON");
        serde_json::from_str(line[from..].trim_end_matches('\'')).expect("JSON")
    }

    #[test]
    fn each_client_gets_a_line_that_can_be_copied() {
        let all = lines(RequiredCredentials::No);
        assert_eq!(
            all[0],
            "Claude Code    claude mcp add --transport http failwell http://127.0.0.1:8484/mcp"
        );
        let desktop =
            json!({"command": "/bin/failwell", "args": ["stdio", "--config", "/shop/failwell.toml"]});
        assert_eq!(json_of(&all[1]), json!({"mcpServers": {"failwell": desktop}}));
        let url = "http://127.0.0.1:8484/mcp";
        assert_eq!(json_of(&all[2]), json!({"mcpServers": {"failwell": {"url": url}}}));
        assert_eq!(json_of(&all[3]), json!({"name": "failwell", "type": "http", "url": url}));
        assert!(all[4].starts_with("others") && all[4].contains(url), "{}", all[4]);
    }

    #[test]
    fn the_lines_have_the_header_where_a_key_is_needed() {
        let all = lines(RequiredCredentials::ByTheKey);
        assert!(all[0].ends_with(r#" --header "X-API-Key: $FAILWELL_KEY""#), "{}", all[0]);
        assert!(!all[1].contains("X-API-Key"), "stdio needs no key: {}", all[1]);
        let entry = &json_of(&all[2])["mcpServers"]["failwell"];
        assert_eq!(entry["headers"], json!({"X-API-Key": "${env:FAILWELL_KEY}"}));
        assert_eq!(json_of(&all[3])["headers"], json!({"X-API-Key": "${env:FAILWELL_KEY}"}));
        for credentials in [RequiredCredentials::ByTheFile, RequiredCredentials::ByMadeKeys] {
            let all = lines(credentials);
            assert!(all[0].ends_with(r#" --header "X-API-Key: KEY""#), "{}", all[0]);
            assert!(credentials.line().is_some_and(|line| line.contains("KEY")));
        }
    }
}
