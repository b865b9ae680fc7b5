//! Arguments that tools of the modern era want repeated in headers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use failwell_rpc::{Json, Raw};
use failwell_server::HeaderParam;

/// How a schema marks such an argument.
const MARK: &str = "x-mcp-header";
/// The most tools that are remembered.
const MOST: usize = 10_000;

/// What the lists of one upstream said, kept across its connections.
#[derive(Debug, Default)]
pub(crate) struct Repeated(Mutex<HashMap<String, Vec<HeaderParam>>>);

impl Repeated {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<HeaderParam>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns from a page of tools.
    pub(super) fn learn(&self, page: &Json) {
        if !page.text().contains(MARK) && self.lock().is_empty() {
            return;
        }
        let tools = page.raw().as_object().and_then(|page| page.get("tools")).and_then(Raw::as_array);
        for tool in tools.into_iter().flatten() {
            let Some(tool) = tool.as_object() else { continue };
            let Some(name) = tool.get("name").and_then(Raw::as_str) else { continue };
            let params = marked(tool.get("inputSchema")).unwrap_or_default();
            let mut known = self.lock();
            if params.is_empty() {
                known.remove(&*name);
            } else if known.len() < MOST {
                known.insert(name.into_owned(), params);
            }
        }
    }

    /// What this tool wants repeated.
    pub(super) fn of(&self, tool: &str) -> Vec<HeaderParam> {
        self.lock().get(tool).cloned().unwrap_or_default()
    }
}

/// The arguments a schema marks so.
pub(crate) fn marked(schema: Option<Raw<'_>>) -> Option<Vec<HeaderParam>> {
    let properties = schema?.as_object()?.get("properties")?.as_object()?;
    let marked = properties.iter().filter_map(|(member, schema)| {
        let header = schema.as_object()?.get(MARK)?.as_str()?.into_owned();
        Some(HeaderParam { member: member.into_owned(), header })
    });
    Some(marked.collect())
}
