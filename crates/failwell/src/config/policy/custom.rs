//! `[[guard.custom]]`: custom guards.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use failwell_plugins::{ChildSettings, ModuleLimits, WasmModule};
use failwell_policy::Pattern;
use failwell_policy::guard::custom::CustomRule;
use failwell_policy::guard::{Direction, Guard};

use super::guard::one_of;
use super::rules::this_server;
use crate::config::keys::{FUEL, INSTANCES, MEMORY_MB, PRIORITY, TIMEOUT_MS};
use crate::config::parse::names::is_upstream;
use crate::config::parse::reader::{Reader, Section};
use crate::config::servers::program;
use crate::config::servers::upstream::{program as command, restart, strangers};
use crate::config::settings::Target;
use crate::parts::WASM;

/// Maximum number of custom guards. A message may pass all of them.
const MOST: usize = 32;
/// Maximum length of a name.
const LONGEST_NAME: usize = 32;
/// Maximum size of a module file, in bytes.
const LARGEST: u64 = 16 << 20;

/// One custom guard.
#[derive(Debug)]
pub(crate) struct CustomConfig {
    pub(crate) rule: CustomRule,
    pub(crate) runs: Runs,
}

/// Its implementation.
#[derive(Debug)]
pub(crate) enum Runs {
    /// A WebAssembly module, compiled when the file is read.
    Module { path: PathBuf, bytes: Vec<u8>, limits: ModuleLimits, module: Arc<WasmModule> },
    /// A child process.
    Child(ChildSettings),
}

impl PartialEq for Runs {
    fn eq(&self, other: &Runs) -> bool {
        match (self, other) {
            (Runs::Module { bytes, limits, .. }, Runs::Module { bytes: others, limits: other, .. }) => {
                bytes == others && limits == other
            }
            (Runs::Child(settings), Runs::Child(other)) => settings == other,
            _ => false,
        }
    }
}

impl PartialEq for CustomConfig {
    fn eq(&self, other: &CustomConfig) -> bool {
        self.rule == other.rule && self.runs == other.runs
    }
}

pub(super) fn read(
    reader: &mut Reader<'_>,
    guards: &Section<'_>,
    servers: &[String],
) -> Vec<Arc<CustomConfig>> {
    let sections = reader.tables(guards, "custom");
    if sections.len() > MOST {
        let message = format!("there are more than {MOST} custom guards");
        reader.wrong(&guards.key_span("custom"), &guards.path("custom"), message, "combine some of them");
    }
    let mut lines = BTreeMap::new();
    sections.iter().take(MOST).filter_map(|section| one(reader, section, servers, &mut lines)).collect()
}

fn one(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    servers: &[String],
    lines: &mut BTreeMap<String, usize>,
) -> Option<Arc<CustomConfig>> {
    let all = Direction::ALL.map(Direction::as_str);
    let directions = match reader.texts(section, "directions") {
        Some(found) => found.iter().filter_map(|item| one_of(reader, item, Direction::parse, &all)).collect(),
        None => Direction::ALL.to_vec(),
    };
    let named = reader.texts(section, "servers").unwrap_or_default();
    let servers = named.iter().map(|name| this_server(reader, name, servers)).collect();
    let tools = reader.texts(section, "tools").unwrap_or_default();
    let rule = CustomRule {
        name: name(reader, section, lines),
        directions,
        servers,
        tools: tools.iter().map(|tool| Pattern::new(&tool.value)).collect(),
        timeout: Duration::from_millis(reader.number(section, &TIMEOUT_MS)),
        critical: reader.flag(section, "critical").unwrap_or(true),
        priority: reader.number(section, &PRIORITY),
    };
    let runs = runs(reader, section)?;
    check_program(reader, section, &rule, &runs);
    Some(Arc::new(CustomConfig { rule, runs }))
}

/// The name. It must be unique among guards.
fn name(reader: &mut Reader<'_>, section: &Section<'_>, lines: &mut BTreeMap<String, usize>) -> String {
    if !section.has("name") {
        let help = "add name = \"…\": lowercase letters, digits, - and _";
        reader.missing(section, "name", "the guard has no name", help);
    }
    let Some(found) = reader.text(section, "name") else { return String::new() };
    let name = found.value;
    if !is_upstream(&name) || name.len() > LONGEST_NAME {
        let help = "use at most 32 lowercase letters, digits, - and single _, beginning with a letter and not ending in _";
        reader.wrong(&found.span, &found.key, "this cannot be the name of a guard", help);
    } else if Guard::ALL.iter().any(|guard| guard.as_str() == name) {
        let message = format!("`{name}` is the name of a built-in guard");
        reader.wrong(&found.span, &found.key, message, "choose another name");
    } else if let Some(line) = lines.get(&name) {
        let message = format!("`{name}` is the name of two guards");
        reader.wrong(&found.span, &found.key, message, format!("rename one; the other is on line {line}"));
    } else {
        lines.insert(name.clone(), reader.source.line(found.span.start));
    }
    name
}

fn runs(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Runs> {
    match (section.has("wasm"), section.has("command")) {
        (true, true) => {
            let help = "keep `wasm` for a module, or `command` for a program to start";
            let message = "the guard has both `wasm` and `command`";
            reader.wrong(&section.key_span("command"), &section.path("command"), message, help);
            None
        }
        (false, false) => {
            let help = "add wasm = \"guard.wasm\" or command = [\"program\", \"argument\"]";
            reader.missing(section, "wasm", "the guard has neither `wasm` nor `command`", help);
            None
        }
        (true, false) => {
            strangers(reader, section, ("wasm", "command"), &["cwd", "env", "env_pass", "restart"]);
            module(reader, section)
        }
        (false, true) => {
            strangers(reader, section, ("command", "wasm"), &["fuel", "instances"]);
            child(reader, section)
        }
    }
}

/// A critical guard must be able to start.
fn check_program(reader: &mut Reader<'_>, section: &Section<'_>, rule: &CustomRule, runs: &Runs) {
    let Runs::Child(settings) = runs else { return };
    // An empty name already has a problem.
    if !rule.critical || settings.program.as_os_str().is_empty() {
        return;
    }
    if let Some(why) = program::problem(settings) {
        let message = format!("the program of the guard cannot be started: {why}");
        let help = "name a program on the PATH, or a path that starts at `cwd`; `critical = false` starts without it";
        reader.wrong_extension(&section.key_span("command"), &section.path("command"), message, help);
    }
}

/// Compiles the module now, so that `failwell check` reports an invalid one.
fn module(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Runs> {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let limits = ModuleLimits {
        memory: number(reader.number(section, &MEMORY_MB) << 20),
        fuel: reader.number(section, &FUEL),
        instances: number(reader.number(section, &INSTANCES)),
    };
    let found = reader.text(section, "wasm")?;
    if !reader.has_part(WASM, &found.span, &found.key) {
        return None;
    }
    let path = reader.folder.join(&found.value);
    let bytes = match load(&path) {
        Ok(bytes) => bytes,
        Err(why) => {
            let message = format!("the module cannot be read: {why}");
            reader.wrong_extension(&found.span, &found.key, message, "name a .wasm or .wat file");
            return None;
        }
    };
    match WasmModule::load(&bytes, limits) {
        Ok(module) => Some(Runs::Module { path, bytes, limits, module: Arc::new(module) }),
        Err(flaw) => {
            reader.wrong_extension(&found.span, &found.key, flaw.what, flaw.help);
            None
        }
    }
}

fn load(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn child(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Runs> {
    let Target::Command { program, arguments, cwd, env, env_pass } = command(reader, section) else {
        return None;
    };
    let restart = restart(reader, section);
    let memory = section.has("memory_mb").then(|| reader.number(section, &MEMORY_MB) << 20);
    Some(Runs::Child(ChildSettings {
        program: program.into(),
        arguments: arguments.into_iter().map(Into::into).collect(),
        // Relative to the folder of the file, like its paths.
        folder: cwd.unwrap_or_else(|| absolute(reader.folder)),
        environment: env.into_iter().collect(),
        inherited: env_pass,
        memory,
        budget: restart.budget,
        window: restart.window,
    }))
}

fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}
