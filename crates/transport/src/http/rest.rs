//! `/v1` beyond tools: who somebody is, sessions, keys, and what happened lately. What a path takes and what it answers
//! is in the table; here it becomes a call.

use std::sync::Arc;

use failwell_fault::{Fault, Pointer, Rule, Violation, reason};
use failwell_policy::{Caller, Role};
use failwell_render::Reply;
use failwell_rpc::{Json, ReplyTo};
use failwell_server::{OwnCall, PlainCall, PlainFrom, SessionTerms, Wanted, WantedKey};
use http::header::{HeaderValue, LOCATION};
use http::{Method, Response, StatusCode};
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::body::{Body, empty, rendered, whole};
use super::events;
use super::ladder::read_body;
use super::persist::Persist;
use super::plain::{read_shaped, read_value};
use super::request::Head;
use super::router::{Door, last};
use super::routes::{Place, Takes};

/// Answers one of them.
pub(super) async fn answer(
    door: &Arc<Door>,
    head: &Head<'_>,
    body: Incoming,
    caller: Caller,
) -> Response<Body> {
    let takes_body = head.action().is_some_and(|action| !matches!(action.takes, Takes::Nothing));
    let bytes = match takes_body {
        false => bytes::Bytes::new(),
        true => match read_body(head, body, &door.settings).await {
            Ok(bytes) => bytes,
            Err(fault) => return last(door.refuse(fault, head).await),
        },
    };
    let call = read(door, head, &bytes, &caller);
    let listens = matches!(call, Ok(OwnCall::Listen));
    let (to, cancel) = (ReplyTo::misread(None, head.face()), CancellationToken::new());
    let (owner, on, called_off) = (door.clone(), head.connection.clone(), cancel.clone());
    // Seen to its end and written down, even if the caller is gone by then.
    let work = async move {
        let said = std::str::from_utf8(&bytes).ok().filter(|said| !said.is_empty());
        let from = PlainFrom { caller: &caller, connection: &on, request: said };
        owner.house.walk_plain(to, call.map(PlainCall::Own), from, called_off).await
    };
    match Persist::new(work, Some(cancel)).await {
        Some(reply) if reply.status != 200 => rendered(reply),
        Some(_) if listens && *head.method == Method::HEAD => whole(200, "text/event-stream", ""),
        Some(_) if listens => match events::response(&door.house, head.get("last-event-id")) {
            Ok(response) => response,
            Err(fault) => door.refuse(fault, head).await,
        },
        Some(reply) => finished(reply, head),
        None => door.reply(None),
    }
}

/// What goes well, with the status the table promises.
fn finished(reply: Reply, head: &Head<'_>) -> Response<Body> {
    let status = head.action().and_then(|action| action.gives.first()).map_or(200, |gives| gives.status);
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    if status == StatusCode::NO_CONTENT {
        return empty(status);
    }
    let place = (status == StatusCode::CREATED).then(|| location(head, &reply.body)).flatten();
    let mut response = rendered(reply);
    *response.status_mut() = status;
    if let Some(place) = place {
        response.headers_mut().insert(LOCATION, place);
    }
    response
}

/// Where what was made is found from now on.
fn location(head: &Head<'_>, body: &[u8]) -> Option<HeaderValue> {
    let made: Value = serde_json::from_slice(body).ok()?;
    HeaderValue::from_str(&format!("{}/{}", head.path, made.get("id")?.as_str()?)).ok()
}

/// The call a request makes.
fn read(door: &Door, head: &Head<'_>, bytes: &[u8], caller: &Caller) -> Result<OwnCall, Fault> {
    let id = || head.part("id");
    Ok(match (head.place, head.method.as_str()) {
        (Place::Me, _) => OwnCall::Me(role(caller, head)),
        (Place::Sessions, "POST") => OwnCall::OpenSession(terms(head, bytes)?),
        (Place::Sessions, _) => OwnCall::ListSessions,
        (Place::Session, "PUT") => OwnCall::RenewSession { id: id(), terms: terms(head, bytes)? },
        (Place::Session, "DELETE") => OwnCall::EndSession(id()),
        (Place::Session, _) => OwnCall::ShowSession(id()),
        (Place::Heartbeat, _) => OwnCall::Heartbeat(id()),
        (Place::ContextItem, "PUT") => {
            read_shaped(head, bytes)?;
            let body = read_value(bytes)?;
            let value = body.raw().as_object().and_then(|object| object.get("value"));
            let value = value.map_or_else(|| Json::of(&Value::Null).ok(), |raw| Some(raw.to_json()));
            let value = value.ok_or_else(|| Fault::new(&reason::SERVER_BUG))?;
            OwnCall::PutItem { id: id(), key: context_key(head)?, value }
        }
        (Place::ContextItem, _) => OwnCall::ReadItem { id: id(), key: context_key(head)? },
        (Place::Keys, "POST") => OwnCall::MakeKey(wanted_key(door, head, bytes)?),
        (Place::Keys, _) => OwnCall::ListKeys,
        (Place::Key, _) => OwnCall::RevokeKey(id()),
        (Place::Operations, _) => operations(head)?,
        (Place::Events, _) => OwnCall::Listen,
        _ => return Err(Fault::new(&reason::HTTP_UNKNOWN_PATH)),
    })
}

/// As what a caller counts: where nobody has to present anything, this machine is its owner's.
fn role(caller: &Caller, head: &Head<'_>) -> Role {
    match *caller == Caller::anonymous() && head.peer.to_canonical().is_loopback() {
        true => Role::Admin,
        false => Role::of(caller),
    }
}

/// A body that has the shape of what it is.
fn shaped<T: DeserializeOwned>(head: &Head<'_>, bytes: &[u8]) -> Result<T, Fault> {
    let mut value = read_shaped(head, bytes)?;
    // To JSON Schema 60.0 is an integer.
    for number in value.as_object_mut().into_iter().flat_map(|members| members.values_mut()) {
        if let Some(whole) = number.as_f64().filter(|whole| whole.fract() == 0.0 && number.as_u64().is_none())
        {
            *number = Value::from(whole as u64);
        }
    }
    serde_json::from_value(value).map_err(|error| Fault::new(&reason::SERVER_BUG).because(error))
}

/// An empty body says nothing about a session.
fn terms(head: &Head<'_>, bytes: &[u8]) -> Result<SessionTerms, Fault> {
    if bytes.iter().all(u8::is_ascii_whitespace) { Ok(SessionTerms::default()) } else { shaped(head, bytes) }
}

/// The longest key of a context, in bytes.
const LONGEST_KEY: usize = 128;

fn context_key(head: &Head<'_>) -> Result<String, Fault> {
    let key = head.part("key");
    if key.len() <= LONGEST_KEY {
        return Ok(key);
    }
    let long = Violation::new(Pointer::root().then("key"), Rule::MaxLength).limit(LONGEST_KEY);
    Err(Fault::new(&reason::HTTP_INVALID).violation(long))
}

fn wanted_key(door: &Door, head: &Head<'_>, bytes: &[u8]) -> Result<WantedKey, Fault> {
    let wanted: WantedKey = shaped(head, bytes)?;
    let lock = &door.settings.lock;
    if lock.is_open() {
        return Err(Fault::new(&reason::POLICY_KEYS_OFF));
    }
    // A caller is known by the name of its key, wherever the key is from.
    if lock.knows(&Caller::keyholder(&wanted.name)) {
        return Err(Fault::new(&reason::POLICY_KEY_TAKEN));
    }
    Ok(wanted)
}

/// `?limit=…&failed=…`, with all that is wrong with it. Names nobody knows are ignored, as browsers and proxies add some.
fn operations(head: &Head<'_>) -> Result<OwnCall, Fault> {
    let (mut limit, mut wanted, mut wrong) = (100, Wanted::All, Vec::new());
    let at = |name: &str| Pointer::root().then(name);
    for pair in head.query.unwrap_or_default().split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match name {
            "limit" => match value.parse::<usize>() {
                Ok(number) if (1..=1000).contains(&number) => limit = number,
                Ok(0) => wrong.push(Violation::new(at(name), Rule::Minimum).limit(1u64)),
                Ok(_) => wrong.push(Violation::new(at(name), Rule::Maximum).limit(1000u64)),
                Err(_) => wrong.push(Violation::new(at(name), Rule::Type).limit("integer")),
            },
            "failed" => match value {
                "true" => wanted = Wanted::Failed,
                "false" => wanted = Wanted::All,
                _ => wrong.push(Violation::new(at(name), Rule::Choice).limit(vec!["true", "false"])),
            },
            _ => {}
        }
    }
    if wrong.is_empty() {
        return Ok(OwnCall::Operations { limit, wanted });
    }
    Err(wrong.into_iter().fold(Fault::new(&reason::HTTP_QUERY), Fault::violation))
}
