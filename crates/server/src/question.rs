//! Questions a server has for its client, the same in both eras.

use std::collections::BTreeMap;

use failwell_fault::{Echo, Fault, reason};
use failwell_rpc::{Json, Raw, meta, on_one_line};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::client::Capability;

/// One question.
#[derive(Debug, Clone)]
pub struct Question {
    needs: Capability,
    method: &'static str,
    params: Json,
    /// Who wants to hear how far the answer is.
    follower: Option<mpsc::Sender<Json>>,
}

impl Question {
    /// Asks the user to fill in a form.
    pub fn form(message: &str, requested_schema: Value) -> Question {
        let params = json!({"message": message, "requestedSchema": requested_schema});
        Question::of(Capability::Elicitation, "elicitation/create", Json::from(&params))
    }

    fn of(needs: Capability, method: &'static str, params: Json) -> Question {
        Question { needs, method, params, follower: None }
    }

    /// Asks the user to visit an address.
    pub fn visit(message: &str, url: &str) -> Question {
        let params = json!({"mode": "url", "message": message, "url": url});
        Question::of(Capability::Elicitation, "elicitation/create", Json::from(&params))
    }

    /// Asks the model one thing.
    pub fn sample(prompt: &str, max_tokens: u32) -> Question {
        let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
        let params = json!({"messages": [message], "maxTokens": max_tokens});
        Question::of(Capability::Sampling, "sampling/createMessage", Json::from(&params))
    }

    /// Asks the client for its roots.
    pub fn roots() -> Question {
        Question::of(Capability::Roots, "roots/list", Json::empty_object())
    }

    /// A question somebody else asks, passed on as it is; `None` when it is none a client can answer.
    pub fn relayed(method: &str, params: Json) -> Option<Question> {
        let (needs, method) = match method {
            "elicitation/create" => (Capability::Elicitation, "elicitation/create"),
            "sampling/createMessage" => (Capability::Sampling, "sampling/createMessage"),
            "roots/list" => (Capability::Roots, "roots/list"),
            _ => return None,
        };
        Some(Question::of(needs, method, params))
    }

    /// The same question, for one who wants to hear how far the answer is. What a client says of it comes as the params
    /// of its notice, under a token of ours.
    #[must_use]
    pub fn followed_by(self, follower: mpsc::Sender<Json>) -> Question {
        Question { follower: Some(follower), ..self }
    }

    pub(crate) fn follower(&self) -> Option<mpsc::Sender<Json>> {
        self.follower.clone()
    }

    /// Its params, with a progress token of ours in place of another's: that one means something to whoever chose it
    /// alone, and several may choose the same. Where nobody follows there is none.
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

    /// What is asked for.
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// What the client must be able to do.
    pub fn needs(&self) -> Capability {
        self.needs
    }

    /// The request of the session era.
    pub(crate) fn as_request(&self, id: u64) -> String {
        let params = self.params_under(self.follower.as_ref().map(|_| id));
        let (method, params) = (self.method, params.text());
        on_one_line(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
    }

    /// The entry of the modern era's `inputRequests`.
    pub(crate) fn as_input_request(&self) -> Json {
        let method = Json::from(&Value::from(self.method));
        Json::object([("method", method.raw()), ("params", self.params_under(None).raw())].into_iter())
    }

    /// Whether an answer has the shape this question asks for.
    pub fn accept(&self, key: &str, answer: Raw<'_>) -> Result<(), Fault> {
        self.check(key, answer)
    }

    pub(crate) fn check(&self, key: &str, answer: Raw<'_>) -> Result<(), Fault> {
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

/// What the client answered, by the key of each question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers(pub(crate) BTreeMap<String, Json>);

impl Answers {
    /// One answer as it came.
    pub fn raw(&self, key: &str) -> Option<&Json> {
        self.0.get(key)
    }

    /// One answer as JSON.
    pub fn get(&self, key: &str) -> Value {
        self.0.get(key).and_then(|json| json.raw().parse().ok()).unwrap_or(Value::Null)
    }

    /// The content of an accepted form; `None` when the user declined or cancelled.
    pub fn accepted(&self, key: &str) -> Option<Value> {
        let answer = self.get(key);
        let accepted = answer.get("action").and_then(Value::as_str) == Some("accept");
        accepted.then(|| answer.get("content").cloned().unwrap_or(Value::Null))
    }

    /// The text of a model's answer.
    pub fn sampled_text(&self, key: &str) -> Option<String> {
        let answer = self.get(key);
        let content = answer.get("content")?;
        let block = content.as_array().and_then(|blocks| blocks.first()).unwrap_or(content);
        Some(block.get("text")?.as_str()?.to_owned())
    }
}
