//! The old vocabulary: words that meant something only here, and the field's words for the same things.
//!
//! Names on the wire, configuration keys and reasons (`shelf/*`, `[shelf]`, `lobby`) keep them. They are string literals
//! in code and code spans in prose, where nothing is looked for but names of types.

use std::collections::BTreeSet;

use super::definitions::{Definition, ItemKind};
use crate::problem::Problem;
use crate::rust::{Kind, Token};

/// A word, where it may not stand, and what to say instead.
pub(super) struct OldWord {
    /// In small letters, as it stands in a snake-case name.
    pub(super) word: &'static str,
    pub(super) reach: Reach,
    pub(super) say: &'static str,
}

/// Where a word is banned. English has other uses for most of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// As one word of a name of any kind, variables and fields included, and in prose.
    Everywhere,
    /// As one word of a name of any kind.
    Names,
    /// As the whole name of anything: a variable, a field, a variant, a file.
    WholeName,
    /// As one word of a name of a type, a module or a file.
    TypesAndModules,
    /// As the whole name of a type.
    WholeType,
    /// As the whole name of a variant of an enum.
    WholeVariant,
    /// As the whole name of a module or file.
    WholeModule,
    /// As one word of a name of a function.
    Functions,
    /// As the whole name of a function.
    WholeFunction,
}

const fn old(word: &'static str, reach: Reach, say: &'static str) -> OldWord {
    OldWord { word, reach, say }
}

pub(super) const OLD_WORDS: &[OldWord] = &[
    old("house", Reach::Everywhere, "say pipeline, or Failwell"),
    old("houses", Reach::Everywhere, "say pipelines"),
    old("room", Reach::Everywhere, "say tool server"),
    old("rooms", Reach::Everywhere, "say tool servers"),
    old("corridor", Reach::Everywhere, "say pipeline"),
    old("desk", Reach::Everywhere, "name the queue, the sessions or the request"),
    old("desks", Reach::Everywhere, "name the queue, the sessions or the request"),
    old("porter", Reach::Everywhere, "say guard runner"),
    old("porters", Reach::Everywhere, "say guard runners"),
    old("turnstile", Reach::Everywhere, "say rate limiter"),
    old("veil", Reach::Everywhere, "say visibility"),
    old("veils", Reach::Everywhere, "say visibility"),
    old("veiled", Reach::Everywhere, "say hidden"),
    old("charter", Reach::Everywhere, "say Cedar policies"),
    old("patron", Reach::Everywhere, "say client of the session"),
    old("patrons", Reach::Everywhere, "say session users"),
    old("cloakroom", Reach::Everywhere, "say session table"),
    old("lobby", Reach::Everywhere, "say demo server"),
    old("testimony", Reach::Everywhere, "say acknowledgement"),
    old("gate", Reach::Names, "say guard set, or gateway"),
    old("gates", Reach::Names, "say guard sets, or gateways"),
    old("door", Reach::Names, "say transport, listener or mount"),
    old("doors", Reach::Names, "say transports, listeners or mounts"),
    old("passage", Reach::TypesAndModules, "say permit"),
    old("seat", Reach::TypesAndModules, "say connection slot or session entry"),
    old("seats", Reach::TypesAndModules, "say connection slots or session entries"),
    old("drawer", Reach::Names, "say store"),
    old("letter", Reach::TypesAndModules, "say message buffer, node message or protocol"),
    old("letters", Reach::TypesAndModules, "say messages or protocol"),
    old("carrier", Reach::Names, "say exporter"),
    old("books", Reach::TypesAndModules, "say telemetry"),
    old("customs", Reach::Names, "say custom guards"),
    old("hurry", Reach::Names, "say flush request"),
    old("shelved", Reach::Names, "say stored"),
    old("sight", Reach::TypesAndModules, "say visibility, or the result of a check"),
    old("told", Reach::WholeName, "name the result, the rows or the response"),
    old("said", Reach::WholeName, "name the output, the message or the response"),
    old("heard", Reach::WholeName, "name the response, the events or what was received"),
    old("unheard", Reach::WholeName, "say unconfirmed, or lost"),
    old("ruling", Reach::WholeName, "say access policy"),
    old("nobody", Reach::WholeName, "say what is missing: anonymous, unavailable, none"),
    old("somebody", Reach::WholeName, "say who it is"),
    old("whoever", Reach::WholeName, "say who it is"),
    old("wish", Reach::WholeName, "say request"),
    old("kept", Reach::WholeVariant, "say stored, found, preserved or satisfied"),
    old("well", Reach::WholeVariant, "say succeeded"),
    old("babbles", Reach::WholeVariant, "say flooding"),
    old("introducing", Reach::WholeVariant, "say initializing"),
    old("shelf", Reach::WholeVariant, "say blob store"),
    old("book", Reach::WholeType, "say ledger reader"),
    old("custom", Reach::WholeType, "say custom guard"),
    old("entrance", Reach::WholeType, "say endpoint"),
    old("line", Reach::WholeType, "say request multiplexer, or which line"),
    old("link", Reach::WholeType, "say connection"),
    old("lock", Reach::WholeType, "say authenticator"),
    old("place", Reach::WholeType, "say location, key or folder"),
    old("subject", Reach::WholeType, "say target of the message"),
    old("way", Reach::WholeType, "say exporter handle, or transport"),
    old("witness", Reach::WholeType, "say replica"),
    old("aim", Reach::WholeType, "say target"),
    old("aimed", Reach::WholeType, "say target"),
    old("whose", Reach::WholeType, "say message metadata"),
    old("calm", Reach::WholeType, "say debouncer"),
    old("rests", Reach::WholeType, "say circuit breaker"),
    old("face", Reach::WholeType, "say dialect"),
    old("faces", Reach::WholeType, "say dual-era upstream"),
    old("from", Reach::WholeType, "say call origin; the prelude has a `From`"),
    old("result", Reach::WholeType, "name the type; the prelude has a `Result`"),
    old("calm", Reach::WholeModule, "say debouncer"),
    old("ear", Reach::WholeModule, "say notification stream"),
    old("fate", Reach::WholeModule, "say export result"),
    old("stacks", Reach::WholeModule, "say archive reader"),
    old("giving", Reach::WholeModule, "say file response"),
    old("linger", Reach::WholeModule, "say body drain"),
    old("turns", Reach::WholeModule, "say idle timeout"),
    old("pulse", Reach::WholeModule, "say liveness check"),
    old("own", Reach::WholeModule, "say admin API"),
    old("rests", Reach::WholeModule, "say circuit breaker"),
    old("kept", Reach::WholeModule, "say blob store, or name what is stored"),
    old("carriers", Reach::WholeModule, "say exporters"),
    old("bad_carriers", Reach::WholeModule, "say bad_exporters"),
    old("book", Reach::WholeModule, "say record reader"),
    old("entrance", Reach::WholeModule, "say endpoint"),
    old("passing", Reach::WholeModule, "say passthrough"),
    old("chance", Reach::WholeModule, "say random"),
    old("trouble", Reach::WholeModule, "say failing tools, or faults"),
    old("life", Reach::WholeModule, "say lifecycle"),
    old("look", Reach::WholeModule, "name the query"),
    old("stand", Reach::WholeModule, "say lifecycle"),
    old("thin", Reach::WholeModule, "say prune"),
    old("wanted", Reach::WholeModule, "name the configured parts"),
    old("served", Reach::WholeModule, "name what is served"),
    old("keeper", Reach::WholeModule, "say memory upstream"),
    old("gated", Reach::WholeModule, "say upstream gateway"),
    old("see_through", Reach::WholeFunction, "say run_to_completion"),
    old("heed", Reach::Functions, "say handle_notification"),
    old("obey", Reach::Functions, "say handle_notification"),
    old("overhear", Reach::Functions, "say handle_notification"),
    old("climb", Reach::Functions, "say authorize"),
    old("jot", Reach::Functions, "say record"),
    old("book", Reach::WholeFunction, "say record"),
    old("known_as", Reach::WholeFunction, "say with_alias"),
    old("temper", Reach::WholeFunction, "say throttle_errors"),
    old("never_alike", Reach::WholeFunction, "say with_jitter"),
    old("passing", Reach::WholeFunction, "say extra_params"),
    old("beside", Reach::WholeFunction, "say detached"),
    old("brought", Reach::WholeFunction, "say round_state"),
    old("reads_with", Reach::WholeFunction, "say with_alias"),
];

/// Constants of reasons, which are named by the wire.
const REASONS: &[&str] = &["LOBBY_", "SHELF_"];

/// Words before "room" in names that speak of free space: `make_room`.
const BEFORE_SPACE: &[&str] = &["any", "free", "leave", "leaves", "make", "makes", "more", "no"];

/// The projects under test, each named by what happens in pytest: `passing`, `failing`.
const PYTEST_PROJECTS: &str = "tests/pytest/fixtures/";

/// The path of a file, module by module.
pub(super) fn in_file_name(path: &str) -> Vec<Problem> {
    if path.starts_with(PYTEST_PROJECTS) {
        return Vec::new();
    }
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let place = |problem: String| Problem::new(format!("{path}:1: {problem}"), "rename it");
    stem.split('/')
        .filter_map(|part| find(ItemKind::Module, part).or_else(|| in_any_name(part)).map(|old| (part, old)))
        .map(|(part, old)| place(format!("`{part}` in the path is of the old vocabulary: {}", old.say)))
        .collect()
}

/// Names of every kind, variables and fields included. Each name is reported where it stands first.
pub(super) fn in_identifiers(path: &str, tokens: &[Token<'_>]) -> Vec<Problem> {
    let mut seen = BTreeSet::new();
    let names = tokens.iter().filter(|token| token.kind == Kind::Word && seen.insert(token.text));
    let found = names.filter_map(|token| in_any_name(token.text).map(|old| (token, old)));
    found
        .map(|(Token { text, line, .. }, old)| {
            let what = format!("{path}:{line}: the name `{text}` is of the old vocabulary: {}", old.say);
            Problem::new(what, "rename it")
        })
        .collect()
}

/// Words that are banned only in names of the definition's kind.
pub(super) fn in_definition(path: &str, definition: &Definition<'_>) -> Option<Problem> {
    let old = find(definition.kind, definition.name)?;
    let kind = match definition.kind {
        ItemKind::Type => "type",
        ItemKind::Variant => "variant",
        ItemKind::Function => "function",
        ItemKind::Module => "module",
    };
    let Definition { name, line, .. } = definition;
    let what = format!("{path}:{line}: the {kind} `{name}` is of the old vocabulary: {}", old.say);
    Some(Problem::new(what, "rename it"))
}

/// The word in a name that no name may have, if there is one.
fn in_any_name(name: &str) -> Option<&'static OldWord> {
    if REASONS.iter().any(|reason| name.starts_with(reason)) {
        return None;
    }
    let words = words(name);
    let whole = words.join("_");
    let of_whole = OLD_WORDS.iter().find(|old| old.reach == Reach::WholeName && old.word == whole);
    if of_whole.is_some() {
        return of_whole;
    }
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let mut pairs = before.zip(&words);
    pairs.find_map(|(before, word)| {
        let old = OLD_WORDS
            .iter()
            .find(|old| matches!(old.reach, Reach::Everywhere | Reach::Names) && old.word == word);
        old.filter(|_| word != "room" || !BEFORE_SPACE.contains(&before))
    })
}

/// The word in a name that names of this kind may not have, if there is one.
fn find(kind: ItemKind, name: &str) -> Option<&'static OldWord> {
    let words = words(name);
    let whole = words.join("_");
    OLD_WORDS.iter().find(|old| {
        let within = words.iter().any(|word| word == old.word);
        match (old.reach, kind) {
            (Reach::TypesAndModules, ItemKind::Type | ItemKind::Module) => within,
            (Reach::Functions, ItemKind::Function) => within,
            (Reach::WholeType, ItemKind::Type) => whole == old.word,
            (Reach::WholeVariant, ItemKind::Variant) => whole == old.word,
            (Reach::WholeModule, ItemKind::Module) => whole == old.word,
            (Reach::WholeFunction, ItemKind::Function) => whole == old.word,
            _ => false,
        }
    })
}

/// Whether a name in a code span names a type of the old vocabulary.
pub(super) fn type_named(name: &str) -> Option<&'static OldWord> {
    let is_type = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    is_type.then(|| find(ItemKind::Type, name).or_else(|| in_any_name(name))).flatten()
}

/// `GuardRunner`, `guard_runner` and `GUARD_RUNNER` as `["guard", "runner"]`.
fn words(name: &str) -> Vec<String> {
    let is_constant = !name.contains(char::is_lowercase);
    let mut found: Vec<String> = Vec::new();
    let mut starts = true;
    for letter in name.chars() {
        if letter == '_' || letter == '-' {
            starts = true;
            continue;
        }
        let begins = starts || (letter.is_uppercase() && !is_constant);
        match found.last_mut().filter(|_| !begins) {
            Some(word) => word.extend(letter.to_lowercase()),
            None => found.push(letter.to_lowercase().to_string()),
        }
        starts = false;
    }
    found
}
