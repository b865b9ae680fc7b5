//! `[[key]]`: API keys of callers.

use failwell_fault::Secret;
use failwell_policy::{KeyHash, Keys};
use failwell_rpc::Caller;

use crate::config::parse::reader::{Reader, Section, SourceValue};

/// Maximum number of keys. Every request is compared with each of them.
const MOST_KEYS: usize = 1_000;
/// Minimum number of characters of a key.
pub(crate) const SHORTEST_KEY: usize = 16;

/// The name of the key from `FAILWELL_KEY`.
pub(crate) const ENVIRONMENT: &str = failwell_store::ApiKey::ENVIRONMENT;

/// The help text for key names.
pub(crate) const KEY_NAMES: &str =
    "use 1 to 64 letters, digits, ., _, @ and -, beginning with a letter or digit";
/// The help text for roles.
pub(crate) const ROLES: &str = "use 1 to 128 letters, digits, ., _, @, / and -";

pub(crate) fn is_key_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '@' | '-');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.len() <= 64 && name.chars().all(fits)
}

pub(crate) fn is_role(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '@' | '/' | '-');
    (1..=128).contains(&name.len()) && name.chars().all(fits)
}

pub(in crate::config) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> Keys {
    let mut names: Vec<String> = Vec::new();
    let mut keys = Keys::default();
    for section in reader.tables(root, "key") {
        let name = name(reader, &section, &names);
        let hash = hash(reader, &section, &keys);
        let roles = roles(reader, &section, "roles");
        let (Some(name), Some(hash)) = (name, hash) else { continue };
        let owner = Caller::keyholder(&name).in_roles(roles.iter().map(String::as_str));
        names.push(name);
        keys = keys.with_hash(owner, hash);
    }
    if names.len() > MOST_KEYS {
        let message = format!("there are more than {MOST_KEYS} keys");
        reader.wrong(&root.key_span("key"), "key", message, "use tokens: see [jwt]");
    }
    keys
}

fn name(reader: &mut Reader<'_>, section: &Section<'_>, others: &[String]) -> Option<String> {
    let Some(found) = reader.text(section, "name") else {
        if !section.has("name") {
            reader.missing(section, "name", "the key has no name", "add name = \"…\"");
        }
        return None;
    };
    if !is_key_name(&found.value) {
        reader.wrong(&found.span, &found.key, "this cannot be the name of a key", KEY_NAMES);
    } else if found.value == ENVIRONMENT {
        let help = "choose another name: this one belongs to FAILWELL_KEY";
        reader.wrong(&found.span, &found.key, "this name is reserved", help);
    } else if others.contains(&found.value) {
        let message = format!("there are two keys with the name `{}`", found.value);
        reader.wrong(&found.span, &found.key, message, "give one of them another name");
    }
    Some(found.value)
}

fn hash(reader: &mut Reader<'_>, section: &Section<'_>, others: &Keys) -> Option<KeyHash> {
    let found = match (section.has("hash"), section.has("key")) {
        (true, true) => {
            let help = "keep one of them; with `hash` the file contains no secret";
            reader.wrong(
                &section.key_span("key"),
                &section.path("key"),
                "the key has both `key` and `hash`",
                help,
            );
            return None;
        }
        (false, false) => {
            let help = "run `failwell key new`, which prints the line to write";
            reader.missing(section, "hash", "the key has neither `hash` nor `key`", help);
            return None;
        }
        (true, false) => {
            let text = reader.text(section, "hash")?;
            let Some(hash) = KeyHash::parse(&text.value) else {
                let help = "write sha256: and 64 hexadecimal digits; `failwell key new` prints such a line";
                reader.wrong(&text.span, &text.key, "`hash` is not the hash of a key", help);
                return None;
            };
            (text, hash)
        }
        (false, true) => {
            let text = reader.text(section, "key")?;
            let key = reader.filled(&text)?;
            if key.chars().count() < SHORTEST_KEY {
                let message = format!("`key` is shorter than {SHORTEST_KEY} characters");
                let help = "use a long random one: `failwell key new` creates it";
                reader.wrong(&text.span, &text.key, message, help);
                return None;
            }
            (text, KeyHash::new(&Secret::new(key)))
        }
    };
    let (text, hash) = found;
    if others.holds(hash) {
        reader.wrong(&text.span, &text.key, "two names have the same key", "create a key for each");
    }
    Some(hash)
}

/// Reads a list of roles and checks their names.
pub(in crate::config) fn roles(reader: &mut Reader<'_>, section: &Section<'_>, name: &str) -> Vec<String> {
    let found = reader.texts(section, name).unwrap_or_default();
    for role in &found {
        check_role(reader, role);
    }
    found.into_iter().map(|role| role.value).collect()
}

fn check_role(reader: &mut Reader<'_>, role: &SourceValue<String>) {
    if !is_role(&role.value) {
        reader.wrong(&role.span, &role.key, "this cannot be the name of a role", ROLES);
    }
}
