//! Responses: a tree of elements, written as XML or as the JSON that the service derives from it.

mod distortions;
mod json;
mod xml;

use std::borrow::Cow;

use serde_json::Value;

use crate::api::api_error::{ApiError, ApiResult};

pub(crate) use distortions::{flip_lists, with_unknown_fields};

/// An element with attributes, and children or text.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    name: Cow<'static, str>,
    attributes: Vec<(Cow<'static, str>, String)>,
    text: Option<String>,
    children: Vec<Children>,
    /// A wrapper of many that is written as an empty list when there are none.
    is_wrapper: bool,
}

/// Children of one name.
#[derive(Debug, Clone)]
enum Children {
    One(Element),
    Many(Cow<'static, str>, Vec<Element>),
}

/// Which version of the service answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    One,
    Two,
}

/// How a list of one is written in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SingleItemForm {
    /// As a list.
    List,
    /// As the one thing in it.
    Thing,
}

/// How the answer is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Format {
    Xml,
    Json { callback: Option<String> },
}

impl Element {
    pub(crate) fn new(name: impl Into<Cow<'static, str>>) -> Element {
        Element { name: name.into(), attributes: vec![], text: None, children: vec![], is_wrapper: false }
    }

    /// An element that holds text alone.
    pub(crate) fn text(name: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Element {
        Element { text: Some(text.into()), ..Element::new(name) }
    }

    /// `<tags><tag/>…</tags>`: an empty list when there are none.
    pub(crate) fn wrapper(name: &'static str, each: &'static str, items: Vec<Element>) -> Element {
        Element { is_wrapper: true, ..Element::new(name).many(each, items) }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Element {
        self.attributes.push((name.into(), value.into()));
        self
    }

    pub(crate) fn flag(self, name: &'static str, value: bool) -> Element {
        self.with(name, if value { "1" } else { "0" })
    }

    pub(crate) fn body(mut self, text: impl Into<String>) -> Element {
        self.text = Some(text.into());
        self
    }

    pub(crate) fn child(mut self, child: Element) -> Element {
        self.children.push(Children::One(child));
        self
    }

    pub(crate) fn many(mut self, name: &'static str, items: Vec<Element>) -> Element {
        self.children.push(Children::Many(name.into(), items));
        self
    }
}

/// The whole answer as a tree.
pub(crate) fn envelope(outcome: ApiResult<Vec<Element>>) -> Element {
    match outcome {
        Ok(children) => children
            .into_iter()
            .fold(Element::new("rsp").with("stat", "ok"), |envelope, child| envelope.child(child)),
        Err(ApiError { code, message }) => Element::new("rsp")
            .with("stat", "fail")
            .child(Element::new("err").with("code", code.to_string()).with("msg", message)),
    }
}

/// The answer as JSON.
pub(crate) fn json(envelope: &Element, single: SingleItemForm) -> Value {
    let mut outer = serde_json::Map::new();
    outer.insert("rsp".to_owned(), json::value(envelope, single));
    Value::Object(outer)
}

/// The bytes of an answer and their type.
pub(crate) fn write(envelope: &Element, json: &Value, format: &Format) -> (String, &'static str) {
    match format {
        Format::Xml => (xml::document(envelope), "text/xml; charset=utf-8"),
        Format::Json { callback: None } => (json.to_string(), "text/javascript; charset=utf-8"),
        Format::Json { callback: Some(callback) } => {
            (format!("{callback}({json})"), "text/javascript; charset=utf-8")
        }
    }
}
