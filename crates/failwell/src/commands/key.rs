//! Keys for callers.

use std::process::ExitCode;

use failwell_fault::Secret;
use failwell_policy::KeyHash;

use crate::cli::{Key, MakeKey, NewKey};
use crate::complaint::Complaint;
use crate::terminal;

/// How keys begin, so that whoever finds one knows what it opens.
const PREFIX: &str = "fw_";
/// How many random bytes a key has.
const BYTES: usize = 32;

pub(super) fn run(arguments: &Key) -> Result<ExitCode, Complaint> {
    let MakeKey::New(NewKey { name, roles }) = &arguments.what;
    let key = fresh()?;
    let hash = KeyHash::of(&key);
    let list: Vec<String> = roles.iter().map(|role| format!("\"{role}\"")).collect();
    terminal::print(&format!(
        "{}\n\n# The key above is shown this once: give it to its holder. For failwell.toml:\n\
         [[key]]\nname = \"{name}\"\nhash = \"{hash}\"\nroles = [{}]\n",
        key.expose(),
        list.join(", "),
    ));
    Ok(ExitCode::SUCCESS)
}

fn fresh() -> Result<Secret<String>, Complaint> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).map_err(|error| {
        Complaint::new(format!("the system has no random numbers: {error}"), "look at /dev/urandom")
    })?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Secret::new(format!("{PREFIX}{digits}")))
}
