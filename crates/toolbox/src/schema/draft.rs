//! The drafts of JSON Schema. They differ in the keywords they have and in a few spellings.

use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    Draft2020,
}

impl Draft {
    /// The draft that `$schema` names; a schema without it follows the newest. `None` for any other dialect.
    pub(super) fn of(document: &Value) -> Option<Draft> {
        let Some(name) = document.get("$schema") else { return Some(Draft::Draft2020) };
        let name = name.as_str()?;
        let name = name.strip_suffix('#').unwrap_or(name);
        let path = name.strip_prefix("https://").or_else(|| name.strip_prefix("http://"))?;
        match path.strip_prefix("json-schema.org/")? {
            "draft-04/schema" => Some(Draft::Draft4),
            "draft-06/schema" => Some(Draft::Draft6),
            "draft-07/schema" => Some(Draft::Draft7),
            "draft/2019-09/schema" => Some(Draft::Draft2019),
            "draft/2020-12/schema" | "schema" => Some(Draft::Draft2020),
            _ => None,
        }
    }

    /// Whether a keyword means anything. A draft ignores the keywords of later drafts.
    pub(super) fn has(self, keyword: &str) -> bool {
        let since = match keyword {
            "const" | "contains" | "propertyNames" | "examples" => Draft::Draft6,
            "if" | "then" | "else" | "readOnly" | "writeOnly" | "contentEncoding" | "contentMediaType"
            | "$comment" => Draft::Draft7,
            "dependentRequired"
            | "dependentSchemas"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "minContains"
            | "maxContains"
            | "$anchor"
            | "$defs"
            | "$vocabulary"
            | "contentSchema"
            | "deprecated" => Draft::Draft2019,
            "prefixItems" | "$dynamicRef" | "$dynamicAnchor" => Draft::Draft2020,
            // The last draft with tuples in `items` is also the last with the items beyond them.
            "additionalItems" => return self <= Draft::Draft2019,
            "$recursiveRef" => return self == Draft::Draft2019,
            _ => Draft::Draft4,
        };
        since <= self
    }

    /// Whether `$ref` hides the keywords beside it.
    pub(super) fn has_lone_references(self) -> bool {
        self <= Draft::Draft7
    }

    /// Whether `items` may be a list of schemas.
    pub(super) fn has_tuple_items(self) -> bool {
        self <= Draft::Draft2019
    }

    /// Whether `exclusiveMinimum` is a flag beside `minimum`.
    pub(super) fn has_exclusive_flags(self) -> bool {
        self == Draft::Draft4
    }
}
