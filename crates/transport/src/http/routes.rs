//! All paths, in one table that the router and `/openapi.json` share. Therefore every served path is
//! described, and every described path is served. (The page for browsers at `/` is none: to programs it does not exist.)
//!
//! A row states the path, its methods, the required role, the request body, the success responses and the
//! possible failures. Failures are named by their reasons; the renderer maps them to statuses.

mod matching;
mod shape;
pub mod shapes;
pub(super) mod table;

use std::pin::Pin;
use std::sync::Arc;

use failwell_fault::{Fault, Reason, reason};
use failwell_pipeline::Call;
use failwell_rpc::Caller;
use failwell_rpc::Role;
use http::Response;
use hyper::body::Incoming;
use serde_json::Value;

pub use matching::decoded;
pub use shape::Shape;

use super::body::Body;
use super::request::RequestHead;
use super::router::Mount;

/// The path of the protected resource metadata (RFC 9728), which tells clients how to get a token.
pub const METADATA: &str = "/.well-known/oauth-protected-resource";

/// The paths of a server: its own, and those that other crates add.
#[derive(Clone, Copy)]
pub struct RouteTable {
    added: &'static [Route],
}

/// The kind of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutePlace {
    Mcp,
    Rpc,
    Tools,
    Tool,
    /// Protected resource metadata (RFC 9728).
    Metadata,
    Other,
    /// The path does not exist.
    Nowhere,
}

/// A path and its actions.
pub struct Route {
    pub place: RoutePlace,
    /// `{name}` matches one path segment, `{name*}` matches several.
    pub path: &'static str,
    pub actions: &'static [Action],
}

/// One method of a path.
pub struct Action {
    pub verb: &'static str,
    /// The operation id for generated clients.
    pub id: &'static str,
    pub summary: &'static str,
    pub access: RequiredAccess,
    /// The query parameters.
    pub query: &'static [Query],
    pub accepts: AcceptedBody,
    /// The success responses. The first is the usual one.
    pub responses: &'static [SuccessResponse],
    /// Possible failures, in addition to those of all actions of this kind.
    pub fails: &'static [&'static Reason],
    /// The format of failures.
    pub failure_format: FailureFormat,
    pub handler: Handler,
}

#[derive(Clone, Copy)]
pub enum Handler {
    McpMessage,
    /// The event stream of an MCP session.
    McpListen,
    McpEnd,
    /// A plain JSON-RPC message, or a batch.
    Rpc,
    /// A call of the pipeline.
    Call(ReadCall),
    /// A handler of another crate.
    Custom(CustomHandler),
    /// A page that needs no call.
    Page(fn(&Mount, &Caller) -> Response<Body>),
    OpenApi,
    /// RFC 9728.
    TokenMetadata,
    /// A row without a handler: a mistake that a test detects.
    Missing,
}

/// Answers a request whose caller is known, and whose body was not read.
pub type CustomHandler = for<'a> fn(
    &'a Arc<Mount>,
    &'a RequestHead<'a>,
    Incoming,
    Caller,
) -> Pin<Box<dyn Future<Output = Response<Body>> + Send + 'a>>;

/// Parses the call of a REST request.
pub type ReadCall = fn(&RestInput<'_>) -> Result<Call<'static>, Fault>;

/// A REST request with an identified caller and a complete body.
pub struct RestInput<'a> {
    pub mount: &'a Mount,
    pub head: &'a RequestHead<'a>,
    pub body: &'a [u8],
    pub caller: &'a Caller,
}

/// The required authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredAccess {
    Nothing,
    /// Valid credentials.
    Key,
    /// Valid credentials, and a role.
    Role(Role),
}

#[derive(Clone, Copy)]
pub enum AcceptedBody {
    Nothing,
    /// JSON with this schema.
    Json(&'static Shape),
    /// JSON that a later stage validates.
    AnyJson(fn() -> Value),
    /// A form with a file, with this schema.
    Form(fn() -> Value),
}

#[derive(Clone, Copy)]
pub struct SuccessResponse {
    pub status: u16,
    pub about: &'static str,
    /// The media type of the body; empty for none.
    pub kind: &'static str,
    pub schema: fn() -> Value,
}

/// The format of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureFormat {
    /// `{error_code, message, detail}` or problem details.
    Rest,
    /// Plain JSON-RPC, always with status 200.
    Rpc,
    Mcp,
}

/// One query parameter.
pub struct Query {
    pub name: &'static str,
    pub about: &'static str,
    pub schema: fn() -> Value,
}

impl Action {
    /// All failures of the action: those of its kind, and its own.
    pub fn failures(&self) -> Vec<&'static Reason> {
        let mut all: Vec<&'static Reason> =
            vec![&reason::HTTP_HOST, &reason::HTTP_ORIGIN, &reason::SERVER_PANIC];
        all.push(&reason::HTTP_REPEATED_HEADER);
        if self.access != RequiredAccess::Nothing {
            all.extend([&reason::POLICY_UNAUTHENTICATED, &reason::POLICY_BAD_CREDENTIALS]);
            all.extend([&reason::POLICY_KEYS_AWAY, &reason::HTTP_TWO_CREDENTIALS]);
            all.extend([&reason::POLICY_RATE_LIMITED, &reason::SERVER_SHUTDOWN, &reason::AUDIT_FAILED]);
        }
        if matches!(self.access, RequiredAccess::Role(_)) {
            all.push(&reason::POLICY_ROLE);
        }
        if !self.query.is_empty() {
            all.push(&reason::HTTP_QUERY);
        }
        if !matches!(self.accepts, AcceptedBody::Nothing) {
            all.extend([&reason::HTTP_CONTENT_TYPE, &reason::HTTP_TOO_LARGE, &reason::HTTP_SLOW_BODY]);
            all.extend([&reason::HTTP_CONTENT_ENCODING, &reason::HTTP_BAD_BODY]);
        }
        if matches!(self.accepts, AcceptedBody::Json(_) | AcceptedBody::AnyJson(_)) {
            all.extend([&reason::RPC_NOT_JSON, &reason::RPC_DUPLICATE_KEY]);
        }
        if matches!(self.accepts, AcceptedBody::Json(_)) {
            all.push(&reason::HTTP_INVALID);
        }
        all.extend(self.fails);
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Handler, RequiredAccess, Route, RoutePlace, RouteTable};

    const TABLE: RouteTable = RouteTable::with(&[]);

    fn find(path: &str) -> Option<&'static Route> {
        TABLE.find(path)
    }

    #[test]
    fn paths_lead_where_they_should() {
        for (path, place) in [
            ("/mcp", Some(RoutePlace::Mcp)),
            ("/mcp/", Some(RoutePlace::Mcp)),
            ("/mcp/a", Some(RoutePlace::Mcp)),
            ("/mcp/a/b", None),
            ("/rpc", Some(RoutePlace::Rpc)),
            ("/rpc/", None),
            ("/v1/tools", Some(RoutePlace::Tools)),
            ("/v1/tools/", None),
            ("/v1/tools/a", Some(RoutePlace::Tool)),
            ("/v1/tools/a/b", Some(RoutePlace::Tool)),
            ("/.well-known/oauth-protected-resource", Some(RoutePlace::Metadata)),
            ("/.well-known/oauth-protected-resource/mcp", Some(RoutePlace::Metadata)),
            ("/.well-known/oauth-protected-resource/healthz", None),
            ("/.well-known/oauth-protected-resourcemcp", None),
            ("/", None),
            ("", None),
        ] {
            assert_eq!(find(path).map(|route| route.place), place, "{path}");
        }
    }

    #[test]
    fn the_table_is_sound() {
        let mut ids = BTreeSet::new();
        let mut paths = BTreeSet::new();
        for route in TABLE.iter() {
            assert!(paths.insert(route.path), "{} twice", route.path);
            let mut verbs = BTreeSet::new();
            for action in route.actions {
                assert!(verbs.insert(action.verb), "{} {} twice", action.verb, route.path);
                assert!(ids.insert(action.id), "{} twice", action.id);
                assert!(!matches!(action.handler, Handler::Missing), "{} has no handler", action.id);
                assert!(!action.responses.is_empty() && !action.summary.ends_with('.'), "{}", action.id);
                let about = (route.path, action.verb, action.access);
                assert!(action.access != RequiredAccess::Nothing || action.verb == "GET", "{about:?}");
            }
        }
    }

    #[test]
    fn head_is_allowed_wherever_get_is() {
        let tools = find("/v1/tools").expect("a route");
        assert_eq!(tools.allows(false), ["GET", "HEAD", "OPTIONS"]);
        assert!(
            tools.action("HEAD").is_some_and(|action| action.verb == "GET") && tools.action("PUT").is_none()
        );
        let mcp = find("/mcp").expect("a route");
        assert_eq!((mcp.allows(true), mcp.allows(false)), (vec!["POST"], vec!["POST", "GET", "DELETE"]));
        assert!(mcp.action("HEAD").is_none() && !mcp.is_asked_for_verbs("OPTIONS"));
    }
}
