//! Stage `guard_in`: content guards on the caller's content, before the work.

use failwell_fault::Fault;
use failwell_rpc::{Json, Request};

use crate::pipeline::Pipeline;
use crate::request::call::Call;
use crate::request::incoming_request::IncomingMessage;
use crate::request::scope::RequestScope;

/// The content of one call that guards inspect.
pub(crate) enum GuardedContent {
    /// The params of an MCP request.
    Params,
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
    pub(crate) fn of(call: &Call<'_>, message: &IncomingMessage<'_>) -> Result<GuardedContent, Fault> {
        Ok(match message {
            IncomingMessage::Mcp(..) => GuardedContent::Params,
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
            (GuardedContent::Params, IncomingMessage::Mcp(request, _)) => {
                let clean = match request.params {
                    None => None,
                    Some(params) if !has_custom => {
                        self.ports.guards.incoming_now(scope.message_meta(), params.text())?
                    }
                    // Boxed, because this branch is rare: the future of every call stays small.
                    Some(params) => {
                        Box::pin(self.ports.guards.incoming(scope.message_meta(), params.text())).await?
                    }
                };
                let clean = clean.map(|params| with_params(request, &params));
                if has_custom {
                    scope.log.notes.admit(clean.as_deref());
                }
                Ok(clean.map_or(GuardedCall::AsSent, GuardedCall::Request))
            }
            (GuardedContent::Content(content), _) => {
                let guards = &self.ports.guards;
                let clean = match has_custom {
                    false => guards.incoming_now(scope.message_meta(), &content)?,
                    true => {
                        let clean = Box::pin(guards.incoming(scope.message_meta(), &content)).await?;
                        scope.log.notes.admit(clean.as_ref().map(Json::text));
                        clean
                    }
                };
                Ok(clean.map_or(GuardedCall::AsSent, GuardedCall::Content))
            }
            _ => Ok(GuardedCall::AsSent),
        }
    }
}

fn with_params(request: &Request<'_>, params: &Json) -> String {
    let method = failwell_rpc::json_string(&request.method);
    let id = request.id.text();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{}}}"#, params.text())
}
