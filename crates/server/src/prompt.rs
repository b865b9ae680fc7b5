//! A prompt: its definition and its handler.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use failwell_fault::{Fault, Pointer, Rule, Violation, reason};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::content::Content;
use crate::context::Context;
use crate::tool::Work;

type Handler = Arc<dyn Fn(BTreeMap<String, String>, Context) -> Work<PromptResult> + Send + Sync>;

/// A prompt.
#[derive(Clone)]
pub struct Prompt {
    pub(crate) name: &'static str,
    description: &'static str,
    arguments: Vec<PromptArgument>,
    handler: Handler,
}

/// One argument of a prompt.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Whether it must be given.
    pub required: bool,
}

/// A prompt, filled in.
#[derive(Debug, Default, Serialize)]
pub struct PromptResult {
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its messages.
    pub messages: Vec<PromptMessage>,
}

/// One message of a prompt.
#[derive(Debug, Serialize)]
pub struct PromptMessage {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// What is said.
    pub content: Content,
}

impl PromptResult {
    /// Adds what the user says.
    #[must_use]
    pub fn user(mut self, content: Content) -> PromptResult {
        self.messages.push(PromptMessage { role: "user", content });
        self
    }
}

impl Prompt {
    /// A prompt without arguments so far.
    pub fn new<F, W>(name: &'static str, description: &'static str, handler: F) -> Prompt
    where
        F: Fn(BTreeMap<String, String>, Context) -> W + Send + Sync + 'static,
        W: Future<Output = Result<PromptResult, Fault>> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |arguments, cx| Box::pin(handler(arguments, cx)));
        Prompt { name, description, arguments: Vec::new(), handler }
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Prompt {
        self.arguments.push(argument);
        self
    }

    pub(crate) fn definition(&self) -> Value {
        let mut members = Map::new();
        members.insert("name".to_owned(), json!(self.name));
        members.insert("description".to_owned(), json!(self.description));
        if !self.arguments.is_empty() {
            members.insert("arguments".to_owned(), json!(self.arguments));
        }
        Value::Object(members)
    }

    /// Checks that what is required is there, then runs.
    pub(crate) fn get(&self, given: BTreeMap<String, String>, cx: Context) -> Work<PromptResult> {
        let missing =
            self.arguments.iter().filter(|wanted| wanted.required && !given.contains_key(wanted.name));
        let violations: Vec<Violation> = missing
            .map(|wanted| Violation::new(Pointer::root().then("arguments").then(wanted.name), Rule::Required))
            .collect();
        if violations.is_empty() {
            return (self.handler)(given, cx);
        }
        let fault = Fault::new(&reason::MCP_BAD_PARAMS).fact("method", "prompts/get");
        Box::pin(std::future::ready(Err(violations.into_iter().fold(fault, Fault::violation))))
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("name", &self.name).finish_non_exhaustive()
    }
}
