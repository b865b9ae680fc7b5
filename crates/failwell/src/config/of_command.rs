//! The configuration of one server that is named on the command line, without a file.

use std::path::Path;
use std::time::Duration;

use failwell_controls::SHELF_SERVER;
use failwell_gateway::ToolErrors;

use super::Builtin;
use super::keys::{
    LIST_WAIT, MAX_MESSAGE_BYTES, MAX_SESSIONS, RESTART_BUDGET, RESTART_WINDOW, START_TIMEOUT, TIMEOUT,
};
use super::parse::names::{is_variable, upstream_name};
use super::settings::{Config, Restart, Target, UpstreamConfig};

/// Programs that run another one, which gives the server its name.
const RUNNERS: [&str; 12] =
    ["bun", "bunx", "deno", "docker", "node", "npx", "pipx", "pnpm", "python", "python3", "uv", "uvx"];
/// Words of a runner before the name of the package.
const RUN: [&str; 4] = ["dlx", "exec", "run", "x"];
/// The name of a server whose command has no usable word.
const NAMELESS: &str = "server";

impl Config {
    /// One upstream, started by this command. It inherits the environment of the shell in which the command was typed,
    /// except for the variables of Failwell itself.
    pub(crate) fn of_command(words: &[String]) -> Config {
        let inherited = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let inherited = inherited.filter(|name| is_variable(name) && !name.starts_with("FAILWELL_"));
        let target = Target::Command {
            program: words.first().cloned().unwrap_or_default(),
            arguments: words.iter().skip(1).cloned().collect(),
            cwd: None,
            env: std::collections::BTreeMap::new(),
            env_pass: inherited.collect(),
        };
        let upstream = UpstreamConfig::with_defaults(command_name(words), target);
        Config { servers: Vec::new(), upstreams: vec![upstream], ..Config::default() }
    }

    /// The only server of the configuration, if it was named on the command line. Its tools keep their names.
    pub(crate) fn command_server(&self) -> Option<&str> {
        match (&self.file, self.servers.as_slice(), self.upstreams.as_slice()) {
            (None, [], [only]) => Some(&only.name),
            _ => None,
        }
    }
}

impl UpstreamConfig {
    /// An upstream with the default of every key.
    pub(crate) fn with_defaults(name: String, target: Target) -> UpstreamConfig {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        UpstreamConfig {
            name,
            target,
            sharing: None,
            max_sessions: count(MAX_SESSIONS.default),
            timeout: Duration::from_secs(TIMEOUT.default),
            start_timeout: Duration::from_secs(START_TIMEOUT.default),
            list_wait: Duration::from_secs(LIST_WAIT.default),
            lazy: false,
            idle_stop: None,
            max_message_bytes: count(MAX_MESSAGE_BYTES.default),
            restart: Restart {
                budget: u32::try_from(RESTART_BUDGET.default).unwrap_or(u32::MAX),
                window: Duration::from_secs(RESTART_WINDOW.default),
            },
            trusted_errors: false,
            errors: ToolErrors::default(),
            instructions: true,
        }
    }
}

/// A name for the server of a command: `npx -y @modelcontextprotocol/server-memory` is `memory`.
fn command_name(words: &[String]) -> String {
    let mut words = words.iter().map(String::as_str);
    let program = words.next().map(base_name).unwrap_or_default();
    let package = words.find(|word| !word.starts_with('-') && !RUN.contains(word)).map(base_name);
    let word = if RUNNERS.contains(&program) { package.unwrap_or(program) } else { program };
    let word = word.split('@').find(|part| !part.is_empty()).unwrap_or(word);
    let plain = ["mcp-server-", "server-", "mcp-"].into_iter().find_map(|start| word.strip_prefix(start));
    let plain = plain.unwrap_or(word);
    let plain = plain.strip_suffix("-mcp-server").or_else(|| plain.strip_suffix("-mcp")).unwrap_or(plain);
    let name = upstream_name(plain).filter(|name| Builtin::named(name).is_none() && name != SHELF_SERVER);
    name.unwrap_or_else(|| NAMELESS.to_owned())
}

/// The last part of a path, without the extension of a script.
fn base_name(word: &str) -> &str {
    let path = Path::new(word);
    let is_script = path
        .extension()
        .is_some_and(|end| ["js", "mjs", "cjs", "py", "ts"].iter().any(|known| end == *known));
    let name = if is_script { path.file_stem() } else { path.file_name() };
    name.and_then(|name| name.to_str()).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::command_name;

    #[test]
    fn a_command_gives_its_server_a_name() {
        for (line, name) in [
            ("npx -y @modelcontextprotocol/server-memory", "memory"),
            ("npx -y @scope/thing@1.2.3", "thing"),
            ("uvx mcp-server-git --repository .", "git"),
            ("uv run --quiet notes.py", "notes"),
            ("python3 /srv/tools/shop_server.py", "shop_server"),
            ("docker run -i --rm mcp/fetch", "fetch"),
            ("./target/debug/shop --stdio", "shop"),
            ("./pytest", "server"),
            ("sh -c true", "sh"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(command_name(&words), name, "{line}");
        }
    }
}
