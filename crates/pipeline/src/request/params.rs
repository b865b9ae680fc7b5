//! Reads a method's params. All violations are reported together.

use std::collections::BTreeMap;

use failwell_fault::{Echo, Fault, Pointer, Rule, Violation, reason};
use failwell_rpc::{Json, Object, Raw, Request};

/// The params of one request, and the violations found so far.
pub(crate) struct Params<'r, 'a> {
    request: &'r Request<'a>,
    violations: Vec<Violation>,
}

impl<'r, 'a> Params<'r, 'a> {
    pub(crate) fn of(request: &'r Request<'a>) -> Params<'r, 'a> {
        let mut params = Params { request, violations: Vec::new() };
        if request.params.is_some_and(|raw| raw.as_object().is_none()) {
            params.wrong(Pointer::root(), Rule::Type, "object");
        }
        params
    }

    fn wrong(&mut self, place: Pointer, rule: Rule, limit: &'static str) {
        self.violations.push(Violation::new(place, rule).limit(limit));
    }

    fn missing(&mut self, name: &str) {
        self.violations.push(Violation::new(Pointer::root().then(name), Rule::Required));
    }

    /// Whether any violation was found.
    pub(crate) fn are_wrong(&self) -> bool {
        !self.violations.is_empty()
    }

    /// Reads a required string.
    pub(crate) fn text(&mut self, name: &str) -> String {
        match self.request.param(name) {
            None => self.missing(name),
            Some(raw) => match raw.as_str() {
                Some(text) => return text.into_owned(),
                None => self.wrong(Pointer::root().then(name), Rule::Type, "string"),
            },
        }
        String::new()
    }

    /// Reads an optional string.
    pub(crate) fn optional_text(&mut self, name: &str) -> Option<String> {
        self.request.param(name).map(|_| self.text(name))
    }

    /// Reads an optional object.
    pub(crate) fn optional_object(&mut self, name: &str) -> Option<Object<'a>> {
        let object = self.request.param(name)?.as_object();
        if object.is_none() {
            self.wrong(Pointer::root().then(name), Rule::Type, "object");
        }
        object
    }

    /// Reads a required object.
    pub(crate) fn object(&mut self, name: &str) -> Option<Object<'a>> {
        if self.request.param(name).is_none() {
            self.missing(name);
        }
        self.optional_object(name)
    }

    /// Reads an optional object of strings.
    pub(crate) fn texts(&mut self, name: &str) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        for (key, raw) in self.optional_object(name).into_iter().flat_map(|object| object.iter()) {
            match raw.as_str() {
                Some(text) => {
                    texts.insert(key.into_owned(), text.into_owned());
                }
                None => self.wrong(Pointer::root().then(name).then(&key), Rule::Type, "string"),
            }
        }
        texts
    }

    /// Reads an optional object as an owned value.
    pub(crate) fn kept_object(&mut self, name: &str) -> Option<Json> {
        let given = self.request.param(name)?;
        self.optional_object(name).map(|_| self.request.keep(given))
    }

    /// Returns a member verbatim.
    pub(crate) fn json(&self, name: &str) -> Option<Json> {
        self.request.param(name).map(Raw::to_json)
    }

    /// Returns the value, or one fault with all violations.
    pub(crate) fn done<T>(self, value: T) -> Result<T, Fault> {
        if self.violations.is_empty() {
            return Ok(value);
        }
        let method = Echo::of_caller(&self.request.method);
        let fault = Fault::new(&reason::MCP_BAD_PARAMS).fact("method", method);
        Err(self.violations.into_iter().fold(fault, Fault::violation))
    }
}
