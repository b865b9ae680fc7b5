//! The files in which MCP clients keep their servers: JSON, with comments and trailing commas.

mod entry;
mod jsonc;

use serde_json::{Map, Value};

pub(crate) use entry::{ClientServer, Launch, read_entry};

/// Where clients keep the table of servers, as JSON Pointers.
const TABLES: [&str; 5] = ["/mcpServers", "/servers", "/mcp/servers", "/context_servers", "/amp.mcpServers"];

/// A file with servers of a client.
#[derive(Debug)]
pub(crate) struct ClientFile {
    /// The servers by name, in the order of the file's names.
    pub(crate) servers: Vec<ClientServer>,
    /// The values that VS Code asks the user for when a server starts, by id.
    pub(crate) inputs: Vec<(String, String)>,
}

/// Why a text is no such file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClientFileError {
    NotJson(String),
    NoServers,
}

impl ClientFile {
    pub(crate) fn parse(text: &str) -> Result<ClientFile, ClientFileError> {
        let root = jsonc::parse(text).map_err(|error| ClientFileError::NotJson(error.to_string()))?;
        let table = table_of(&root).ok_or(ClientFileError::NoServers)?;
        let servers = table.iter().map(|(name, entry)| read_entry(name, entry)).collect();
        Ok(ClientFile { servers, inputs: inputs(&root) })
    }

    /// Whether a text is such a file and not TOML.
    pub(crate) fn is_in(text: &str) -> bool {
        jsonc::parse(text).is_ok_and(|root| table_of(&root).is_some())
    }
}

/// The first table whose members look like servers. Other programs use the same words for other things.
fn table_of(root: &Value) -> Option<&Map<String, Value>> {
    let tables = TABLES.iter().filter_map(|place| root.pointer(place)?.as_object());
    tables.into_iter().find(|table| !table.is_empty() && table.values().all(Value::is_object))
}

fn inputs(root: &Value) -> Vec<(String, String)> {
    let all = root.get("inputs").or_else(|| root.pointer("/mcp/inputs")).and_then(Value::as_array);
    let text = |input: &Value, name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
    let inputs = all.into_iter().flatten();
    inputs
        .filter_map(|input| Some((text(input, "id")?, text(input, "description").unwrap_or_default())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{ClientFile, ClientFileError};

    #[test]
    fn the_tables_of_clients_are_found() {
        let one = r#"{"a": {"command": "x"}}"#;
        for (text, count) in [
            (format!(r#"{{"mcpServers": {one}}}"#), Some(1)),
            (format!("\u{feff}// mine\n{{\"servers\": {one}, /* all */ \"inputs\": [],}}"), Some(1)),
            (format!(r#"{{"mcp": {{"servers": {one}}}}}"#), Some(1)),
            (format!(r#"{{"context_servers": {one}}}"#), Some(1)),
            (format!(r#"{{"amp.mcpServers": {one}}}"#), Some(1)),
            (r#"{"mcpServers": {}}"#.to_owned(), None),
            (r#"{"servers": {"a": "b"}}"#.to_owned(), None),
            ("{}".to_owned(), None),
        ] {
            let parsed = ClientFile::parse(&text).map(|file| file.servers.len());
            assert_eq!(parsed, count.ok_or(ClientFileError::NoServers), "{text}");
            assert_eq!(ClientFile::is_in(&text), count.is_some(), "{text}");
        }
        assert!(!ClientFile::is_in("servers = [\"lobby\"]\n"));
        assert!(matches!(ClientFile::parse("{"), Err(ClientFileError::NotJson(_))));
    }
}
