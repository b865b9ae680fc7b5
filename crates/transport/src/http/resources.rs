//! `/v1/resources`: what is kept, and what the servers have, by URI.

use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Echo, Fault, Pointer, Rule, Violation, reason};
use failwell_policy::Caller;
use failwell_rpc::ReplyTo;
use failwell_server::{PlainFrom, ResourceCall};
use failwell_shelf::{Kind, SCHEME, Wanted};
use http::{Response, StatusCode};
use hyper::body::Incoming;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::body::{Body, empty, rendered};
use super::giving::{Given, give};
use super::ladder::read_body;
use super::persist::Persist;
use super::plain::{around, read_shaped};
use super::request::Head;
use super::router::{Door, last};
use super::routes::{Place, decoded};
use super::upload;

/// The most bytes of a URI.
const LONGEST: usize = 2_048;

/// Answers one request about resources.
pub(super) async fn answer(
    door: &Arc<Door>,
    head: &Head<'_>,
    body: Incoming,
    caller: Caller,
) -> Response<Body> {
    let (mut given, mut said) = (Given::default(), Bytes::new());
    let call = match (head.place, head.method.as_str()) {
        (Place::Resources, "POST") => upload::call(head, body, &door.settings),
        (Place::Resources, _) => wanted(head).map(ResourceCall::List),
        (Place::ResourceMetadata, "PATCH") => match read_body(head, body, &door.settings).await {
            Err(fault) => return last(door.refuse(fault, head).await),
            Ok(bytes) => {
                said = bytes;
                edit(head, &said)
            }
        },
        (Place::ResourceMetadata, _) => described(head),
        (_, "DELETE") => uri(head).map(ResourceCall::Remove),
        _ => flag(head, "metadata_only").and_then(|metadata_only| {
            given = Given::of(head, flag(head, "download")?);
            let uri = uri(head)?;
            if metadata_only { Ok(ResourceCall::Describe(uri)) } else { Ok(given.read(uri)) }
        }),
    };
    let (to, cancel) = (ReplyTo::misread(None, head.face()), CancellationToken::new());
    let (owner, around, on) = (door.clone(), around(door, head, cancel.clone()), head.connection.clone());
    let work = async move {
        let request = std::str::from_utf8(&said).ok().filter(|said| !said.is_empty());
        let from = PlainFrom { caller: &caller, connection: &on, request };
        owner.house.walk_resources(to, call, from, around).await
    };
    let handed = Persist::new(work, Some(cancel)).await;
    let Some(reply) = handed.reply else { return empty(StatusCode::ACCEPTED) };
    match (handed.contents, head.place, head.method.as_str()) {
        (Some(contents), _, _) => give(reply, contents, given),
        // What is left of a refused upload stands between it and the next request.
        (_, Place::Resources, "POST") if reply.status != 200 => last(rendered(reply)),
        (_, Place::Resources, "POST") => upload::kept(reply),
        (_, Place::Resource, "DELETE") if reply.status == 200 => empty(StatusCode::NO_CONTENT),
        _ => rendered(reply),
    }
}

/// The URI in the path, raw or percent-encoded.
fn uri(head: &Head<'_>) -> Result<String, Fault> {
    checked(head.part("uri"))
}

/// A URI has a scheme, and nothing in it that hides.
fn checked(uri: String) -> Result<String, Fault> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let plain = !uri.chars().any(|c| c == '\u{FFFD}' || failwell_fault::is_deceptive(c));
    match named && plain && uri.len() <= LONGEST {
        true => Ok(uri),
        false => Err(Fault::new(&reason::SHELF_BAD_URI).fact("uri", Echo::of_caller(&uri))),
    }
}

/// `…/metadata` of what is kept is what is known of it; a server may have a resource whose URI ends like that.
fn described(head: &Head<'_>) -> Result<ResourceCall, Fault> {
    let uri = uri(head)?;
    match uri.starts_with(SCHEME) {
        true => Ok(ResourceCall::Describe(uri)),
        false => Ok(ResourceCall::Read { uri: checked(format!("{uri}/metadata"))?, span: None }),
    }
}

fn edit(head: &Head<'_>, said: &[u8]) -> Result<ResourceCall, Fault> {
    let uri = uri(head)?;
    match read_shaped(head, said)? {
        Value::Object(changes) => Ok(ResourceCall::Edit { uri, changes }),
        _ => Err(Fault::new(&reason::SERVER_BUG)),
    }
}

/// Everything behind the `?`, decoded.
fn pairs<'a>(head: &'a Head<'_>) -> impl Iterator<Item = (String, String)> + 'a {
    let pairs = head.query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(&value.replace('+', "%20")))
    })
}

/// Whether something is wanted: `?download`, `?download=true`.
fn flag(head: &Head<'_>, name: &'static str) -> Result<bool, Fault> {
    let Some((_, value)) = pairs(head).find(|(known, _)| known == name) else { return Ok(false) };
    match value.as_str() {
        "" | "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(wrong(Violation::new(Pointer::root().then(name), Rule::Type).limit("boolean"))),
    }
}

/// Which part of the list.
fn wanted(head: &Head<'_>) -> Result<Wanted, Fault> {
    let mut wanted = Wanted::default();
    for (name, value) in pairs(head) {
        match name.as_str() {
            "type" => wanted.kind = Some(Kind::new(&value)?),
            "cursor" => wanted.after = Some(value),
            "limit" => wanted.most = Some(limit(&value)?),
            _ => {}
        }
    }
    Ok(wanted)
}

fn limit(value: &str) -> Result<usize, Fault> {
    let at = || Pointer::root().then("limit");
    let number: usize =
        value.parse().map_err(|_| wrong(Violation::new(at(), Rule::Type).limit("integer")))?;
    match number {
        0 => Err(wrong(Violation::new(at(), Rule::Minimum).limit(1u64))),
        1..=1_000 => Ok(number),
        _ => Err(wrong(Violation::new(at(), Rule::Maximum).limit(1_000u64))),
    }
}

fn wrong(violation: Violation) -> Fault {
    Fault::new(&reason::HTTP_QUERY).violation(violation)
}
