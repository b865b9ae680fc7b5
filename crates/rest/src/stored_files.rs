//! `/v1/resources`: stored files, and resources of the servers, by URI.

use failwell_controls::StoredFileCall;
use failwell_fault::{Echo, Fault, Pointer, Rule, Violation, reason};
use failwell_pipeline::Call;
use failwell_store::blob_store::{ListFilter, ResourceType, SCHEME};
use serde_json::Value;

use failwell_transport::paths::{RequestHead, RestInput, read_shaped};

use crate::download::DownloadOptions;
use crate::services;

/// Maximum length of a URI in bytes.
const LONGEST: usize = 2_048;

pub(crate) fn list(input: &RestInput<'_>) -> Result<Call<'static>, Fault> {
    Ok(services(input.mount)?.stored_files(StoredFileCall::List(wanted(input.head)?)))
}

pub(crate) fn read(input: &RestInput<'_>) -> Result<Call<'static>, Fault> {
    let metadata_only = flag(input.head, "metadata_only")?;
    flag(input.head, "download")?;
    let uri = uri(input.head)?;
    Ok(services(input.mount)?.stored_files(match metadata_only {
        true => StoredFileCall::Describe(uri),
        false => StoredFileCall::Read { span: DownloadOptions::of(input.head).span(), uri },
    }))
}

pub(crate) fn remove(input: &RestInput<'_>) -> Result<Call<'static>, Fault> {
    Ok(services(input.mount)?.stored_files(StoredFileCall::Remove(uri(input.head)?)))
}

pub(crate) fn describe(input: &RestInput<'_>) -> Result<Call<'static>, Fault> {
    Ok(services(input.mount)?.stored_files(described(input.head)?))
}

pub(crate) fn edit(input: &RestInput<'_>) -> Result<Call<'static>, Fault> {
    Ok(services(input.mount)?.stored_files(edited(input.head, input.body)?))
}

/// The URI in the path, raw or percent-encoded.
fn uri(head: &RequestHead<'_>) -> Result<String, Fault> {
    checked(head.part("uri"))
}

/// Checks that a URI has a scheme and no hidden characters.
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

/// `…/metadata` of a stored file is its description. A server may also have a resource whose URI ends like
/// this.
fn described(head: &RequestHead<'_>) -> Result<StoredFileCall, Fault> {
    let uri = uri(head)?;
    match uri.starts_with(SCHEME) {
        true => Ok(StoredFileCall::Describe(uri)),
        false => Ok(StoredFileCall::Read { uri: checked(format!("{uri}/metadata"))?, span: None }),
    }
}

fn edited(head: &RequestHead<'_>, body: &[u8]) -> Result<StoredFileCall, Fault> {
    let uri = uri(head)?;
    match read_shaped(head, body)? {
        Value::Object(changes) => Ok(StoredFileCall::Edit { uri, changes }),
        _ => Err(Fault::new(&reason::SERVER_BUG)),
    }
}

/// Reads a boolean parameter: `?download`, `?download=true`.
pub(crate) fn flag(head: &RequestHead<'_>, name: &'static str) -> Result<bool, Fault> {
    let Some((_, value)) = head.query_pairs().find(|(known, _)| known == name) else { return Ok(false) };
    match value.as_str() {
        "" | "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(wrong(Violation::new(Pointer::root().then(name), Rule::Type).limit("boolean"))),
    }
}

/// Reads the filter and page of a list.
fn wanted(head: &RequestHead<'_>) -> Result<ListFilter, Fault> {
    let mut wanted = ListFilter::default();
    for (name, value) in head.query_pairs() {
        match name.as_str() {
            "type" => wanted.kind = Some(ResourceType::new(&value)?),
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
