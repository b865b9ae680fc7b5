//! Attribute values in OTLP's JSON encoding: 64-bit integers are strings, names are in camel case.
//!
//! <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>

use std::borrow::Cow;

use serde::Serialize;

/// The value types in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) enum AnyValue<'a> {
    #[serde(rename = "stringValue")]
    Text(Cow<'a, str>),
    #[serde(rename = "intValue")]
    Number(#[serde(serialize_with = "as_text")] i64),
}

#[derive(Debug, Serialize)]
pub(crate) struct Attribute<'a> {
    key: &'static str,
    value: AnyValue<'a>,
}

/// A list of attributes; absent values are omitted.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Attributes<'a>(Vec<Attribute<'a>>);

impl<'a> Attributes<'a> {
    pub(crate) fn text(&mut self, key: &'static str, value: impl Into<Cow<'a, str>>) {
        let value = value.into();
        if !value.is_empty() {
            self.0.push(Attribute { key, value: AnyValue::Text(value) });
        }
    }

    pub(crate) fn maybe(&mut self, key: &'static str, value: Option<impl Into<Cow<'a, str>>>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    pub(crate) fn number(&mut self, key: &'static str, value: i64) {
        self.0.push(Attribute { key, value: AnyValue::Number(value) });
    }
}

/// The OTLP resource that sends the data.
#[derive(Debug, Serialize)]
pub(crate) struct Resource<'a> {
    attributes: Attributes<'a>,
}

impl<'a> Resource<'a> {
    /// Describes this program and its node.
    pub(crate) fn new(service: (&'static str, &'static str), node: &'a str) -> Resource<'a> {
        let mut attributes = Attributes::default();
        attributes.text("service.name", service.0);
        attributes.text("service.version", service.1);
        attributes.text("service.instance.id", node);
        Resource { attributes }
    }
}

/// The instrumentation scope.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Scope {
    name: &'static str,
    version: &'static str,
}

impl Scope {
    pub(crate) fn new(service: (&'static str, &'static str)) -> Scope {
        Scope { name: service.0, version: service.1 }
    }
}

pub(crate) fn as_text<S: serde::Serializer>(
    number: &(impl std::fmt::Display + ?Sized),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

/// The transport and protocol, named by the semantic conventions for MCP.
pub(crate) fn network(attributes: &mut Attributes<'_>, transport: &str) {
    match transport {
        "stdio" => attributes.text("network.transport", "pipe"),
        "http" => {
            attributes.text("network.transport", "tcp");
            attributes.text("network.protocol.name", "http");
        }
        _ => {}
    }
}

/// The target of a method, named by the semantic conventions for MCP and generative AI.
pub(crate) fn target<'a>(attributes: &mut Attributes<'a>, method: &str, target: Option<Cow<'a, str>>) {
    match method {
        "tools/call" | "execute_tool" => {
            attributes.text("gen_ai.operation.name", "execute_tool");
            attributes.maybe("gen_ai.tool.name", target);
        }
        "prompts/get" => attributes.maybe("gen_ai.prompt.name", target),
        _ if method.starts_with("resources/") || method == "read_resource" => {
            attributes.maybe("mcp.resource.uri", target);
        }
        _ => attributes.maybe("failwell.target", target),
    }
}
