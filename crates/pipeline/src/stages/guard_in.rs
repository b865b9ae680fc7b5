//! Stage `guard_in`: content guards on the caller's content, before the work.

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Direction, Json, Limits, Raw, Request};

use crate::controls::guards::{ContentGuards, LARGE, MessageMeta};
use crate::pipeline::Pipeline;
use crate::request::call::{RoutedCall, STATE};
use crate::request::incoming_request::IncomingMessage;
use crate::request::scope::RequestScope;

/// The content of one call that guards inspect.
pub(crate) enum GuardedContent {
    /// The params of an MCP request.
    Params,
    /// The params of an MCP request without its `requestState`. That is text of our own, and the call fails if
    /// it is not.
    ParamsWithoutState(Json),
    /// The content of a call in another dialect.
    Content(String),
    Nothing,
}

/// A call that passed the guards.
pub(crate) enum GuardedCall {
    AsSent,
    /// An MCP request with redacted params.
    Request(String),
    /// Redacted content of a call in another dialect.
    Content(Json),
}

impl GuardedContent {
    pub(crate) fn of(call: &RoutedCall<'_>, message: &IncomingMessage<'_>) -> Result<GuardedContent, Fault> {
        Ok(match message {
            IncomingMessage::Mcp(request, _) => {
                let others = call.state().and_then(|_| request.other_params(&[STATE]));
                others.map_or(GuardedContent::Params, GuardedContent::ParamsWithoutState)
            }
            IncomingMessage::Rpc(_) | IncomingMessage::Rest(_) => match call.content()? {
                Some(content) => GuardedContent::Content(content.into_owned()),
                None => GuardedContent::Nothing,
            },
        })
    }
}

impl Pipeline {
    pub(crate) async fn guard_in(
        &self,
        content: GuardedContent,
        scope: &RequestScope<'_>,
    ) -> Result<GuardedCall, Fault> {
        let has_custom = self.ports.guards.has_custom();
        match (content, &scope.incoming.message) {
            (
                content @ (GuardedContent::Params | GuardedContent::ParamsWithoutState(_)),
                IncomingMessage::Mcp(request, _),
            ) => {
                let (params, state) = match &content {
                    GuardedContent::ParamsWithoutState(params) => (Some(params.raw()), request.param(STATE)),
                    _ => (request.params, None),
                };
                let clean = match params {
                    None => None,
                    Some(params) if !has_custom && params.text().len() <= LARGE => {
                        self.ports.guards.incoming_now(scope.message_meta(), params.text())?
                    }
                    // Boxed, because this branch is rare: the future of every call stays small.
                    Some(params) => {
                        Box::pin(self.ports.guards.incoming(scope.message_meta(), params.text())).await?
                    }
                };
                let clean = clean.map(|params| with_params(request, &params, state));
                if has_custom {
                    scope.log.notes.admit(clean.as_deref());
                }
                Ok(clean.map_or(GuardedCall::AsSent, GuardedCall::Request))
            }
            (GuardedContent::Content(content), _) => {
                let guards = &self.ports.guards;
                let is_quick = !has_custom && content.len() <= LARGE;
                let clean = match is_quick {
                    true => guards.incoming_now(scope.message_meta(), &content)?,
                    false => {
                        let clean = Box::pin(guards.incoming(scope.message_meta(), &content)).await?;
                        if has_custom {
                            scope.log.notes.admit(clean.as_ref().map(Json::text));
                        }
                        clean
                    }
                };
                Ok(clean.map_or(GuardedCall::AsSent, GuardedCall::Content))
            }
            _ => Ok(GuardedCall::AsSent),
        }
    }
}

impl dyn ContentGuards {
    /// Inspects params of a client without waiting. `None` lets them pass unchanged.
    fn incoming_now(&self, message: MessageMeta<'_>, json: &str) -> Result<Option<Json>, Fault> {
        self.inspect(Direction::Request, message, json.as_bytes(), 0)?.map(redacted).transpose()
    }

    /// Inspects params of a client. `None` lets them pass unchanged.
    pub async fn incoming(&self, message: MessageMeta<'_>, json: &str) -> Result<Option<Json>, Fault> {
        let clean = self.inspect_any(Direction::Request, message, json.as_bytes()).await?;
        let asked = match self.asks_in(Direction::Request) {
            true => {
                let bytes = clean.as_deref().unwrap_or(json.as_bytes());
                self.ask(Direction::Request, message, bytes, 0).await?
            }
            false => None,
        };
        asked.or(clean).map(redacted).transpose()
    }
}

/// Parses a message after redaction.
fn redacted(bytes: Vec<u8>) -> Result<Json, Fault> {
    let text = String::from_utf8(bytes).or_fault(&reason::SERVER_BUG)?;
    Json::read(&text, &Limits::default()).map_err(|_| Fault::new(&reason::SERVER_BUG))
}

fn with_params(request: &Request<'_>, params: &Json, state: Option<Raw<'_>>) -> String {
    let method = failwell_rpc::json_string(&request.method);
    let id = request.id.text();
    let state = state.map_or(String::new(), |state| format!(r#""{STATE}":{},"#, state.text()));
    let members = params.raw().members();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{{{state}{members}}}}}"#)
}
