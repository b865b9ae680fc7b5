//! Every path of the program, in one table that the router and `/openapi.json` share: what is served is described, and
//! what is described is served.
//!
//! The table says how a path looks, which verbs it knows, who may use each, what it takes, what it gives when all goes
//! well and how it fails. Failures are named by their reasons; their statuses are the renderer's.

mod kept;
mod shape;
mod shapes;
mod table;
mod template;

use failwell_fault::{Reason, reason};
use failwell_policy::Role;
use serde_json::Value;

pub(super) use shape::Shape;
pub(super) use table::ROUTES;
pub(super) use template::decoded;

use super::lock::METADATA;

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Mcp,
    Rpc,
    Tools,
    Tool,
    /// Calls that need a person's yes.
    Approvals,
    /// One of them.
    Approval,
    /// Who somebody is.
    Me,
    /// Sessions of the REST face.
    Sessions,
    /// One of them.
    Session,
    Heartbeat,
    /// What a session keeps under a key.
    ContextItem,
    /// Keys that were made.
    Keys,
    /// One of them.
    Key,
    /// What happened lately.
    Operations,
    /// What happens now.
    Events,
    /// What is kept.
    Resources,
    /// One resource, kept here or of a server.
    Resource,
    /// What belongs to one that is kept.
    ResourceMetadata,
    OpenApi,
    Health,
    Ready,
    Metrics,
    /// How to get a token.
    Metadata,
    Nowhere,
}

/// One path, and what may be done there.
pub(super) struct Route {
    pub(super) place: Place,
    /// `{name}` stands for one piece of the path, `{name*}` for as many as there are.
    pub(super) path: &'static str,
    pub(super) actions: &'static [Action],
}

/// One verb at one path.
pub(super) struct Action {
    pub(super) verb: &'static str,
    /// What it is called by those who generate clients.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) needs: Needs,
    /// What may stand behind the `?`.
    pub(super) query: &'static [Query],
    pub(super) takes: Takes,
    /// What is answered when all goes well. The first is the usual one.
    pub(super) gives: &'static [Gives],
    /// How it can fail, beyond what its kind of action can.
    pub(super) fails: &'static [&'static Reason],
    /// Whether failures come in the body of a JSON-RPC answer.
    pub(super) speaks: Speaks,
}

/// What a caller must bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing: everybody may look.
    Nothing,
    /// What opens the door.
    Key,
    /// That, and a role.
    Role(Role),
}

/// What stands in the body of a request.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    Nothing,
    /// JSON of this shape.
    Json(&'static Shape),
    /// JSON that somebody else looks through.
    AnyJson(fn() -> Value),
    /// Parts of a form, a file among them, with this schema.
    Form(fn() -> Value),
}

/// What is answered.
#[derive(Clone, Copy)]
pub(super) struct Gives {
    pub(super) status: u16,
    pub(super) about: &'static str,
    /// The type of the body; empty for none.
    pub(super) kind: &'static str,
    pub(super) schema: fn() -> Value,
}

/// How failures are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaks {
    /// `{error_code, message, detail}` or problem details.
    Rest,
    /// Plain JSON-RPC, always with status 200.
    Rpc,
    /// MCP.
    Mcp,
}

/// One parameter behind the `?`.
pub(super) struct Query {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) schema: fn() -> Value,
}

/// The route of a path.
pub(super) fn find(path: &str) -> Option<&'static Route> {
    let found = ROUTES.iter().find(|route| route.leads(path))?;
    // There is something to know about getting a token for what is served, and for nothing else.
    let of_nothing = || path.strip_prefix(METADATA).is_some_and(|of| !of.is_empty() && !takes_tokens(of));
    if found.place == Place::Metadata && of_nothing() { None } else { Some(found) }
}

fn takes_tokens(path: &str) -> bool {
    find(path)
        .is_some_and(|route| matches!(route.place, Place::Mcp | Place::Rpc | Place::Tools | Place::Tool))
}

impl Route {
    fn leads(&self, path: &str) -> bool {
        template::fits(self.path, path) || self.place == Place::Mcp && path == "/mcp/"
    }

    /// What stands in a path in the place of a name, decoded.
    pub(super) fn part(&self, path: &str, name: &str) -> String {
        template::part(self.path, path, name).map(template::decoded).unwrap_or_default()
    }

    /// What a verb means here. Whoever may get something may also ask for its head.
    pub(super) fn action(&self, verb: &str) -> Option<&'static Action> {
        let verb = if verb == "HEAD" && self.place != Place::Mcp { "GET" } else { verb };
        self.actions.iter().find(|action| action.verb == verb)
    }

    /// Whether a verb asks what may be done here.
    pub(super) fn is_asked_for_verbs(&self, verb: &str) -> bool {
        verb == "OPTIONS" && self.place != Place::Mcp
    }

    /// The verbs of the path. In the modern era of MCP there is no session to listen to or to end.
    pub(super) fn allows(&self, modern: bool) -> Vec<&'static str> {
        if self.place == Place::Mcp {
            return if modern {
                vec!["POST"]
            } else {
                self.actions.iter().map(|action| action.verb).collect()
            };
        }
        let with_head = |action: &Action| match action.verb {
            "GET" => vec!["GET", "HEAD"],
            verb => vec![verb],
        };
        self.actions.iter().flat_map(with_head).chain(["OPTIONS"]).collect()
    }

    /// The names in the path.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        template::names(self.path)
    }
}

impl Action {
    /// Every way it can fail: what its kind of action can, and its own.
    pub(super) fn failures(&self) -> Vec<&'static Reason> {
        let mut all: Vec<&'static Reason> =
            vec![&reason::HTTP_HOST, &reason::HTTP_ORIGIN, &reason::SERVER_PANIC];
        if self.needs != Needs::Nothing {
            all.extend([&reason::POLICY_UNAUTHENTICATED, &reason::POLICY_BAD_CREDENTIALS]);
            all.push(&reason::POLICY_KEYS_AWAY);
            all.extend([&reason::POLICY_RATE_LIMITED, &reason::SERVER_SHUTDOWN, &reason::AUDIT_FAILED]);
        }
        if matches!(self.needs, Needs::Role(_)) {
            all.push(&reason::POLICY_ROLE);
        }
        if !self.query.is_empty() {
            all.push(&reason::HTTP_QUERY);
        }
        if !matches!(self.takes, Takes::Nothing) {
            all.extend([&reason::HTTP_CONTENT_TYPE, &reason::HTTP_TOO_LARGE, &reason::HTTP_SLOW_BODY]);
        }
        if matches!(self.takes, Takes::Json(_) | Takes::AnyJson(_)) {
            all.extend([&reason::RPC_NOT_JSON, &reason::RPC_DUPLICATE_KEY]);
        }
        if matches!(self.takes, Takes::Json(_)) {
            all.push(&reason::HTTP_INVALID);
        }
        all.extend(self.fails);
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Needs, Place, ROUTES, find};

    #[test]
    fn paths_lead_where_they_should() {
        for (path, place) in [
            ("/mcp", Some(Place::Mcp)),
            ("/mcp/", Some(Place::Mcp)),
            ("/mcp/a", Some(Place::Mcp)),
            ("/mcp/a/b", None),
            ("/rpc", Some(Place::Rpc)),
            ("/rpc/", None),
            ("/v1/tools", Some(Place::Tools)),
            ("/v1/tools/", None),
            ("/v1/tools/a", Some(Place::Tool)),
            ("/v1/tools/a/b", Some(Place::Tool)),
            ("/v1/approvals/x", Some(Place::Approval)),
            ("/.well-known/oauth-protected-resource", Some(Place::Metadata)),
            ("/.well-known/oauth-protected-resource/mcp", Some(Place::Metadata)),
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
        for route in ROUTES {
            assert!(paths.insert(route.path), "{} twice", route.path);
            let mut verbs = BTreeSet::new();
            for action in route.actions {
                assert!(verbs.insert(action.verb), "{} {} twice", action.verb, route.path);
                assert!(ids.insert(action.id), "{} twice", action.id);
                assert!(!action.gives.is_empty() && !action.summary.ends_with('.'), "{}", action.id);
                let about = (route.path, action.verb, action.needs);
                assert!(action.needs != Needs::Nothing || action.verb == "GET", "{about:?}");
            }
        }
    }

    #[test]
    fn whoever_may_get_may_ask_for_the_head() {
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
