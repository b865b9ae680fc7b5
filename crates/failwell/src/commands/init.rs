mod convert;
mod secrets;
mod toml_text;
mod variables;

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::convert::{Conversion, convert};
use crate::cli::Init;
use crate::client_file::{ClientFile, ClientFileError};
use crate::commands::config_file::counted;
use crate::complaint::Complaint;
use crate::config::{self, DEFAULT_FILE, ProblemSort};
use crate::terminal;

/// The commented file that a new one begins as.
const EXAMPLE: &str = include_str!("../../../../examples/failwell.toml");
/// The line of the example before which converted servers stand.
const SERVERS_BEFORE: &str = "# An upstream server that Failwell starts and speaks to over stdio.\n";
/// The built-in servers of the example. A converted file has none.
const BUILT_IN: &str = "servers = [\"lobby\"]\n";
/// Maximum size of a client's file, in bytes. Some clients keep their whole state in it.
const LARGEST: u64 = 32 << 20;

/// Writes a new configuration file.
pub(in crate::commands) fn run(arguments: &Init) -> Result<ExitCode, Complaint> {
    let path = arguments.config.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
    if !arguments.force && path.symlink_metadata().is_ok() {
        return Err(exists(&path));
    }
    let converted = arguments.from.as_deref().map(converted).transpose()?;
    let text = converted.as_ref().map_or_else(|| EXAMPLE.to_owned(), with_servers);
    write(&path, &text, arguments.force)?;
    terminal::print(&match (&converted, &arguments.from) {
        (Some(conversion), Some(from)) => conversion_report(&path, from, conversion),
        _ => format!("{} is written; it serves the demo server\n{}", path.display(), next_steps(&path)),
    });
    Ok(ExitCode::SUCCESS)
}

fn exists(path: &Path) -> Complaint {
    Complaint::new(
        format!("{} exists already", path.display()),
        "name another file, or overwrite it with --force",
    )
}

fn converted(from: &Path) -> Result<Conversion, Complaint> {
    let name = from.display();
    let unreadable = |error: std::io::Error| {
        Complaint::new(format!("{name} cannot be read: {error}"), "check the path and its permissions")
    };
    let mut text = String::new();
    File::open(from).and_then(|file| file.take(LARGEST).read_to_string(&mut text)).map_err(unreadable)?;
    let file = ClientFile::parse(&text).map_err(|error| match error {
        ClientFileError::NotJson(why) => {
            let why = why.chars().filter(|c| !c.is_control()).collect::<String>();
            Complaint::new(format!("{name} is no JSON: {why}"), "name the JSON file of an MCP client")
        }
        ClientFileError::NoServers => Complaint::new(
            format!("{name} has no servers of an MCP client"),
            "name a file with `mcpServers`, or with `servers` as VS Code has it",
        ),
    })?;
    let conversion =
        convert(&file, from).map_err(|fault| crate::commands::serving::serve::unexpected(&fault))?;
    if conversion.servers.is_empty() {
        return Err(Complaint::new(
            format!("none of the servers in {name} can be converted"),
            conversion.notes.join("; "),
        ));
    }
    Ok(conversion)
}

/// The example with the converted servers in their place.
fn with_servers(conversion: &Conversion) -> String {
    let text = EXAMPLE.replacen(BUILT_IN, "servers = []\n", 1);
    match text.split_once(SERVERS_BEFORE) {
        Some((before, after)) => format!("{before}{}{SERVERS_BEFORE}{after}", conversion.text),
        None => format!("{text}\n{}", conversion.text),
    }
}

/// Writes a new file, or replaces one as a whole. A link stays a link.
fn write(path: &Path, text: &str, replace: bool) -> Result<(), Complaint> {
    let unwritable = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => Complaint::new(
            format!("{} cannot be written: {error}", path.display()),
            "check the folder and its permissions",
        ),
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(unwritable)?;
    }
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if !replace || !target.exists() {
        let created = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
        return created.map_err(unwritable);
    }
    let beside = target.with_extension(format!("new-{}", std::process::id()));
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &target));
    written.map_err(|error| {
        let _ = fs::remove_file(&beside);
        unwritable(error)
    })
}

/// Lists the converted servers, the variables to set and the next steps. It contains no value.
fn conversion_report(path: &Path, from: &Path, conversion: &Conversion) -> String {
    let Conversion { servers, variables, notes, .. } = conversion;
    let mut text = format!(
        "{} is written with {}: {}\n",
        path.display(),
        counted(servers.len(), "server"),
        servers.join(", ")
    );
    if !variables.is_empty() {
        text.push_str(&format!(
            "\nset these variables before the start; {} has the values\n",
            from.display()
        ));
        let widest = variables.iter().map(|variable| variable.name.len()).max().unwrap_or(0);
        for variable in variables {
            let set = if std::env::var_os(&variable.name).is_some() { " (is set)" } else { "" };
            text.push_str(&format!("  {:<widest$}  {}{set}\n", variable.name, variable.used_for));
        }
    }
    if !notes.is_empty() {
        text.push_str("\nlook at\n");
        notes.iter().for_each(|note| text.push_str(&format!("  {note}\n")));
    }
    let problems = config::load(path).err().unwrap_or_default();
    let count = problems.iter().filter(|problem| problem.sort() != ProblemSort::Placeholder).count();
    if count > 0 {
        text.push_str(&format!(
            "  {} in the new file; `failwell check` shows them\n",
            counted(count, "problem")
        ));
    }
    text + &next_steps(path)
}

fn next_steps(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let is_usual = config::usual_places().iter().any(|place| place == path);
    let named = |flag: &str| if is_usual { String::new() } else { format!(" {flag}{}", path.display()) };
    format!(
        "\nnext\n  failwell check --start{}\n  failwell up{}\n  failwell stdio --config {}   (the command for clients)\n",
        named(""),
        named("--config "),
        whole.display()
    )
}
