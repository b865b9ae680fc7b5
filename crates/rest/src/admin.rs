//! `/v1` endpoints about the server itself: the caller, its sessions, keys and recent operations.

use failwell_controls::{AdminCall, OperationFilter, SessionTerms};
use failwell_fault::{Fault, Pointer, Rule, Violation, reason};
use failwell_pipeline::Call;
use failwell_rpc::Caller;
use failwell_rpc::Json;
use failwell_rpc::Role;
use failwell_store::{ApiKey, KeyRequest};
use serde::de::DeserializeOwned;
use serde_json::Value;

use failwell_transport::paths::{RequestHead, RestInput, read_shaped, read_value};

use crate::services;

type CallResult = Result<Call<'static>, Fault>;

pub(crate) fn me(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(AdminCall::Me(role(input.caller, input.head))))
}

pub(crate) fn open_session(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(AdminCall::OpenSession(terms(input.head, input.body)?)))
}

pub(crate) fn list_sessions(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(AdminCall::ListSessions))
}

pub(crate) fn show_session(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(AdminCall::ShowSession(id(input))))
}

pub(crate) fn renew_session(input: &RestInput<'_>) -> CallResult {
    let terms = terms(input.head, input.body)?;
    Ok(services(input.mount)?.admin(AdminCall::RenewSession { id: id(input), terms }))
}

pub(crate) fn end_session(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(AdminCall::EndSession(id(input))))
}

pub(crate) fn heartbeat(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(AdminCall::Heartbeat(id(input))))
}

pub(crate) fn read_item(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(AdminCall::ReadItem { id: id(input), key: context_key(input.head)? }))
}

pub(crate) fn put_item(input: &RestInput<'_>) -> CallResult {
    read_shaped(input.head, input.body)?;
    let body = read_value(input.body)?;
    let value = body.raw().as_object().and_then(|object| object.get("value"));
    let value = value.map_or_else(|| Json::of(&Value::Null).ok(), |raw| Some(raw.to_json()));
    let value = value.ok_or_else(|| Fault::new(&reason::SERVER_BUG))?;
    Ok(services(input.mount)?.admin(AdminCall::PutItem {
        id: id(input),
        key: context_key(input.head)?,
        value,
    }))
}

pub(crate) fn make_key(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(AdminCall::MakeKey(wanted_key(input)?)))
}

pub(crate) fn list_keys(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(AdminCall::ListKeys))
}

pub(crate) fn revoke_key(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(AdminCall::RevokeKey(id(input))))
}

pub(crate) fn servers(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(AdminCall::Servers))
}

pub(crate) fn operations(input: &RestInput<'_>) -> CallResult {
    Ok(services(input.mount)?.admin(wanted_operations(input.head)?))
}

fn id(input: &RestInput<'_>) -> String {
    input.head.part("id")
}

/// The caller's role. Without authentication, a local caller is an admin.
fn role(caller: &Caller, head: &RequestHead<'_>) -> Role {
    match *caller == Caller::anonymous() && head.peer.to_canonical().is_loopback() {
        true => Role::Admin,
        false => Role::highest(caller),
    }
}

/// Reads a body with a known type.
fn shaped<T: DeserializeOwned>(head: &RequestHead<'_>, bytes: &[u8]) -> Result<T, Fault> {
    let mut value = read_shaped(head, bytes)?;
    // In JSON Schema, 60.0 is an integer.
    for number in value.as_object_mut().into_iter().flat_map(|members| members.values_mut()) {
        if let Some(whole) = number.as_f64().filter(|whole| whole.fract() == 0.0 && number.as_u64().is_none())
        {
            *number = Value::from(whole as u64);
        }
    }
    serde_json::from_value(value).map_err(|error| Fault::new(&reason::SERVER_BUG).because(error))
}

/// An empty body selects the defaults of a session.
fn terms(head: &RequestHead<'_>, bytes: &[u8]) -> Result<SessionTerms, Fault> {
    if bytes.iter().all(u8::is_ascii_whitespace) { Ok(SessionTerms::default()) } else { shaped(head, bytes) }
}

/// Maximum length of a context key in bytes.
const LONGEST_KEY: usize = 128;

fn context_key(head: &RequestHead<'_>) -> Result<String, Fault> {
    let key = head.part("key");
    if key.len() <= LONGEST_KEY {
        return Ok(key);
    }
    let long = Violation::new(Pointer::root().then("key"), Rule::MaxLength).limit(LONGEST_KEY);
    Err(Fault::new(&reason::HTTP_INVALID).violation(long))
}

fn wanted_key(input: &RestInput<'_>) -> Result<KeyRequest, Fault> {
    let wanted: KeyRequest = shaped(input.head, input.body)?;
    let authenticator = &input.mount.settings.authenticator;
    if authenticator.is_open() {
        return Err(Fault::new(&reason::POLICY_KEYS_OFF));
    }
    // The key name identifies the caller, so it must differ from the keys of the configuration and of the
    // environment, which may be set at the next start.
    if wanted.name == ApiKey::ENVIRONMENT || authenticator.knows(&Caller::keyholder(&wanted.name)) {
        return Err(Fault::new(&reason::POLICY_KEY_TAKEN));
    }
    Ok(wanted)
}

/// Reads `?limit=…&failed=…` and reports all violations. Unknown parameters are ignored, because browsers and
/// proxies add some.
fn wanted_operations(head: &RequestHead<'_>) -> Result<AdminCall, Fault> {
    let (mut limit, mut wanted, mut wrong) = (100, OperationFilter::All, Vec::new());
    let at = |name: &str| Pointer::root().then(name);
    for (name, value) in head.query_pairs() {
        let name = name.as_str();
        match name {
            "limit" => match value.parse::<usize>() {
                Ok(number) if (1..=1000).contains(&number) => limit = number,
                Ok(0) => wrong.push(Violation::new(at(name), Rule::Minimum).limit(1u64)),
                Ok(_) => wrong.push(Violation::new(at(name), Rule::Maximum).limit(1000u64)),
                Err(_) => wrong.push(Violation::new(at(name), Rule::Type).limit("integer")),
            },
            "failed" => match value.as_str() {
                "true" => wanted = OperationFilter::Failed,
                "false" => wanted = OperationFilter::All,
                _ => wrong.push(Violation::new(at(name), Rule::Choice).limit(vec!["true", "false"])),
            },
            _ => {}
        }
    }
    if wrong.is_empty() {
        return Ok(AdminCall::Operations { limit, wanted });
    }
    Err(wrong.into_iter().fold(Fault::new(&reason::HTTP_QUERY), Fault::violation))
}
