//! The keywords of objects and arrays.

use serde_json::Value;

use crate::schema::compile::{Compiler, Keywords};
use crate::schema::document::SchemaError;
use crate::schema::pattern::Pattern;
use crate::schema::shape;
use crate::schema::tree::{Additional, ClosedProperties, Keyword, Measure, NodeId, Properties};

impl<'d> Compiler<'d> {
    pub(super) fn objects(
        &mut self,
        id: NodeId,
        all: &'d Keywords,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        self.sizes(all, Measure::Properties, keywords);
        let required = all.get("required").and_then(names);
        // Callers are used to the order: the one required name of a closed object is reported behind the unknown ones.
        let is_last = required.as_ref().is_some_and(|names| names.len() == 1)
            && all.get("additionalProperties") == Some(&Value::Bool(false))
            && all.contains_key("properties")
            && !all.contains_key("patternProperties");
        let (first, last) = if is_last { (None, required) } else { (required, None) };
        keywords.extend(first.map(Keyword::Required));
        if let Some(Value::Object(dependent)) = self.get(all, "dependentRequired") {
            keywords.push(Keyword::DependentRequired(names_by_name(dependent)));
        }
        self.members(id, all, keywords)?;
        keywords.extend(last.map(Keyword::Required));
        match self.get(all, "propertyNames") {
            None => {}
            // One violation for the object, not one for each name.
            Some(Value::Bool(false)) => keywords.push(Keyword::AtMost(Measure::Properties, 0)),
            Some(name) => keywords.push(Keyword::PropertyNames(self.node(name))),
        }
        if let Some(Value::Object(dependencies)) = all.get("dependencies") {
            keywords.push(Keyword::DependentRequired(names_by_name(dependencies)));
            keywords.push(Keyword::Dependencies(self.dependent_schemas(dependencies)));
        }
        if let Some(Value::Object(dependent)) = self.get(all, "dependentSchemas") {
            keywords.push(Keyword::DependentSchemas(self.dependent_schemas(dependent)));
        }
        Ok(())
    }

    fn members(
        &mut self,
        id: NodeId,
        all: &'d Keywords,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        let named = all.get("properties").and_then(Value::as_object).map(|all| self.properties(all));
        let patterns = all.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.map_or_else(|| Ok(Vec::new()), |all| self.pattern_properties(all))?;
        let names_members = all.contains_key("properties") || all.contains_key("patternProperties");
        let additional = all.get("additionalProperties");
        self.change(id, |node| node.evaluates_properties |= additional.is_some());
        let additional = match additional {
            None | Some(Value::Bool(true)) => {
                keywords.extend(named.map(Keyword::Properties));
                if !patterns.is_empty() {
                    keywords.push(Keyword::PatternProperties(patterns));
                }
                return Ok(());
            }
            Some(Value::Bool(false)) if !names_members => {
                // There is no name to suggest, so the object as a whole is wrong.
                keywords.push(Keyword::AtMost(Measure::Properties, 0));
                return Ok(());
            }
            Some(Value::Bool(false)) => Additional::Forbidden,
            Some(schema) => Additional::Node(self.node(schema)),
        };
        let named = named.unwrap_or_default();
        keywords.push(Keyword::ClosedProperties(ClosedProperties { named, patterns, additional }));
        Ok(())
    }

    fn properties(&mut self, all: &'d Keywords) -> Properties {
        let nodes = all.iter().map(|(name, schema)| (name.clone(), self.node(schema))).collect();
        Properties { names: all.keys().cloned().collect(), nodes }
    }

    fn pattern_properties(&mut self, all: &'d Keywords) -> Result<Vec<(Pattern, NodeId)>, SchemaError> {
        let mut found = Vec::new();
        for (source, schema) in all {
            let node = self.node(schema);
            found.extend(self.pattern(source)?.map(|pattern| (pattern, node)));
        }
        Ok(found)
    }

    fn dependent_schemas(&mut self, all: &'d Keywords) -> Vec<(String, NodeId)> {
        let schemas = all.iter().filter(|(_, value)| shape::is_schema(value));
        schemas.map(|(name, schema)| (name.clone(), self.node(schema))).collect()
    }

    pub(super) fn arrays(&mut self, id: NodeId, all: &'d Keywords, keywords: &mut Vec<Keyword>) {
        self.sizes(all, Measure::Items, keywords);
        if all.get("uniqueItems") == Some(&Value::Bool(true)) {
            keywords.push(Keyword::UniqueItems);
        }
        let tuple = match all.get("items") {
            Some(tuple @ Value::Array(_)) => Some(tuple),
            _ => self.get(all, "prefixItems"),
        };
        let tuple = tuple.and_then(Value::as_array).map_or(Vec::new(), |list| self.nodes(list));
        let rest = match all.get("items") {
            Some(Value::Array(_)) => self.get(all, "additionalItems"),
            rest => rest,
        };
        if let Some(rest) = rest {
            keywords.push(Keyword::Items(tuple.len(), self.node(rest)));
            self.change(id, |node| node.evaluates_items = true);
        }
        if !tuple.is_empty() {
            keywords.push(Keyword::PrefixItems(tuple));
        }
        if let Some(item) = self.get(all, "contains") {
            let least = self.count(all, "minContains").unwrap_or(1);
            let most = self.count(all, "maxContains").unwrap_or(u64::MAX);
            keywords.push(Keyword::Contains { item: self.node(item), least, most });
        }
    }

    pub(super) fn nodes(&mut self, schemas: &'d [Value]) -> Vec<NodeId> {
        schemas.iter().map(|schema| self.node(schema)).collect()
    }
}

fn names(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

fn names_by_name(all: &Keywords) -> Vec<(String, Vec<String>)> {
    all.iter().filter_map(|(name, value)| Some((name.clone(), names(value)?))).collect()
}
