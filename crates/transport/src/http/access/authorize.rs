//! The checks before a message is parsed. The first failure is the response.

use failwell_fault::{Fault, Pointer, Rule, Violation, reason};
use failwell_rpc::Caller;
use failwell_rpc::Revision;
use failwell_rpc::Role;
use http::header::CONTENT_ENCODING;

use super::authenticate::Authentication;
use crate::http::request::RequestHead;
use crate::http::routes::{AcceptedBody, Action, RequiredAccess, Route, RoutePlace};
use crate::http::settings::HttpSettings;

/// A request that a check refuses.
#[derive(Debug)]
pub(in crate::http) struct Rejection {
    pub(in crate::http) fault: Fault,
    /// The caller, if identified before.
    pub(in crate::http) caller: Option<Caller>,
}

impl From<Fault> for Rejection {
    fn from(fault: Fault) -> Rejection {
        Rejection { fault, caller: None }
    }
}

/// Checks host, method and origin, credentials and role, content type, accept.
pub(in crate::http) async fn authorize(
    head: &RequestHead<'_>,
    settings: &HttpSettings,
) -> Result<Caller, Rejection> {
    check_address(head, settings)?;
    let Some(route) = head.route else {
        return Err(Fault::new(&reason::HTTP_UNKNOWN_PATH).into());
    };
    let action = check_method(head, route)?;
    check_origin(head, settings)?;
    let Some(action) = action else { return Ok(Caller::anonymous()) };
    let caller = match action.access {
        RequiredAccess::Nothing => Caller::anonymous(),
        RequiredAccess::Key | RequiredAccess::Role(_) => authenticate(head, settings).await?,
    };
    match check_request(head, action, &caller) {
        Ok(()) => Ok(caller),
        Err(fault) => Err(Rejection { fault, caller: Some(caller) }),
    }
}

/// The checks of a request whose caller is identified.
fn check_request(head: &RequestHead<'_>, action: &Action, caller: &Caller) -> Result<(), Fault> {
    if let RequiredAccess::Role(role) = action.access {
        check_role(role, caller, head)?;
    }
    check_query(head, action)?;
    check_content_type(head, action)?;
    if head.place == RoutePlace::Mcp {
        check_accept(head)?;
        check_version_header(head)?;
    }
    Ok(())
}

/// Checks that the request names this server, and unambiguously.
pub(in crate::http) fn check_address(head: &RequestHead<'_>, settings: &HttpSettings) -> Result<(), Fault> {
    if let Some(header) = head.repeated() {
        return Err(Fault::new(&reason::HTTP_REPEATED_HEADER).fact("header", header));
    }
    check_host(head, settings)
}

/// Identifies the caller by its key or token.
pub(in crate::http) async fn authenticate(
    head: &RequestHead<'_>,
    settings: &HttpSettings,
) -> Result<Caller, Fault> {
    match settings.authenticator.admit(head.credential()?) {
        Authentication::Now(caller) => caller,
        Authentication::Pending(caller) => caller.await,
    }
}

/// Refuses a parameter that occurs twice: programs on the way may read different ones.
fn check_query(head: &RequestHead<'_>, action: &Action) -> Result<(), Fault> {
    if action.query.is_empty() || head.query.is_none() {
        return Ok(());
    }
    let given: Vec<String> = head.query_pairs().map(|(name, _)| name).collect();
    let count = |name: &str| given.iter().filter(|known| *known == name).count();
    let twice = action.query.iter().filter(|query| count(query.name) > 1);
    let wrong = twice.map(|query| Violation::new(Pointer::root().then(query.name), Rule::UniqueItems));
    let wrong: Vec<Violation> = wrong.collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(wrong.into_iter().fold(Fault::new(&reason::HTTP_QUERY), Fault::violation))
}

/// Finds the action of the method; `None` for `OPTIONS`, which lists the methods.
fn check_method(head: &RequestHead<'_>, route: &Route) -> Result<Option<&'static Action>, Fault> {
    let verb = head.method.as_str();
    let modern = head.claims_modern();
    let action = head.action().filter(|_| head.place != RoutePlace::Mcp || !modern || verb == "POST");
    if action.is_some() || route.is_asked_for_verbs(verb) {
        return Ok(action);
    }
    Err(Fault::new(&reason::HTTP_METHOD).fact("allow", route.allows(modern)))
}

/// Without authentication, a local caller has all roles, and a remote caller may only use tools.
fn check_role(role: Role, caller: &Caller, head: &RequestHead<'_>) -> Result<(), Fault> {
    let is_owner = *caller == Caller::anonymous() && head.peer.to_canonical().is_loopback();
    if is_owner || Role::highest(caller) >= role {
        return Ok(());
    }
    Err(Fault::new(&reason::POLICY_ROLE).fact("role", role.as_str()))
}

/// Accepts only names of this server. A foreign name indicates DNS rebinding.
fn check_host(head: &RequestHead<'_>, settings: &HttpSettings) -> Result<(), Fault> {
    let known = head.host().is_some_and(|host| is_our_host(host, settings));
    if known { Ok(()) } else { Err(Fault::new(&reason::HTTP_HOST)) }
}

fn check_origin(head: &RequestHead<'_>, settings: &HttpSettings) -> Result<(), Fault> {
    let Some(origin) = head.origin() else { return Ok(()) };
    let listed = settings.allows_origin(origin);
    let of_ours = origin
        .split_once("://")
        .is_some_and(|(scheme, host)| matches!(scheme, "http" | "https") && is_our_host(host, settings));
    if listed || of_ours { Ok(()) } else { Err(Fault::new(&reason::HTTP_ORIGIN)) }
}

fn is_our_host(host: &str, settings: &HttpSettings) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let loopback = ["localhost", "127.0.0.1", "[::1]"].iter().any(|ours| name.eq_ignore_ascii_case(ours));
    loopback || settings.allowed_hosts.iter().any(|allowed| name.eq_ignore_ascii_case(allowed))
}

fn check_content_type(head: &RequestHead<'_>, action: &Action) -> Result<(), Fault> {
    let is_encoded =
        head.get(CONTENT_ENCODING).is_some_and(|coding| !coding.eq_ignore_ascii_case("identity"));
    if is_encoded && !matches!(action.accepts, AcceptedBody::Nothing) {
        return Err(Fault::new(&reason::HTTP_CONTENT_ENCODING));
    }
    let is = |wanted: &str| head.content_type().is_some_and(|kind| kind.eq_ignore_ascii_case(wanted));
    match (head.place, action.accepts) {
        (_, AcceptedBody::Nothing) => Ok(()),
        (_, AcceptedBody::Form(_)) if is("multipart/form-data") => Ok(()),
        (_, AcceptedBody::Form(_)) => Err(Fault::new(&reason::HTTP_FORM)),
        (_, AcceptedBody::Json(_) | AcceptedBody::AnyJson(_)) if is("application/json") => Ok(()),
        // `/rpc` has one code for all bodies that are not JSON, regardless of content type (S4 in
        // docs/sources.md).
        (RoutePlace::Rpc, _) => Err(Fault::new(&reason::RPC_CONTENT_TYPE)),
        _ => Err(Fault::new(&reason::HTTP_CONTENT_TYPE)),
    }
}

fn check_accept(head: &RequestHead<'_>) -> Result<(), Fault> {
    let events = head.accepts("text/event-stream");
    let fits = match head.method.as_str() {
        "POST" => events && head.accepts("application/json"),
        "GET" => events,
        _ => true,
    };
    if fits { Ok(()) } else { Err(Fault::new(&reason::HTTP_ACCEPT)) }
}

/// In a session the header must name a known version. Without a session, the error for an unknown version
/// depends on the body, so a later stage checks it.
fn check_version_header(head: &RequestHead<'_>) -> Result<(), Fault> {
    let stated = head.get("mcp-protocol-version");
    if stated.is_none() || head.stated_revision().is_some() || head.session_id().is_none() {
        return Ok(());
    }
    let supported: Vec<&'static str> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
    Err(Fault::new(&reason::HTTP_BAD_VERSION_HEADER).fact("supported", supported))
}
