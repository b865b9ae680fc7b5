//! `cedar = "policies.cedar"`: a file of Cedar policies.

use failwell_policy::CedarPolicies;

use crate::config::parse::reader::{Reader, Section};
use crate::parts::CEDAR;

/// Maximum size of a policy file, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// Reads and checks the policies of the named file.
pub(in crate::config) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<String> {
    let named = reader.text(root, "cedar")?;
    if !reader.has_part(CEDAR, &named.span, &named.key) {
        return None;
    }
    let path = reader.folder.join(&named.value);
    let size = std::fs::metadata(&path).map(|file| file.len());
    let text = match size {
        Ok(size) if size > LARGEST => Err(format!("it is larger than {LARGEST} bytes")),
        _ => std::fs::read_to_string(&path).map_err(|error| error.to_string()),
    };
    let text = match text {
        Ok(text) => text,
        Err(why) => {
            let message = format!("the policies cannot be read: {why}");
            reader.wrong(&named.span, &named.key, message, "name a file of Cedar policies");
            return None;
        }
    };
    if let Err(wrong) = CedarPolicies::parse(&text) {
        let place = wrong.at.map_or_else(String::new, |at| format!(" on line {}", line(&text, at)));
        let message = format!("{} is wrong{place}: {}", named.value, wrong.what);
        let help = "actions are see, call, read and get; principals Caller and Role; resources Tool, Prompt, Resource and Server";
        reader.wrong(&named.span, &named.key, message, help);
    }
    Some(text)
}

fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
