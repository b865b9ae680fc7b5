//! `docs/errors.md`: the manual of failures, written from the catalogue and the code table alone.

mod conditions;
mod reasons;

use std::path::PathBuf;

use failwell_fault::{Kind, ReasonRegistry, Retry};
use failwell_render::codes::status_of;

use crate::problem::Problem;
use crate::tree::{root, shown};

const INTRODUCTION: &str = "\
# When something fails

<!-- Written by `cargo xtask catalogue`. Change the rows where `reasons!` declares them, not this page. -->

Every failure has a *reason*, such as `rpc/NOT_JSON`. The reason is its identity: it never changes and never means
anything else. Numbers are presentation: one reason has a number in each dialect, and one number may serve many reasons.
So branch on `reason`, or on `kind` for a whole class; show `title` and `hint`; quote `ref` when you ask for help.

The same object comes in every dialect: as `error.data` in JSON-RPC and MCP, as `_meta[\"dev.failwell/fault\"]` of a tool
result with `isError`, as `detail` over REST, and as the members of `application/problem+json`.

| member | says |
|---|---|
| `reason` | which failure this is; stable for ever |
| `kind` | what to do about it; see [Kinds](#kinds) |
| `title` | what is wrong, without values |
| `detail` | what is wrong, with values |
| `hint` | what to do next |
| `facts` | the values, typed |
| `violations` | everything that is wrong with the input, at once: JSON Pointer, rule, limit |
| `retry` | `never`, `after_change`, `once`, or `after_ms` with `retry_after_ms` |
| `effect` | what the request did before it failed: `none`, `unknown`, `partial`, `complete` |
| `origin` | whose doing it is: `caller`, `policy`, `server`, `upstream`, `failwell` |
| `doc` | the section of this page |
| `ref` | the reference under which the operator finds the whole story |

`failwell explain <reason|code>` prints the same from the command line.
";

/// Where the manual lives.
pub(crate) fn path() -> PathBuf {
    root().join("docs/errors.md")
}

/// Writes the manual.
pub(crate) fn write() -> Result<(), Problem> {
    let (path, page) = (path(), page(&registered()?));
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder.and_then(|()| std::fs::write(&path, page)).map_err(|error| {
        Problem::new(format!("{} cannot be written: {error}", shown(&path)), "check the folder's permissions")
    })
}

/// The reasons of the whole program.
pub(crate) fn registered() -> Result<ReasonRegistry, Problem> {
    failwell_catalogue::registry()
        .map_err(|error| Problem::new(error.to_string(), "give one of them another id"))
}

/// The whole page.
pub(crate) fn page(registry: &ReasonRegistry) -> String {
    [INTRODUCTION.to_owned(), kinds(), conditions::table(registry), reasons::sections(registry)].join("\n")
}

fn kinds() -> String {
    let mut text =
        "## Kinds\n\n| kind | what to do | HTTP | retry | log |\n|---|---|---|---|---|\n".to_owned();
    for kind in Kind::ALL {
        let log = if kind.concerns_security() { " + security" } else { "" };
        text.push_str(&format!(
            "| `{}` | {} | {} | {} | {}{log} |\n",
            kind.as_str(),
            kind.advice(),
            status_of(kind),
            retry(kind.retry()),
            kind.level().as_str(),
        ));
    }
    text
}

/// A retry in words.
fn retry(retry: Retry) -> String {
    match retry {
        Retry::Never => "never".to_owned(),
        Retry::AfterChange => "after a change".to_owned(),
        Retry::After(wait) => format!("after {} s, unless it says otherwise", wait.as_secs()),
        Retry::Once => "once".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn a_servers_reason_has_its_section() {
        let page = page(&failwell_catalogue::registry().expect("the registry"));
        let section = "### lobby\n\n<a id=\"lobby-unknown-reason\"></a>\n#### lobby/UNKNOWN_REASON\n\n\
                       **no such reason in the catalogue**";
        assert!(page.contains(section), "{page}");
    }
}
