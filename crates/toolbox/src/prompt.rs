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

type PromptHandler = Arc<dyn Fn(BTreeMap<String, String>, Context) -> Work<PromptResult> + Send + Sync>;

/// A prompt that a server offers.
#[derive(Clone)]
pub struct Prompt {
    pub(crate) name: &'static str,
    description: &'static str,
    arguments: Vec<PromptArgument>,
    handler: PromptHandler,
}

/// One argument of a prompt.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PromptArgument {
    /// The name of the argument.
    pub name: &'static str,
    /// The purpose of the argument, for clients.
    pub description: &'static str,
    /// Whether a request must contain the argument.
    pub required: bool,
}

/// The messages of a prompt, filled in with arguments.
#[derive(Debug, Default, Serialize)]
pub struct PromptResult {
    /// The description of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages, in order.
    pub messages: Vec<PromptMessage>,
}

/// One message of a prompt.
#[derive(Debug, Serialize)]
pub struct PromptMessage {
    /// The role: `user` or `assistant`.
    pub role: &'static str,
    /// The content of the message.
    pub content: Content,
}

impl PromptResult {
    /// Adds a message with the role `user`.
    #[must_use]
    pub fn user(mut self, content: Content) -> PromptResult {
        self.messages.push(PromptMessage { role: "user", content });
        self
    }
}

impl Prompt {
    /// Creates a prompt without arguments.
    pub fn new<F, W>(name: &'static str, description: &'static str, handler: F) -> Prompt
    where
        F: Fn(BTreeMap<String, String>, Context) -> W + Send + Sync + 'static,
        W: Future<Output = Result<PromptResult, Fault>> + Send + 'static,
    {
        let handler: PromptHandler = Arc::new(move |arguments, cx| Box::pin(handler(arguments, cx)));
        Prompt { name, description, arguments: Vec::new(), handler }
    }

    /// Adds an argument to the definition.
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

    /// Checks that all required arguments are present, then runs the handler.
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
