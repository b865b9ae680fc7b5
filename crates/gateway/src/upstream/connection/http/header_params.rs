//! Tool arguments that the modern era repeats in HTTP headers.

use std::collections::HashMap;

use failwell_rpc::{Json, Raw};
use failwell_toolbox::HeaderParam;
use parking_lot::Mutex;

const MARK: &str = "x-mcp-header";
const MOST: usize = 10_000;

/// Header parameters by tool, kept across connections.
#[derive(Debug, Default)]
pub(crate) struct HeaderParamIndex(Mutex<HashMap<String, Vec<HeaderParam>>>);

impl HeaderParamIndex {
    /// Records the header parameters of a page of tools.
    pub(super) fn learn(&self, page: &Json) {
        if !page.text().contains(MARK) && self.0.lock().is_empty() {
            return;
        }
        let tools = page.raw().as_object().and_then(|page| page.get("tools")).and_then(Raw::as_array);
        for tool in tools.into_iter().flatten() {
            let Some(tool) = tool.as_object() else { continue };
            let Some(name) = tool.get("name").and_then(Raw::as_str) else { continue };
            let params = header_params(tool.get("inputSchema")).unwrap_or_default();
            let mut known = self.0.lock();
            if params.is_empty() {
                known.remove(&*name);
            } else if known.len() < MOST {
                known.insert(name.into_owned(), params);
            }
        }
    }

    pub(super) fn get(&self, tool: &str) -> Vec<HeaderParam> {
        self.0.lock().get(tool).cloned().unwrap_or_default()
    }
}

/// The arguments that a schema marks with `x-mcp-header`.
pub(crate) fn header_params(schema: Option<Raw<'_>>) -> Option<Vec<HeaderParam>> {
    let properties = schema?.as_object()?.get("properties")?.as_object()?;
    let marked = properties.iter().filter_map(|(member, schema)| {
        let header = schema.as_object()?.get(MARK)?.as_str()?.into_owned();
        Some(HeaderParam { member: member.into_owned(), header })
    });
    Some(marked.collect())
}
