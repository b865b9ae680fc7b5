//! Values as OTLP's JSON has them: 64-bit numbers are texts, names are in camel case.
//!
//! <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>

use std::borrow::Cow;

use serde::Serialize;

/// A value of any sort that is used here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) enum Any<'a> {
    #[serde(rename = "stringValue")]
    Text(Cow<'a, str>),
    #[serde(rename = "intValue")]
    Number(#[serde(serialize_with = "as_text")] i64),
}

/// A name and its value.
#[derive(Debug, Serialize)]
pub(crate) struct Attribute<'a> {
    key: &'static str,
    value: Any<'a>,
}

/// Attributes being collected; what is not there is not written.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Attributes<'a>(Vec<Attribute<'a>>);

impl<'a> Attributes<'a> {
    pub(crate) fn text(&mut self, key: &'static str, value: impl Into<Cow<'a, str>>) {
        let value = value.into();
        if !value.is_empty() {
            self.0.push(Attribute { key, value: Any::Text(value) });
        }
    }

    pub(crate) fn maybe(&mut self, key: &'static str, value: Option<impl Into<Cow<'a, str>>>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    pub(crate) fn number(&mut self, key: &'static str, value: i64) {
        self.0.push(Attribute { key, value: Any::Number(value) });
    }
}

/// Who sends.
#[derive(Debug, Serialize)]
pub(crate) struct Resource<'a> {
    attributes: Attributes<'a>,
}

impl<'a> Resource<'a> {
    /// This program, and which of its nodes.
    pub(crate) fn of(service: (&'static str, &'static str), node: &'a str) -> Resource<'a> {
        let mut attributes = Attributes::default();
        attributes.text("service.name", service.0);
        attributes.text("service.version", service.1);
        attributes.text("service.instance.id", node);
        Resource { attributes }
    }
}

/// Which part of it.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Scope {
    name: &'static str,
    version: &'static str,
}

impl Scope {
    pub(crate) fn of(service: (&'static str, &'static str)) -> Scope {
        Scope { name: service.0, version: service.1 }
    }
}

pub(crate) fn as_text<S: serde::Serializer>(
    number: &(impl std::fmt::Display + ?Sized),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

/// The transport as the conventions for MCP name it, and the protocol on top of it.
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

/// What the target of a method is, by the conventions for MCP and generative AI.
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
