//! The plain faces: every tool by name, over JSON-RPC 2.0 without MCP and over REST.

use std::sync::Arc;

use failwell_audit::{Trace, Trail};
use failwell_fault::{Fault, OrFault, Pointer, Rule, Violation, reason};
use failwell_policy::Caller;
use failwell_render::{Outcome, Reply};
use failwell_rpc::{Asked, Json, Raw, ReplyTo, Request, Revision};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::approvals::ApprovalCall;
use crate::asking::Asking;
use crate::client::Client;
use crate::content::{ToolOutcome, Verdict};
use crate::context::{Context, Surroundings};
use crate::guarding::{Watched, Whose};
use crate::house::{Exchange, House};
use crate::own::OwnCall;
use crate::params::Params;
use crate::passing::Passing;
use crate::recorder::Recorder;
use crate::resources::check_address;
use crate::room::List;
use crate::stream::{Keep, Stream};
use crate::work::tool_result;

/// What the plain faces can ask for.
#[derive(Debug, Clone, PartialEq)]
pub enum PlainCall {
    /// All tools.
    ListTools,
    /// One tool.
    Execute {
        /// Which.
        name: String,
        /// With what.
        arguments: Value,
    },
    /// One resource.
    ReadResource(String),
    /// Something about calls that need a person's yes.
    Approvals(ApprovalCall),
    /// Something of the program itself.
    Own(OwnCall),
}

/// Where a plain call comes from.
#[derive(Debug, Clone, Copy)]
pub struct From<'a> {
    /// Who sent it.
    pub caller: &'a Caller,
    /// The connection it came in on.
    pub connection: &'a str,
    /// The message itself, if there is one.
    pub request: Option<&'a str>,
}

/// How a plain call came.
#[derive(Debug, Default)]
pub struct PlainAround {
    /// Set when the caller calls it off.
    pub cancel: CancellationToken,
    /// Which trace it is part of, where traces are kept; see `House::join_plain`.
    pub trace: Option<Trace>,
}

/// A call that is part of no trace.
impl std::convert::From<CancellationToken> for PlainAround {
    fn from(cancel: CancellationToken) -> PlainAround {
        PlainAround { cancel, trace: None }
    }
}

impl PlainCall {
    /// Reads a request of plain JSON-RPC: `list_tools`, `execute_tool`, `read_resource`, or any tool by name.
    pub fn read(request: &Request<'_>) -> Result<PlainCall, Fault> {
        let mut params = Params::of(request);
        let call = match &*request.method {
            "list_tools" => PlainCall::ListTools,
            "read_resource" => PlainCall::ReadResource(params.text("uri")),
            "execute_tool" => {
                let named = params.optional_text("name").or_else(|| params.optional_text("tool_name"));
                let arguments = params.json("arguments");
                params.done(())?;
                let name = named.ok_or_else(|| Fault::new(&reason::MCP_TOOL_NAME))?;
                return Ok(PlainCall::Execute { name, arguments: object(arguments)? });
            }
            tool => {
                let arguments = object(request.params.map(Raw::to_json))?;
                return Ok(PlainCall::Execute { name: tool.to_owned(), arguments });
            }
        };
        params.done(call)
    }
}

/// Arguments as REST has them in its body: an object, or nothing at all.
fn object(arguments: Option<Json>) -> Result<Value, Fault> {
    match arguments {
        None => Ok(json!({})),
        Some(json) if json.raw().as_object().is_some() => json.raw().parse().or_fault(&reason::SERVER_BUG),
        Some(_) => Err(not_an_object()),
    }
}

/// Arguments that are no object: the same failure on every plain face.
pub fn not_an_object() -> Fault {
    Fault::new(&reason::MCP_BAD_ARGUMENTS)
        .violation(Violation::new(Pointer::root(), Rule::Type).limit("object"))
}

impl House {
    /// The walk of a plain call.
    pub async fn walk_plain(
        self: &Arc<Self>,
        mut to: ReplyTo,
        call: Result<PlainCall, Fault>,
        from: From<'_>,
        around: impl Into<PlainAround>,
    ) -> Option<Reply> {
        let From { caller, connection, request } = from;
        let PlainAround { cancel, trace } = around.into();
        let (began, trail) = (self.begin(), Trail::default());
        match &call {
            Ok(PlainCall::Execute { name, .. }) => {
                to.asked = Asked::Tool;
                trail.aim(name);
            }
            Ok(PlainCall::ReadResource(uri)) => trail.aim(uri),
            Ok(PlainCall::Approvals(call)) => call.target().into_iter().for_each(|id| trail.aim(id)),
            Ok(PlainCall::Own(call)) => call.target().into_iter().for_each(|target| trail.aim(target)),
            Ok(PlainCall::ListTools) | Err(_) => {}
        }
        let method = match &call {
            Ok(PlainCall::Execute { .. }) => Some("execute_tool"),
            Ok(PlainCall::ListTools) => Some("list_tools"),
            Ok(PlainCall::ReadResource(_)) => Some("read_resource"),
            Ok(PlainCall::Approvals(call)) => Some(call.method()),
            Ok(PlainCall::Own(call)) => Some(call.method()),
            Err(_) => None,
        };
        let server = call.as_ref().map_or_else(|_| String::new(), |call| self.server_of_plain(call));
        let happened = match call {
            Ok(call) => {
                let watched = Watched { trail: &trail, began, server: &server };
                let whose = Whose {
                    server: &server,
                    to: Some(&to),
                    connection,
                    caller: caller.name(),
                    method: method.unwrap_or_default(),
                    watched: Some(watched),
                    ..Whose::default()
                };
                let aim = self.porter.has_customs().then(|| self.aim(method, trail.target(), Some(caller)));
                let whose = aim.as_ref().map_or(whose, |aim| aim.of(whose));
                let around = PlainAround { cancel, trace: trace.clone() };
                self.serve_plain(call, caller, &to, whose, around).await
            }
            Err(fault) => Err(fault),
        };
        let (caller, server) = (Some(caller), self.server_found(server, &trail));
        let exchange =
            Exchange { to, happened, began, method, connection, server, caller, request, trail, trace };
        self.close(exchange).await
    }

    async fn serve_plain(
        self: &Arc<Self>,
        call: PlainCall,
        caller: &Caller,
        to: &ReplyTo,
        whose: Whose<'_>,
        around: PlainAround,
    ) -> Result<Outcome, Fault> {
        let _passage = self.admit(caller).await?;
        // Rare and large, so kept apart: what every request is made of stays small.
        let call = match call {
            PlainCall::Approvals(call) => return Box::pin(self.serve_approvals(call, caller, whose)).await,
            PlainCall::Own(call) => return Box::pin(self.serve_own(call, caller, whose)).await,
            of_the_room => of_the_room,
        };
        let cx = self.context_of_plain(caller, to, whose.server, around);
        match call {
            PlainCall::ListTools => {
                let page = self.room.list(List::Tools, None, cx.clone());
                Ok(Outcome::Value(self.supervise(page, &cx).await?.finished()?.members))
            }
            PlainCall::Execute { name, arguments } => {
                let arguments = Json::of(&arguments).or_fault(&reason::SERVER_BUG)?;
                let arguments = self.let_in_plain(whose, arguments.text()).await?.unwrap_or(arguments);
                let work = self.room.call(&name, arguments, cx.clone());
                let supervised = self.supervise(work, &cx).await;
                if let (Some(noted), Some(watched)) = (cx.noted(), whose.watched) {
                    noted.onto(watched);
                }
                plain_result(supervised?.finished()?)
            }
            PlainCall::ReadResource(uri) => {
                let clean = self.let_in_plain(whose, &failwell_rpc::json_string(&uri)).await?;
                let uri =
                    clean.and_then(|json| json.raw().as_str().map(|text| text.into_owned())).unwrap_or(uri);
                if self.settings.shelf.is_some() {
                    check_address(&uri)?;
                }
                let contents = self.supervise(self.room.read(&uri, cx.clone()), &cx).await?.finished()?;
                Ok(Outcome::Value(contents.members.to_json()))
            }
            PlainCall::Approvals(_) | PlainCall::Own(_) => Err(Fault::new(&reason::SERVER_BUG)),
        }
    }
}

impl House {
    /// What stands around a call of a client that can be told and asked nothing meanwhile.
    pub(crate) fn context_of_plain(
        self: &Arc<Self>,
        caller: &Caller,
        to: &ReplyTo,
        server: &str,
        around: PlainAround,
    ) -> Context {
        Context::new(Surroundings {
            client: Client::plain(caller.clone()),
            session: None,
            reference: to.reference,
            cancel: around.cancel,
            outlet: Arc::new(Stream::new(Keep::Nothing)),
            server: server.to_owned(),
            progress: None,
            log_level: None,
            asking: Asking::Nobody,
            recorder: Recorder(self.clone()),
            passing: Passing::default(),
            trace: around.trace,
        })
    }

    pub(crate) async fn let_in_plain(&self, whose: Whose<'_>, json: &str) -> Result<Option<Json>, Fault> {
        if !self.porter.has_customs() {
            return self.porter.incoming_now(whose, json);
        }
        let clean = Box::pin(self.porter.incoming(whose, json)).await?;
        if let Some(watched) = whose.watched {
            watched.trail.let_in(clean.as_ref().map(Json::text));
        }
        Ok(clean)
    }

    fn server_of_plain(&self, call: &PlainCall) -> String {
        match call {
            PlainCall::Execute { name: target, .. } | PlainCall::ReadResource(target) => {
                self.server_behind(target)
            }
            _ => String::new(),
        }
    }
}

/// The tool's structured result, or its content where it has none. A failure is what it is on MCP too.
fn plain_result(outcome: ToolOutcome) -> Result<Outcome, Fault> {
    // Content can be large, and is not needed beside a structured result.
    if let (Verdict::Done, Some(structured)) = (&outcome.verdict, &outcome.structured) {
        return Ok(Outcome::Value(structured.clone()));
    }
    Ok(match tool_result(outcome, Revision::LATEST)? {
        Outcome::Mcp { members, .. } => {
            let structured = members.get("structuredContent").map(Raw::to_json);
            Outcome::Value(structured.unwrap_or_else(|| members.to_json()))
        }
        failed => failed,
    })
}
