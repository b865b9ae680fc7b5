//! The checks before a message is parsed. The first failure is the response.

use std::pin::pin;

use bytes::Bytes;
use failwell_fault::{Fault, OrFault, Retry, reason};
use failwell_rpc::Caller;
use failwell_rpc::Revision;
use failwell_rpc::Role;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;

use super::drain::throw_away;
use super::request::RequestHead;
use super::routes::{Action, Needs, Route, RoutePlace, Takes};
use super::settings::HttpSettings;
use crate::within::within;

/// Checks method, host and origin, credentials and role, content type, accept.
pub(super) async fn authorize(head: &RequestHead<'_>, settings: &HttpSettings) -> Result<Caller, Fault> {
    let Some(route) = head.route else {
        check_host(head, settings)?;
        return Err(Fault::new(&reason::HTTP_UNKNOWN_PATH));
    };
    let action = check_method(head, route)?;
    check_host(head, settings)?;
    check_origin(head, settings)?;
    let Some(action) = action else { return Ok(Caller::anonymous()) };
    let caller = match action.needs {
        Needs::Nothing => Caller::anonymous(),
        Needs::Key => settings.lock.admit(head.key()).decide().await?,
        Needs::Role(role) => {
            let caller = settings.lock.admit(head.key()).decide().await?;
            check_role(role, &caller, head)?;
            caller
        }
    };
    check_content_type(head, action)?;
    if head.place == RoutePlace::Mcp {
        check_accept(head)?;
        check_version_header(head)?;
    }
    Ok(caller)
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
    let listed = settings.allowed_origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin));
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
    let is = |wanted: &str| head.content_type().is_some_and(|kind| kind.eq_ignore_ascii_case(wanted));
    match (head.place, action.takes) {
        (_, Takes::Nothing) => Ok(()),
        (_, Takes::Form(_)) if is("multipart/form-data") => Ok(()),
        (_, Takes::Form(_)) => Err(Fault::new(&reason::HTTP_FORM)),
        (_, Takes::Json(_) | Takes::AnyJson(_)) if is("application/json") => Ok(()),
        // `/rpc` has one error for all bodies that are not JSON, regardless of content type (S4 in
        // docs/sources.md).
        (RoutePlace::Rpc, _) => Err(Fault::new(&reason::RPC_NOT_JSON).fact("offset", 0u64)),
        _ => Err(Fault::new(&reason::HTTP_CONTENT_TYPE)),
    }
}

fn check_accept(head: &RequestHead<'_>) -> Result<(), Fault> {
    let events = head.takes("text/event-stream");
    let fits = match head.method.as_str() {
        "POST" => events && head.takes("application/json"),
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

/// Reads the whole body, within its maximum size and deadline.
pub async fn read_body(
    head: &RequestHead<'_>,
    mut body: Incoming,
    settings: &HttpSettings,
) -> Result<Bytes, Fault> {
    let limit = settings.largest_body;
    let too_large = |rest| {
        throw_away(rest, head, settings);
        let fault = Fault::new(&reason::HTTP_TOO_LARGE).fact("limit", limit).retry_as(Retry::AfterChange);
        match head.content_length() {
            Some(length) => fault.fact("size", length),
            None => fault,
        }
    };
    if head.content_length().is_some_and(|length| length > limit as u64) {
        return Err(too_large(body));
    }
    let seconds = settings.body_deadline.as_secs();
    let whole = Limited::new(&mut body, limit).collect();
    let collected = within(settings.body_deadline, pin!(whole)).await;
    let late = || Fault::new(&reason::HTTP_SLOW_BODY).fact("limit_s", seconds);
    match collected.ok_or_else(late)? {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(body)),
        Err(error) => {
            let cut = Err::<Bytes, _>(std::io::Error::other(error));
            cut.or_fault(&reason::RPC_NOT_JSON).map_err(|fault| fault.fact("offset", 0u64))
        }
    }
}
