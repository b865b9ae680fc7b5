//! `failwell key`: makes API keys.

use std::process::ExitCode;

use failwell_policy::KeyHash;
use failwell_store::generate_key;

use crate::cli::{Key, MakeKey, NewKey};
use crate::complaint::Complaint;
use crate::terminal;

pub(in crate::commands) fn run(arguments: &Key) -> Result<ExitCode, Complaint> {
    let MakeKey::New(NewKey { name, roles }) = &arguments.what;
    let key = generate_key()
        .map_err(|_| Complaint::new("the system has no random numbers", "look at /dev/urandom"))?;
    let hash = KeyHash::new(&key);
    let list: Vec<String> = roles.iter().map(|role| format!("\"{role}\"")).collect();
    terminal::print(&format!(
        "{}\n\n# The key above is shown this once: give it to its holder. For failwell.toml:\n\
         [[key]]\nname = \"{name}\"\nhash = \"{hash}\"\nroles = [{}]\n",
        key.expose(),
        list.join(", "),
    ));
    Ok(ExitCode::SUCCESS)
}
