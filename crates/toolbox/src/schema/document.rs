//! A schema document: every schema in it has the right shape, and its references have targets.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::schema::draft::Draft;
use crate::schema::shape;

/// Schemas nested deeper than this are refused.
const DEEPEST_SCHEMA: usize = 128;

/// Why a document is no schema, for the operator.
#[derive(Debug)]
pub(super) struct SchemaError(String);

impl SchemaError {
    pub(super) fn new(words: impl Into<String>) -> SchemaError {
        SchemaError(words.into())
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The place of a value in memory. It identifies the value as long as the document is borrowed.
pub(super) fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

#[derive(Debug)]
pub(super) struct SchemaDocument<'d> {
    draft: Draft,
    /// The root, and every schema with an `$id`.
    resources: Vec<SchemaResource<'d>>,
    /// The resource of each schema, by its address.
    owners: HashMap<usize, usize>,
    anchors: HashMap<(usize, &'d str), &'d Value>,
}

/// Relative references start here.
#[derive(Debug)]
struct SchemaResource<'d> {
    uri: String,
    root: &'d Value,
}

impl<'d> SchemaDocument<'d> {
    pub(super) fn new(root: &'d Value) -> Result<SchemaDocument<'d>, SchemaError> {
        let draft =
            Draft::of(root).ok_or_else(|| SchemaError::new("the dialect in `$schema` is not known"))?;
        let resources = vec![SchemaResource { uri: String::new(), root }];
        let mut document =
            SchemaDocument { draft, resources, owners: HashMap::new(), anchors: HashMap::new() };
        document.examine(root, 0)?;
        Ok(document)
    }

    pub(super) fn draft(&self) -> Draft {
        self.draft
    }

    /// The schema that a reference in `schema` points to.
    pub(super) fn resolve(&mut self, schema: &'d Value, reference: &str) -> Result<&'d Value, SchemaError> {
        let owner = self.owners.get(&address(schema)).copied().unwrap_or_default();
        let (resource, root) = self.resource(owner, reference)?;
        let fragment = reference.split_once('#').map_or("", |(_, fragment)| fragment);
        let target = if fragment.is_empty() || fragment.starts_with('/') {
            percent_decoded(fragment).and_then(|pointer| root.pointer(&pointer))
        } else {
            self.anchors.get(&(resource, fragment)).copied()
        };
        let target = target.ok_or_else(|| SchemaError::new(format!("`{reference}` points to nothing")))?;
        if !self.owners.contains_key(&address(target)) {
            // A pointer may lead to a place where no keyword expects a schema.
            self.examine(target, resource)?;
        }
        Ok(target)
    }

    /// The resource that a reference names, without its fragment.
    fn resource(&self, owner: usize, reference: &str) -> Result<(usize, &'d Value), SchemaError> {
        let base = reference.split_once('#').map_or(reference, |(base, _)| base);
        let uri = self.resources.get(owner).map_or("", |owner| owner.uri.as_str());
        let uri = if base.is_empty() { uri.to_owned() } else { joined(uri, base) };
        let known = |(at, resource): (usize, &SchemaResource<'d>)| (at, resource.root);
        let found = match self.resources.get(owner).filter(|_| base.is_empty()) {
            Some(resource) => Some((owner, resource.root)),
            None => self.resources.iter().enumerate().find(|(_, resource)| resource.uri == uri).map(known),
        };
        found.ok_or_else(|| SchemaError::new(format!("`{reference}` is another document")))
    }

    /// Checks the shape of a schema and of those in it, and notes what references can point to.
    fn examine(&mut self, schema: &'d Value, owner: usize) -> Result<(), SchemaError> {
        let mut waiting = vec![(schema, owner, 0)];
        let mut references = Vec::new();
        while let Some((schema, owner, depth)) = waiting.pop() {
            if !shape::is_schema(schema) {
                return Err(SchemaError::new("a schema is an object or a boolean"));
            }
            if depth > DEEPEST_SCHEMA {
                return Err(SchemaError::new(format!("it is nested deeper than {DEEPEST_SCHEMA} levels")));
            }
            let owner = self.register(schema, owner);
            let keywords: &Map<String, Value> = match schema {
                Value::Object(keywords) => keywords,
                _ => continue,
            };
            for (keyword, value) in keywords {
                if !shape::fits(keyword, value, self.draft) {
                    return Err(SchemaError::new(format!("the value of `{keyword}` has the wrong type")));
                }
                references.extend(value.as_str().filter(|_| keyword == "$ref").map(|to| (owner, to)));
                let below = shape::subschemas(keyword, value, self.draft);
                waiting.extend(below.into_iter().map(|below| (below, owner, depth + 1)));
            }
        }
        // A fragment may point to nothing where no value ever gets; a document that is not here is always wrong.
        references.iter().try_for_each(|(owner, to)| self.resource(*owner, to).map(|_| ()))
    }

    /// Notes a schema; the answer is its resource, which is its own when it has an `$id`.
    fn register(&mut self, schema: &'d Value, owner: usize) -> usize {
        let id = schema.get("$id").and_then(Value::as_str);
        let owner = match id.map(|id| id.strip_suffix('#').unwrap_or(id)) {
            // Before 2019-09 an anchor is written like this.
            Some(id) if id.starts_with('#') => {
                self.anchors.insert((owner, id.trim_start_matches('#')), schema);
                owner
            }
            Some(id) if !id.is_empty() => {
                let uri = joined(self.resources.get(owner).map_or("", |owner| owner.uri.as_str()), id);
                self.resources.push(SchemaResource { uri, root: schema });
                self.resources.len() - 1
            }
            _ => owner,
        };
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = schema.get(keyword).and_then(Value::as_str) {
                self.anchors.insert((owner, name), schema);
            }
        }
        self.owners.insert(address(schema), owner);
        owner
    }
}

/// A reference relative to a base. Dots in paths are not resolved; such a reference finds nothing.
fn joined(base: &str, reference: &str) -> String {
    let is_absolute = reference.split('/').next().is_some_and(|first| first.contains(':'));
    if is_absolute || base.is_empty() {
        return reference.to_owned();
    }
    let authority = base.find("://").map_or(0, |at| at + 3);
    let slash = if reference.starts_with('/') {
        base.char_indices().find(|(at, c)| *at >= authority && *c == '/').map(|(at, _)| at)
    } else {
        base.rfind('/').filter(|at| *at >= authority).map(|at| at + 1)
    };
    let kept = base.split_at_checked(slash.unwrap_or(0)).map_or("", |(kept, _)| kept);
    format!("{kept}{reference}")
}

/// A JSON Pointer in a fragment is percent-encoded ([RFC 6901, section 6](https://www.rfc-editor.org/rfc/rfc6901#section-6)).
fn percent_decoded(fragment: &str) -> Option<String> {
    let mut parts = fragment.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}
