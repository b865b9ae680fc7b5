//! The old vocabulary: words that meant something only here, and the field's words for the same things.
//!
//! Names on the wire, configuration keys and reasons (`shelf/*`, `[shelf]`, `lobby`) keep them. They are string literals
//! in code and code spans in prose, where nothing is looked for but names of types.

use super::definitions::{Definition, ItemKind};
use crate::problem::Problem;

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
    /// As one word of a name of any kind, and in prose.
    Everywhere,
    /// As one word of a name of a type, a module or a file.
    TypesAndModules,
    /// As the whole name of a type.
    WholeType,
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
    old("passage", Reach::TypesAndModules, "say permit"),
    old("ruling", Reach::TypesAndModules, "say access policy"),
    old("seat", Reach::TypesAndModules, "say connection slot or session entry"),
    old("seats", Reach::TypesAndModules, "say connection slots or session entries"),
    old("drawer", Reach::TypesAndModules, "say store"),
    old("letter", Reach::TypesAndModules, "say message buffer, node message or protocol"),
    old("letters", Reach::TypesAndModules, "say messages or protocol"),
    old("carrier", Reach::TypesAndModules, "say exporter"),
    old("books", Reach::TypesAndModules, "say telemetry"),
    old("customs", Reach::TypesAndModules, "say custom guards"),
    old("hurry", Reach::TypesAndModules, "say flush request"),
    old("shelved", Reach::TypesAndModules, "say stored"),
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
    old("said", Reach::WholeModule, "say upstream response"),
    old("heed", Reach::Functions, "say handle_notification"),
    old("obey", Reach::Functions, "say handle_notification"),
    old("overhear", Reach::Functions, "say handle_notification"),
    old("climb", Reach::Functions, "say authorize"),
    old("jot", Reach::Functions, "say record"),
    old("temper", Reach::WholeFunction, "say throttle_errors"),
    old("never_alike", Reach::WholeFunction, "say with_jitter"),
    old("passing", Reach::WholeFunction, "say extra_params"),
    old("beside", Reach::WholeFunction, "say detached"),
    old("brought", Reach::WholeFunction, "say round_state"),
    old("reads_with", Reach::WholeFunction, "say with_alias"),
];

/// The path of a file, module by module.
pub(super) fn in_file_name(path: &str) -> Vec<Problem> {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let place = |problem: String| Problem::new(format!("{path}:1: {problem}"), "rename it");
    stem.split('/')
        .filter_map(|part| find(ItemKind::Module, part).map(|old| (part, old)))
        .map(|(part, old)| place(format!("`{part}` in the path is of the old vocabulary: {}", old.say)))
        .collect()
}

pub(super) fn in_definition(path: &str, definition: &Definition<'_>) -> Option<Problem> {
    let old = find(definition.kind, definition.name)?;
    let kind = match definition.kind {
        ItemKind::Type => "type",
        ItemKind::Function => "function",
        ItemKind::Module => "module",
    };
    let Definition { name, line, .. } = definition;
    let what = format!("{path}:{line}: the {kind} `{name}` is of the old vocabulary: {}", old.say);
    Some(Problem::new(what, "rename it"))
}

/// The old word in a name, if there is one.
fn find(kind: ItemKind, name: &str) -> Option<&'static OldWord> {
    let words = words(name);
    let whole = words.join("_");
    OLD_WORDS.iter().find(|old| {
        let within = words.iter().any(|word| word == old.word);
        match (old.reach, kind) {
            // A function may make room for something.
            (Reach::Everywhere, ItemKind::Function) => within && old.word != "room",
            (Reach::Everywhere, _) => within,
            (Reach::TypesAndModules, ItemKind::Type | ItemKind::Module) => within,
            (Reach::Functions, ItemKind::Function) => within,
            (Reach::WholeType, ItemKind::Type) => whole == old.word,
            (Reach::WholeModule, ItemKind::Module) => whole == old.word,
            (Reach::WholeFunction, ItemKind::Function) => whole == old.word,
            _ => false,
        }
    })
}

/// Whether a name in a code span names a type of the old vocabulary.
pub(super) fn type_named(name: &str) -> Option<&'static OldWord> {
    name.starts_with(|letter: char| letter.is_ascii_uppercase()).then(|| find(ItemKind::Type, name)).flatten()
}

/// `GuardRunner` and `guard_runner` as `["guard", "runner"]`.
fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut starts = true;
    for letter in name.chars() {
        if letter == '_' || letter == '-' {
            starts = true;
            continue;
        }
        match found.last_mut().filter(|_| !starts && !letter.is_uppercase()) {
            Some(word) => word.push(letter),
            None => found.push(letter.to_lowercase().to_string()),
        }
        starts = false;
    }
    found
}
