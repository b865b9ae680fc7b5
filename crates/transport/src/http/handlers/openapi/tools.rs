//! Describes each tool as a separate path.

use failwell_fault::ReasonRegistry;
use serde_json::{Map, Value, json};

use super::failures;
use super::security;
use crate::http::routes::RequiredAccess;

/// Adds a path for every tool. Schemas go to the components, so that their internal references can be
/// rewritten.
pub(super) fn add(
    tools: &[Value],
    reasons: &ReasonRegistry,
    paths: &mut Map<String, Value>,
    components: &mut Value,
) {
    if tools.is_empty() {
        return;
    }
    let failures = failures::of_tools(reasons);
    let references: Map<String, Value> = failures
        .keys()
        .map(|status| (status.clone(), json!({"$ref": format!("#/components/responses/tool-{status}")})))
        .collect();
    if let Some(responses) = components.get_mut("responses").and_then(Value::as_object_mut) {
        responses.extend(failures.into_iter().map(|(status, failure)| (format!("tool-{status}"), failure)));
    }
    let Some(schemas) = components.get_mut("schemas").and_then(Value::as_object_mut) else { return };
    for (number, tool) in tools.iter().enumerate() {
        let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
        let mut responses = references.clone();
        let result = schema(schemas, tool.get("outputSchema"), &format!("tool-{number}-result"));
        responses.insert(
            "200".to_owned(),
            json!({"description": "the result", "content": {"application/json": {"schema": result}}}),
        );
        let arguments = schema(schemas, tool.get("inputSchema"), &format!("tool-{number}-arguments"));
        let field = |key: &str, otherwise: &str| tool.get(key).cloned().unwrap_or_else(|| json!(otherwise));
        let operation = json!({
            "operationId": format!("tool {name}"),
            "summary": field("title", name),
            "description": field("description", ""),
            "requestBody": {"required": true, "content": {"application/json": {"schema": arguments}}},
            "responses": responses,
            "security": security(RequiredAccess::Key),
        });
        paths.insert(format!("/v1/tools/{}", escaped(name)), json!({"post": operation}));
    }
}

/// Adds a schema to the components and returns a reference to it.
fn schema(schemas: &mut Map<String, Value>, given: Option<&Value>, name: &str) -> Value {
    let Some(given) = given else { return json!({"type": "object"}) };
    let here = format!("#/components/schemas/{name}");
    let mut schema = given.clone();
    point_to(&mut schema, &here);
    schemas.insert(name.to_owned(), schema);
    json!({"$ref": here})
}

/// Rewrites internal references of a schema to its new location.
fn point_to(schema: &mut Value, here: &str) {
    match schema {
        Value::Object(members) => {
            for key in ["$ref", "$dynamicRef"] {
                if let Some(Value::String(target)) = members.get_mut(key)
                    && let Some(within) = target.strip_prefix('#')
                {
                    *target = format!("{here}{within}");
                }
            }
            // The document declares one schema dialect for all schemas.
            members.remove("$schema");
            members.values_mut().for_each(|value| point_to(value, here));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| point_to(item, here)),
        _ => {}
    }
}

/// Percent-encodes a name for a path: `{` would begin a parameter.
fn escaped(name: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~:@!$&'()*+,;=/".contains(byte);
    name.bytes().fold(String::new(), |text, byte| match plain(&byte) {
        true => text + char::from(byte).encode_utf8(&mut [0; 4]),
        false => text + &format!("%{byte:02X}"),
    })
}

#[cfg(test)]
mod tests {
    use super::{add, escaped};
    use failwell_fault::ReasonRegistry;
    use serde_json::{Map, json};

    #[test]
    fn what_a_schema_refers_to_is_found_among_the_components() {
        let tool = json!({"name": "a b", "inputSchema": {"$schema": "x", "type": "object",
            "properties": {"p": {"$ref": "#/$defs/P"}}, "$defs": {"P": {"type": "string"}}}});
        let (mut paths, mut components) = (Map::new(), json!({"responses": {}, "schemas": {}}));
        add(&[tool], &ReasonRegistry::core(), &mut paths, &mut components);
        let kept = &components["schemas"]["tool-0-arguments"];
        assert_eq!(kept["properties"]["p"]["$ref"], "#/components/schemas/tool-0-arguments/$defs/P");
        assert!(kept.get("$schema").is_none());
        assert!(paths.contains_key("/v1/tools/a%20b"), "{paths:?}");
        assert!(components["responses"]["tool-504"]["content"]["application/json"]["examples"].is_object());
        assert_eq!(escaped("{x}"), "%7Bx%7D");
    }
}
