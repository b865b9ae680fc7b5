//! Converts the servers of a client to `[[upstream]]` tables.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use failwell_controls::SHELF_SERVER;
use failwell_fault::Fault;

use super::secrets::{SecretFinder, is_harmless, is_telling};
use super::toml_text::{list, placeholders, shell_word, table, text};
use super::variables::{NeededVariable, ValuePart, VariableTable, parts};
use crate::client_file::{ClientFile, ClientServer, Launch};
use crate::config::{Builtin, upstream_name};

/// The tables of the converted servers, and what the user has to know.
pub(super) struct Conversion {
    pub(super) text: String,
    pub(super) servers: Vec<String>,
    pub(super) variables: Vec<NeededVariable>,
    /// What could not be taken over as it was.
    pub(super) notes: Vec<String>,
}

/// Schemes of the header `Authorization`, which are no secret.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];

struct Converter<'f> {
    finder: SecretFinder,
    inputs: &'f [(String, String)],
    /// The folder that `${workspaceFolder}` means.
    workspace: PathBuf,
    names: BTreeSet<String>,
    variables: VariableTable,
    notes: Vec<String>,
}

/// Converts all servers. Secrets become placeholders.
pub(super) fn convert(file: &ClientFile, from: &Path) -> Result<Conversion, Fault> {
    let mut converter = Converter {
        finder: SecretFinder::new()?,
        inputs: &file.inputs,
        workspace: workspace(from),
        names: BTreeSet::new(),
        variables: VariableTable::default(),
        notes: Vec::new(),
    };
    let source = from.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let source: String = source.chars().filter(|c| !c.is_control()).collect();
    let (mut tables, mut servers) = (String::new(), Vec::new());
    for server in &file.servers {
        if let Some((name, table)) = converter.server(server) {
            tables.push_str(&table);
            tables.push('\n');
            servers.push(name);
        }
    }
    let Converter { variables: VariableTable(variables), notes, .. } = converter;
    let text = format!("# The servers of {source}.\n{tables}");
    Ok(Conversion { text, servers, variables, notes })
}

/// The folder of a project: that of the file, or the one above a folder such as `.vscode`.
fn workspace(from: &Path) -> PathBuf {
    let whole = std::path::absolute(from).unwrap_or_else(|_| from.to_owned());
    let folder = whole.parent().unwrap_or(Path::new("/"));
    let is_hidden = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    folder.parent().filter(|_| is_hidden).unwrap_or(folder).to_owned()
}

impl Converter<'_> {
    fn server(&mut self, server: &ClientServer) -> Option<(String, String)> {
        let shown: String = server.name.chars().filter(|c| !c.is_control()).collect();
        let Some(launch) = &server.launch else {
            self.notes.push(format!("{shown}: left out, it has neither a command nor an address"));
            return None;
        };
        let name = self.name(&server.name);
        if name != server.name {
            self.notes.push(format!("{name}: this is `{shown}` of the client"));
        }
        let (mut lines, is_usable) = match launch {
            Launch::Command { words, env, cwd } => (self.command(&name, words, env, cwd.as_deref()), true),
            Launch::Url { url, headers, is_sse } => self.address(&name, url, headers, *is_sse),
        };
        if !server.left_out.is_empty() {
            self.notes.push(format!("{name}: without {}", server.left_out.join(", ")));
        }
        if server.is_disabled {
            self.notes
                .push(format!("{name}: is switched off in the client, and commented out in the new file"));
        }
        lines.insert(0, format!("name = {}", text(&name)));
        lines.insert(0, "[[upstream]]".to_owned());
        let comment = if server.is_disabled || !is_usable { "#" } else { "" };
        let table = lines.iter().map(|line| format!("{comment}{line}\n")).collect();
        Some((name, table))
    }

    /// A name that no other server has.
    fn name(&mut self, wanted: &str) -> String {
        let name = upstream_name(wanted).unwrap_or_else(|| "server".to_owned());
        let is_taken = |name: &String| {
            self.names.contains(name) || Builtin::named(name).is_some() || name == SHELF_SERVER
        };
        let mut names = std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}-{number}")));
        let free = names.find(|name| !is_taken(name)).unwrap_or(name);
        self.names.insert(free.clone());
        free
    }

    fn command(
        &mut self,
        server: &str,
        words: &[String],
        env: &[(String, String)],
        cwd: Option<&str>,
    ) -> Vec<String> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (name, value) in env {
            let parts = self.value(server, name, name, value, &format!("env {name} of {server}"));
            pairs.push((name.clone(), placeholders(&parts)));
        }
        let words = self.words(server, words);
        let is_plain = |parts: &Vec<ValuePart>| matches!(parts.as_slice(), [] | [ValuePart::Literal(_)]);
        let mut lines = Vec::new();
        if words.iter().all(is_plain) {
            let words: Vec<String> = words.iter().map(|parts| literal(parts)).collect();
            lines.push(format!("command = {}", list(&words)));
        } else {
            // Only a shell expands variables in arguments. It is replaced by the program.
            let line = words.iter().map(|parts| shell_word(parts)).collect::<Vec<_>>().join(" ");
            lines.push(format!(
                "command = {}",
                list(&["sh".to_owned(), "-c".to_owned(), format!("exec {line}")])
            ));
            for name in words.iter().flatten().filter_map(variable) {
                if !pairs.iter().any(|(known, _)| known == name) {
                    pairs.push((name.to_owned(), format!("${{{name}}}")));
                }
            }
        }
        lines.extend(cwd.and_then(|cwd| self.cwd(server, cwd)));
        if !pairs.is_empty() {
            lines.push(format!("env = {}", table(&pairs)));
        }
        lines
    }

    fn cwd(&mut self, server: &str, cwd: &str) -> Option<String> {
        let fill = |part: &ValuePart| match part {
            ValuePart::Literal(text) => Some(text.clone()),
            ValuePart::Variable(name) => std::env::var(name).ok(),
        };
        let path: Option<String> = parts(cwd, &self.workspace).iter().map(fill).collect();
        let folder = path.map(|path| self.workspace.join(path)).filter(|folder| folder.is_dir());
        if folder.is_none() {
            self.notes.push(format!("{server}: its `cwd` is no folder on this machine, and left out"));
        }
        folder.map(|folder| format!("cwd = {}", text(&folder.display().to_string())))
    }

    /// The lines of a server over HTTP, and whether its address can be used.
    fn address(
        &mut self,
        server: &str,
        url: &str,
        headers: &[(String, String)],
        is_sse: bool,
    ) -> (Vec<String>, bool) {
        let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
        let base_parts = parts(base, &self.workspace);
        let is_fixed = !base_parts.iter().any(|part| variable(part).is_some());
        let is_secret = is_fixed && (has_credentials(base) || self.finder.has_shape(base));
        let mut written = if is_secret { without_secret(base) } else { placeholders(&base_parts) };
        if is_secret {
            self.notes.push(format!(
                "{server}: its address holds a secret, and is commented out; see `headers` and `url` in the guide"
            ));
        } else if !is_fixed {
            self.notes.push(format!(
                "{server}: its address holds a variable, and is commented out; write it in full"
            ));
        } else if self.finder.has_random_path(base) {
            self.notes.push(format!("{server}: its address may be a secret, and stays in the new file"));
        }
        if let Some(query) = query {
            let members: Vec<String> =
                query.split('&').map(|member| self.query_member(server, member)).collect();
            written.push_str(&format!("?{}", members.join("&")));
        }
        let mut lines = vec![format!("url = {}", text(&written))];
        if is_sse {
            lines.push("transport = \"sse\"".to_owned());
        }
        let mut pairs = Vec::new();
        for (name, value) in headers {
            pairs.push((name.clone(), placeholders(&self.header(server, name, value))));
        }
        if !pairs.is_empty() {
            lines.push(format!("headers = {}", table(&pairs)));
        }
        (lines, is_fixed && !is_secret)
    }

    fn query_member(&mut self, server: &str, member: &str) -> String {
        let (name, value) = member.split_once('=').unwrap_or((member, ""));
        let wanted = format!("{server}_{name}");
        let parts = self.value(server, name, &wanted, value, &format!("the address of {server}"));
        match member.contains('=') {
            true => format!("{name}={}", placeholders(&parts)),
            false => name.to_owned(),
        }
    }

    fn header(&mut self, server: &str, name: &str, value: &str) -> Vec<ValuePart> {
        let is_authorization = name.to_ascii_lowercase().ends_with("authorization");
        let wanted = if is_authorization { format!("{server}_token") } else { format!("{server}_{name}") };
        let used_for = format!("header {name} of {server}");
        let scheme = value
            .split_once(' ')
            .filter(|(scheme, _)| SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()));
        match scheme {
            Some((scheme, secret)) => {
                let mut parts = self.value(server, name, &wanted, secret.trim(), &used_for);
                parts.insert(0, ValuePart::Literal(format!("{scheme} ")));
                parts
            }
            None => self.value(server, name, &wanted, value, &used_for),
        }
    }

    /// The words of a command. Values of options with telling names, and texts with the shape of a secret, are moved.
    fn words(&mut self, server: &str, words: &[String]) -> Vec<Vec<ValuePart>> {
        let used_for = format!("the command of {server}");
        let mut all = Vec::new();
        let mut option = "";
        for (index, word) in words.iter().enumerate() {
            let named = word.split_once('=').filter(|(name, _)| !name.contains([' ', '/', ':']));
            let headed = word.split_once(':').filter(|_| option.ends_with("header") || option == "H");
            let before = std::mem::take(&mut option);
            let is_option = word.starts_with('-');
            let parts = if index == 0 {
                self.referring(word, &used_for)
            } else if let Some((name, value)) = named {
                let bare = name.trim_start_matches('-');
                let wanted = if is_option { format!("{server}_{bare}") } else { bare.to_owned() };
                let mut parts = self.value(server, bare, &wanted, value, &used_for);
                parts.insert(0, ValuePart::Literal(format!("{name}=")));
                joined(parts)
            } else if let Some((name, value)) = headed {
                let space = if value.starts_with(' ') { " " } else { "" };
                let mut parts = self.header(server, name, value.trim_start());
                parts.insert(0, ValuePart::Literal(format!("{name}:{space}")));
                joined(parts)
            } else if !is_option && (is_telling(before) || self.is_secret_word(word)) {
                let wanted = if is_telling(before) { before } else { "secret" };
                self.value(server, "key", &format!("{server}_{wanted}"), word, &used_for)
            } else {
                self.referring(word, &used_for)
            };
            option = if is_option { word.trim_start_matches('-') } else { "" };
            all.push(parts);
        }
        all
    }

    fn is_secret_word(&self, word: &str) -> bool {
        self.finder.has_shape(word) || self.finder.has_random_path(word)
    }

    /// A value as parts. A secret becomes a variable of the wanted name.
    fn value(
        &mut self,
        server: &str,
        name: &str,
        wanted: &str,
        value: &str,
        used_for: &str,
    ) -> Vec<ValuePart> {
        let found = self.referring(value, used_for);
        let is_text = matches!(found.as_slice(), [ValuePart::Literal(_)]);
        if !is_text || is_harmless(value) || !self.finder.is_secret(name, value) {
            return found;
        }
        vec![ValuePart::Variable(self.variables.move_secret(wanted, server, value, used_for))]
    }

    /// A value as parts, with its variables noted.
    fn referring(&mut self, value: &str, used_for: &str) -> Vec<ValuePart> {
        let found = parts(value, &self.workspace);
        for name in found.iter().filter_map(variable).filter(|name| *name != "HOME") {
            let asked = self.inputs.iter().find(|(id, _)| super::variables::variable_name(id) == *name);
            match asked
                .map(|(_, description)| description.chars().filter(|c| !c.is_control()).collect::<String>())
            {
                Some(description) if !description.is_empty() => {
                    self.variables.refer(name, &format!("{used_for} ({description})"));
                }
                _ => self.variables.refer(name, used_for),
            }
        }
        found
    }
}

fn variable(part: &ValuePart) -> Option<&str> {
    match part {
        ValuePart::Literal(_) => None,
        ValuePart::Variable(name) => Some(name),
    }
}

fn literal(parts: &[ValuePart]) -> String {
    parts.iter().map(|part| if let ValuePart::Literal(text) = part { text.as_str() } else { "" }).collect()
}

/// Merges neighbouring texts.
fn joined(parts: Vec<ValuePart>) -> Vec<ValuePart> {
    let mut all: Vec<ValuePart> = Vec::new();
    for part in parts {
        match (all.last_mut(), part) {
            (Some(ValuePart::Literal(known)), ValuePart::Literal(more)) => known.push_str(&more),
            (_, part) => all.push(part),
        }
    }
    all
}

/// Whether an address has a user or a password.
fn has_credentials(url: &str) -> bool {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest.split('/').next().unwrap_or_default());
    authority.contains('@')
}

/// Scheme and host of an address, without what may be secret.
fn without_secret(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/")
}

#[cfg(test)]
mod tests {
    use super::convert;
    use crate::client_file::ClientFile;
    use std::path::Path;

    /// The table of one server, and the variables to set.
    fn check(entry: &str, lines: &str, variables: &[&str]) {
        let file = ClientFile::parse(&format!(r#"{{"mcpServers": {{"Shop": {entry}}}}}"#)).expect("a file");
        let done = convert(&file, Path::new("/shop/.vscode/mcp.json")).expect("converted");
        let expected = format!("# The servers of mcp.json.\n{lines}\n\n");
        assert_eq!(done.text, expected, "{entry}");
        let names: Vec<&str> = done.variables.iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names, variables, "{entry}");
        assert!(!done.notes.concat().contains("hunter2"), "{:?}", done.notes);
    }

    #[test]
    fn servers_become_upstreams_without_their_secrets() {
        let name = "[[upstream]]\nname = \"shop\"\n";
        for (entry, lines, variables) in [
            (
                r#"{"command": "npx", "args": ["-y", "shop"], "env": {"LOG": "warn", "SHOP_API_KEY": "hunter2"}}"#,
                "command = [\"npx\", \"-y\", \"shop\"]\nenv = { LOG = \"warn\", SHOP_API_KEY = \"${SHOP_API_KEY}\" }",
                &["SHOP_API_KEY"][..],
            ),
            (
                r#"{"command": "shop", "args": ["--api-key", "hunter2", "--root", "${workspaceFolder}"]}"#,
                "command = [\"sh\", \"-c\", \"exec shop --api-key \\\"$SHOP_API_KEY\\\" --root /shop\"]\nenv = { SHOP_API_KEY = \"${SHOP_API_KEY}\" }",
                &["SHOP_API_KEY"],
            ),
            (
                r#"{"command": "docker", "args": ["run", "-e", "SHOP_TOKEN=hunter2", "shop"]}"#,
                "command = [\"sh\", \"-c\", \"exec docker run -e SHOP_TOKEN=\\\"$SHOP_TOKEN\\\" shop\"]\nenv = { SHOP_TOKEN = \"${SHOP_TOKEN}\" }",
                &["SHOP_TOKEN"],
            ),
            (
                r#"{"command": "npx", "args": ["mcp-remote", "https://h/mcp", "--header", "Authorization: Bearer hunter2"]}"#,
                "command = [\"sh\", \"-c\", \"exec npx mcp-remote https://h/mcp --header 'Authorization: Bearer '\\\"$SHOP_TOKEN\\\"\"]\nenv = { SHOP_TOKEN = \"${SHOP_TOKEN}\" }",
                &["SHOP_TOKEN"],
            ),
            (
                r#"{"type": "http", "url": "https://h/mcp?key=hunter2&x=1", "headers": {"Authorization": "Bearer hunter2", "X-Team": "a"}}"#,
                "url = \"https://h/mcp?key=${SHOP_KEY}&x=1\"\nheaders = { Authorization = \"Bearer ${SHOP_TOKEN}\", X-Team = \"a\" }",
                &["SHOP_KEY", "SHOP_TOKEN"],
            ),
            (
                r#"{"type": "sse", "serverUrl": "https://h/sse", "headers": {"X-Api-Key": "${input:shop-key}"}}"#,
                "url = \"https://h/sse\"\ntransport = \"sse\"\nheaders = { X-Api-Key = \"${SHOP_KEY}\" }",
                &["SHOP_KEY"],
            ),
        ] {
            check(entry, &format!("{name}{lines}"), variables);
        }
        let off = "#[[upstream]]\n#name = \"shop\"\n#command = [\"shop\"]";
        check(r#"{"command": "shop", "disabled": true}"#, off, &[]);
        let hidden = "#[[upstream]]\n#name = \"shop\"\n#url = \"https://h/\"";
        check(r#"{"url": "https://me:hunter2@h/mcp"}"#, hidden, &[]);
    }
}
