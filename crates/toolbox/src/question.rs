//! Questions of a server to its client. They are the same in both eras.

use std::collections::BTreeMap;

use failwell_fault::{Echo, Fault, reason};
use failwell_rpc::{Json, Raw, meta, on_one_line};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::context::client::Capability;

/// A question to the client or its user.
#[derive(Debug, Clone)]
pub struct Question {
    needs: Capability,
    method: &'static str,
    params: Json,
    /// Receives progress of the answer.
    follower: Option<mpsc::Sender<Json>>,
}

impl Question {
    /// Asks the user to fill in a form with this schema.
    pub fn form(message: &str, requested_schema: Value) -> Question {
        let params = json!({"message": message, "requestedSchema": requested_schema});
        Question::of(Capability::Elicitation, "elicitation/create", Json::from(&params))
    }

    fn of(needs: Capability, method: &'static str, params: Json) -> Question {
        Question { needs, method, params, follower: None }
    }

    /// Asks the user to visit a URL.
    pub fn visit(message: &str, url: &str) -> Question {
        let params = json!({"mode": "url", "message": message, "url": url});
        Question::of(Capability::Elicitation, "elicitation/create", Json::from(&params))
    }

    /// Asks the client's model to complete a prompt.
    pub fn sample(prompt: &str, max_tokens: u32) -> Question {
        let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
        let params = json!({"messages": [message], "maxTokens": max_tokens});
        Question::of(Capability::Sampling, "sampling/createMessage", Json::from(&params))
    }

    /// Asks the client for its roots.
    pub fn roots() -> Question {
        Question::of(Capability::Roots, "roots/list", Json::empty_object())
    }

    /// Relays a question of another server, unchanged. Returns `None` if clients do not answer this method.
    pub fn relayed(method: &str, params: Json) -> Option<Question> {
        let (needs, method) = match method {
            "elicitation/create" => (Capability::Elicitation, "elicitation/create"),
            "sampling/createMessage" => (Capability::Sampling, "sampling/createMessage"),
            "roots/list" => (Capability::Roots, "roots/list"),
            _ => return None,
        };
        Some(Question::of(needs, method, params))
    }

    /// Returns the same question with a receiver for progress of the answer. The receiver gets the params of
    /// each progress notification, with our token.
    #[must_use]
    pub fn followed_by(self, follower: mpsc::Sender<Json>) -> Question {
        Question { follower: Some(follower), ..self }
    }

    /// The receiver for progress of the answer.
    pub fn follower(&self) -> Option<mpsc::Sender<Json>> {
        self.follower.clone()
    }

    /// Returns the params with our progress token in place of the original. The original token is meaningful
    /// to its sender only, and two senders may choose the same. Without a follower the token is removed.
    fn params_under(&self, token: Option<u64>) -> Json {
        let Some(object) = self.params.raw().as_object() else { return self.params.clone() };
        let meta = object.get("_meta").and_then(Raw::as_object);
        let Some(meta) = meta.filter(|meta| meta.get(meta::PROGRESS_TOKEN).is_some()) else {
            return self.params.clone();
        };
        let meta = match token {
            Some(token) => {
                let token = Json::from(&Value::from(token));
                Some(meta.replacing(meta::PROGRESS_TOKEN, token.raw()))
            }
            None => meta.without(&[meta::PROGRESS_TOKEN]),
        };
        match meta {
            Some(meta) => object.replacing("_meta", meta.raw()),
            None => object.without(&["_meta"]).unwrap_or_else(Json::empty_object),
        }
    }

    /// The method of the question, such as `elicitation/create`.
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// The capability that the client needs in order to answer.
    pub fn needs(&self) -> Capability {
        self.needs
    }

    /// The question as a JSON-RPC request, for the session era.
    pub fn as_request(&self, id: u64) -> String {
        let params = self.params_under(self.follower.as_ref().map(|_| id));
        let (method, params) = (self.method, params.text());
        on_one_line(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
    }

    /// The question as an entry of `inputRequests`, for the modern era.
    pub fn as_input_request(&self) -> Json {
        let method = Json::from(&Value::from(self.method));
        Json::object([("method", method.raw()), ("params", self.params_under(None).raw())].into_iter())
    }

    /// Checks that an answer has the shape that this question requires.
    pub fn check(&self, key: &str, answer: Raw<'_>) -> Result<(), Fault> {
        let object = answer.as_object();
        let fits = object.is_some_and(|object| match self.needs {
            Capability::Elicitation => {
                let action = object.get("action").and_then(Raw::as_str);
                matches!(action.as_deref(), Some("accept" | "decline" | "cancel"))
            }
            Capability::Sampling => object.get("content").is_some(),
            Capability::Roots => object.get("roots").is_some_and(|roots| roots.as_array().is_some()),
            Capability::Tasks => true,
        });
        if fits {
            return Ok(());
        }
        Err(Fault::new(&reason::MCP_BAD_INPUT).fact("key", Echo::of_caller(key)))
    }
}

/// The answers of the client, by question key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers(BTreeMap<String, Json>);

impl FromIterator<(String, Json)> for Answers {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(answers: I) -> Answers {
        Answers(answers.into_iter().collect())
    }
}

impl Answers {
    /// Returns one answer, verbatim.
    pub fn raw(&self, key: &str) -> Option<&Json> {
        self.0.get(key)
    }

    /// Returns one answer as parsed JSON; `null` if it is missing.
    pub fn get(&self, key: &str) -> Value {
        self.0.get(key).and_then(|json| json.raw().parse().ok()).unwrap_or(Value::Null)
    }

    /// Returns the content of an accepted form; `None` if the user declined or cancelled.
    pub fn accepted(&self, key: &str) -> Option<Value> {
        let answer = self.get(key);
        let accepted = answer.get("action").and_then(Value::as_str) == Some("accept");
        accepted.then(|| answer.get("content").cloned().unwrap_or(Value::Null))
    }

    /// Returns the text that the model generated.
    pub fn sampled_text(&self, key: &str) -> Option<String> {
        let answer = self.get(key);
        let content = answer.get("content")?;
        let block = content.as_array().and_then(|blocks| blocks.first()).unwrap_or(content);
        Some(block.get("text")?.as_str()?.to_owned())
    }
}
