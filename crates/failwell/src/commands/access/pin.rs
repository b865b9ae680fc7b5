//! `failwell pin`: pinned and quarantined tool definitions.

use std::io::{BufRead, IsTerminal, stdin};
use std::process::ExitCode;

use failwell_store::{PinAdmin, PinRecord, describe_change, visible};
use serde_json::{Value, json as object};

use super::consent_location::ConsentLocation;
use super::decision::{DecisionRecord, Register, person};
use crate::cli::{LedgerLocation, PinCommand, PinForget, PinSelection};
use crate::commands::config_file::counted;
use crate::commands::json;
use crate::commands::records::audit;
use crate::complaint::Complaint;
use crate::terminal::{self, Paint};

/// Number of hash digits shown.
const DIGITS: usize = 12;

pub(in crate::commands) fn run(what: &PinCommand) -> Result<ExitCode, Complaint> {
    match what {
        PinCommand::List(arguments) => list(&arguments.which, arguments.json),
        PinCommand::Diff(arguments) => diff(&arguments.which, arguments.json),
        PinCommand::Approve(arguments) => approve(&arguments.which, arguments.yes),
        PinCommand::Forget(arguments) => forget(arguments),
    }
}

struct PinFile {
    book: PinAdmin,
    place: ConsentLocation,
}

impl PinFile {
    /// The pins of the gateway whose configuration is used. With `--data-dir`, the pins of all gateways in
    /// that folder.
    fn at(place: &LedgerLocation) -> Result<PinFile, Complaint> {
        let place = ConsentLocation::at(place)?;
        Ok(PinFile { book: PinAdmin::new(&place.consent, place.scope.clone()), place })
    }
}

/// The selected pins. A selected pin must exist.
fn wanted(file: &PinFile, which: &PinSelection) -> Result<Vec<PinRecord>, Complaint> {
    // Only an unreadable file is an error here. A missing file has no pins.
    file.place.is_there()?;
    let all = file.book.all(which.server.as_deref());
    let mut pins = all.map_err(|fault| file.place.file.unreadable(&fault))?;
    let missing = |what: &str| {
        let what = on_one_line(what);
        Complaint::new(
            format!("there is no pin of {what}"),
            "`failwell pin list` shows what there is; names are those the server itself uses",
        )
    };
    if let Some(server) = which.server.as_ref().filter(|_| pins.is_empty()) {
        return Err(missing(server));
    }
    if let Some(tool) = which.names.iter().find(|name| !pins.iter().any(|pin| pin.name == **name)) {
        return Err(missing(tool));
    }
    pins.retain(|pin| which.names.is_empty() || which.names.contains(&pin.name));
    Ok(pins)
}

fn list(which: &PinSelection, as_json: bool) -> Result<ExitCode, Complaint> {
    let pins = wanted(&PinFile::at(&which.place)?, which)?;
    if as_json {
        terminal::print(&json(&pins.iter().map(row).collect::<Vec<_>>())?);
        return Ok(ExitCode::SUCCESS);
    }
    if pins.is_empty() {
        terminal::report("nothing is known yet: tools are pinned when a gateway first lists them\n");
    }
    let paint = Paint::for_stdout();
    for pin in &pins {
        let state = match state(pin) {
            "pinned" => paint.green("pinned"),
            held => paint.yellow(&format!("{held:<6}")),
        };
        let digits = pin.held_hash.as_deref().or(pin.hash.as_deref()).map(digits).unwrap_or_default();
        terminal::print(&format!("{state}  {digits}  {}\n", title(pin)));
    }
    Ok(ExitCode::SUCCESS)
}

fn diff(which: &PinSelection, as_json: bool) -> Result<ExitCode, Complaint> {
    let mut pins = wanted(&PinFile::at(&which.place)?, which)?;
    pins.retain(|pin| pin.held_hash.is_some());
    if as_json {
        terminal::print(&json(&pins.iter().map(row).collect::<Vec<_>>())?);
    } else if pins.is_empty() {
        terminal::report("nothing is held\n");
    } else {
        terminal::print(&pins.iter().map(|pin| difference(pin, Paint::for_stdout())).collect::<String>());
        terminal::report("`failwell pin approve SERVER [NAME…]` lets them through\n");
    }
    Ok(ExitCode::SUCCESS)
}

fn approve(which: &PinSelection, yes: bool) -> Result<ExitCode, Complaint> {
    let file = PinFile::at(&which.place)?;
    let mut pins = wanted(&file, which)?;
    pins.retain(|pin| pin.held_hash.is_some());
    if pins.is_empty() {
        terminal::report("nothing is held\n");
        return Ok(ExitCode::SUCCESS);
    }
    terminal::print(&pins.iter().map(|pin| difference(pin, Paint::for_stdout())).collect::<String>());
    if !yes && !is_wanted()? {
        terminal::report("nothing was approved; say it with --yes\n");
        return Ok(ExitCode::SUCCESS);
    }
    let register = Register::open(&which.place, &audit::folder(&which.place)?)?;
    let done = file.book.approve(&pins, &person()).map_err(|fault| file.place.file.unwritable(&fault))?;
    for pin in &pins {
        let digits = pin.held_hash.as_deref().map(digits).unwrap_or_default();
        write_down(&register, pin, "approve", vec![format!("definition {digits}")])?;
    }
    if done < pins.len() {
        return Err(Complaint::new(
            format!(
                "{} changed again meanwhile, and was not approved",
                counted(pins.len() - done, "definition")
            ),
            "look at it once more: failwell pin diff",
        ));
    }
    terminal::print(&format!(
        "approved: {}; a running gateway applies it within a second\n",
        counted(done, "definition")
    ));
    Ok(ExitCode::SUCCESS)
}

fn forget(arguments: &PinForget) -> Result<ExitCode, Complaint> {
    let PinForget { server, names, place } = arguments;
    let which = PinSelection { server: Some(server.clone()), names: names.clone(), place: place.clone() };
    let file = PinFile::at(&which.place)?;
    let pins = wanted(&file, &which)?;
    let register = Register::open(&which.place, &audit::folder(&which.place)?)?;
    let whole = which.server.as_deref().filter(|_| which.names.is_empty());
    file.book.forget(&pins, whole).map_err(|fault| file.place.file.unwritable(&fault))?;
    for pin in &pins {
        write_down(&register, pin, "forget", Vec::new())?;
    }
    terminal::print(&format!(
        "forgotten: {}; the next listing pins the definitions again\n",
        counted(pins.len(), "pin")
    ));
    Ok(ExitCode::SUCCESS)
}

fn write_down(
    register: &Register,
    pin: &PinRecord,
    word: &'static str,
    mut found: Vec<String>,
) -> Result<(), Complaint> {
    found.insert(0, title(pin));
    let method = if word == "approve" { "pins/approve" } else { "pins/forget" };
    let target = format!("{}__{}", pin.server, pin.name);
    register.write(DecisionRecord { guard: "pin", method, word, target, found }).map(|_| ())
}

/// Asks for confirmation at the terminal.
fn is_wanted() -> Result<bool, Complaint> {
    if !stdin().is_terminal() {
        return Ok(false);
    }
    terminal::report("\nLet callers see and call this? [yes/no] ");
    let mut line = String::new();
    let read = stdin().lock().read_line(&mut line);
    read.map_err(|error| Complaint::new(format!("cannot read the answer: {error}"), "use --yes"))?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// The changes of a definition, line by line.
fn difference(pin: &PinRecord, paint: Paint) -> String {
    let digits = pin.held_hash.as_deref().map(digits).unwrap_or_default();
    let mut text = format!("{}  {}  {digits}\n", paint.bold(&title(pin)), state(pin));
    if pin.held_definition.is_none() {
        return text + "  the definition is too large to be shown\n\n";
    }
    for line in describe_change(pin.definition.as_deref(), pin.held_definition.as_deref()).lines() {
        let painted = match line.chars().next() {
            Some('-') => paint.red(line),
            Some('+') => paint.green(line),
            _ => line.to_owned(),
        };
        text.push_str(&format!("  {painted}\n"));
    }
    text + "\n"
}

/// Server and name of a pin, with its kind and era if needed.
fn title(pin: &PinRecord) -> String {
    let kind = match pin.kind.as_str() {
        "tools" => "",
        "prompts" => " (prompt)",
        _ => " (instructions)",
    };
    let era = if pin.era.is_empty() { String::new() } else { format!(" ({} era)", pin.era) };
    on_one_line(&format!("{}__{}{kind}{era}", pin.server, pin.name))
}

fn state(pin: &PinRecord) -> &'static str {
    match (&pin.hash, &pin.held_hash) {
        (Some(_), Some(_)) => "held",
        (None, _) => "new",
        (Some(_), None) => "pinned",
    }
}

fn row(pin: &PinRecord) -> Value {
    let parsed = |text: &Option<String>| {
        text.as_deref().map(|text| serde_json::from_str::<Value>(text).unwrap_or(Value::Null))
    };
    let hex = |hash: &Option<Vec<u8>>| hash.as_deref().map(|hash| format!("sha256:{}", hex::encode(hash)));
    object!({
        "server": pin.server, "name": pin.name, "kind": pin.kind, "face": pin.era, "state": state(pin),
        "gateway": pin.scope, "hash": hex(&pin.hash), "definition": parsed(&pin.definition),
        "pinned_ms": pin.pinned_ms, "pinned_by": pin.pinned_by, "held_hash": hex(&pin.held_hash),
        "held_definition": parsed(&pin.held_definition), "held_ms": pin.held_ms,
    })
}

fn digits(hash: &[u8]) -> String {
    hex::encode(hash).chars().take(DIGITS).collect()
}

fn on_one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}
