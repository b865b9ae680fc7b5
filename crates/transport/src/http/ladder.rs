//! The steps before a message is looked at. The first that fails answers.

use std::pin::pin;

use bytes::Bytes;
use failwell_fault::{Fault, OrFault, Retry, reason};
use failwell_policy::{Caller, Role};
use failwell_rpc::Revision;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;

use super::linger::throw_away;
use super::request::Head;
use super::routes::{Action, Needs, Place, Route, Takes};
use super::settings::HttpSettings;
use crate::within::within;

/// Method, host and origin, credentials and role, content type, accept.
pub(super) async fn climb(head: &Head<'_>, settings: &HttpSettings) -> Result<Caller, Fault> {
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
        Needs::Key => settings.lock.admit(head.key()).await?,
        Needs::Role(role) => {
            let caller = settings.lock.admit(head.key()).await?;
            check_role(role, &caller, head)?;
            caller
        }
    };
    check_content_type(head, action)?;
    if head.place == Place::Mcp {
        check_accept(head)?;
        check_version_header(head)?;
    }
    Ok(caller)
}

/// What is asked for; nothing but which verbs there are, for `OPTIONS`.
fn check_method(head: &Head<'_>, route: &Route) -> Result<Option<&'static Action>, Fault> {
    let verb = head.method.as_str();
    let modern = head.claims_modern();
    let action = head.action().filter(|_| head.place != Place::Mcp || !modern || verb == "POST");
    if action.is_some() || route.is_asked_for_verbs(verb) {
        return Ok(action);
    }
    Err(Fault::new(&reason::HTTP_METHOD).fact("allow", route.allows(modern)))
}

/// Where nobody has to present anything this machine is trusted with everything, and no other with more than tools.
fn check_role(role: Role, caller: &Caller, head: &Head<'_>) -> Result<(), Fault> {
    let is_owner = *caller == Caller::anonymous() && head.peer.to_canonical().is_loopback();
    if is_owner || Role::of(caller) >= role {
        return Ok(());
    }
    Err(Fault::new(&reason::POLICY_ROLE).fact("role", role.as_str()))
}

/// Only names that are ours: a foreign one means that somebody pointed their name at this machine.
fn check_host(head: &Head<'_>, settings: &HttpSettings) -> Result<(), Fault> {
    let known = head.host().is_some_and(|host| is_our_host(host, settings));
    if known { Ok(()) } else { Err(Fault::new(&reason::HTTP_HOST)) }
}

fn check_origin(head: &Head<'_>, settings: &HttpSettings) -> Result<(), Fault> {
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

fn check_content_type(head: &Head<'_>, action: &Action) -> Result<(), Fault> {
    let is = |wanted: &str| head.content_type().is_some_and(|kind| kind.eq_ignore_ascii_case(wanted));
    match (head.place, action.takes) {
        (_, Takes::Nothing) => Ok(()),
        (_, Takes::Form(_)) if is("multipart/form-data") => Ok(()),
        (_, Takes::Form(_)) => Err(Fault::new(&reason::HTTP_FORM)),
        (_, Takes::Json(_) | Takes::AnyJson(_)) if is("application/json") => Ok(()),
        // Seed 004: plain JSON-RPC knows one answer for bytes that are not JSON, whatever they are called.
        (Place::Rpc, _) => Err(Fault::new(&reason::RPC_NOT_JSON).fact("offset", 0u64)),
        _ => Err(Fault::new(&reason::HTTP_CONTENT_TYPE)),
    }
}

fn check_accept(head: &Head<'_>) -> Result<(), Fault> {
    let events = head.takes("text/event-stream");
    let fits = match head.method.as_str() {
        "POST" => events && head.takes("application/json"),
        "GET" => events,
        _ => true,
    };
    if fits { Ok(()) } else { Err(Fault::new(&reason::HTTP_ACCEPT)) }
}

/// In a session the header must name a version that exists. What the modern era has to say about a version
/// nobody speaks depends on the body, so a header with a session-less body is judged later.
fn check_version_header(head: &Head<'_>) -> Result<(), Fault> {
    let stated = head.get("mcp-protocol-version");
    if stated.is_none() || head.stated_revision().is_some() || head.session_id().is_none() {
        return Ok(());
    }
    let supported: Vec<&'static str> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
    Err(Fault::new(&reason::HTTP_BAD_VERSION_HEADER).fact("supported", supported))
}

/// The whole body, within its cap and its deadline.
pub(super) async fn read_body(
    head: &Head<'_>,
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
