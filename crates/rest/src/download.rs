//! Sends the bytes of a resource: completely or a range, to view or to save.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use failwell_controls::{FileContents, Span};
use failwell_pipeline::Answer;
use failwell_render::Reply;
use failwell_rpc::Caller;
use failwell_store::blob_store::{BlobUri, FileName, FileReader, StoredFile};
use futures_util::stream::unfold;
use http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, IF_RANGE, RANGE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{Response, StatusCode};
use http_body::Frame;
use http_body_util::{Either, Full, StreamBody};
use hyper::body::Incoming;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use failwell_transport::paths::{
    Body, EventBody, Mount, RequestHead, RestInput, empty, finished, handle, rendered,
};

use crate::stored_files::{self, flag};

/// The download options of a request.
#[derive(Debug)]
pub(crate) struct DownloadOptions {
    to_save: bool,
    unless: Option<String>,
    span: Option<Span>,
}

/// `GET /v1/resources/{uri}`: the bytes of a resource, or its description.
pub(crate) fn download<'a>(
    mount: &'a Arc<Mount>,
    head: &'a RequestHead<'a>,
    _: Incoming,
    caller: Caller,
) -> Pin<Box<dyn Future<Output = Response<Body>> + Send + 'a>> {
    Box::pin(async move {
        let call = stored_files::read(&RestInput { mount, head, body: &[], caller: &caller });
        let Answer { reply, attachment } = handle(mount, head, call, Bytes::new(), caller).await;
        let file = attachment.and_then(|attachment| attachment.downcast::<FileContents>().ok());
        match (reply, file) {
            (None, _) => mount.reply(None),
            (Some(reply), Some(file)) => give(reply, *file, DownloadOptions::of(head)),
            (Some(reply), None) if reply.status != 200 => rendered(reply),
            (Some(reply), None) => finished(reply, head),
        }
    })
}

impl DownloadOptions {
    pub(crate) fn of(head: &RequestHead<'_>) -> DownloadOptions {
        let header = |name: HeaderName| head.get(name).map(str::to_owned);
        let uri = head.part("uri");
        // If the client has another version, the range does not apply and it gets the whole resource
        // (`If-Range`).
        let is_stored = BlobUri::parse(&uri).is_ok();
        let is_same = head.get(IF_RANGE).is_none_or(|tag| tag.trim() == tag_of(&uri));
        DownloadOptions {
            to_save: flag(head, "download").unwrap_or(false),
            unless: header(IF_NONE_MATCH),
            span: head.get(RANGE).filter(|_| is_stored && is_same).and_then(span),
        }
    }

    /// The requested range; `None` for the whole resource.
    pub(crate) fn span(&self) -> Option<Span> {
        self.span
    }

    fn has_it(&self, tag: &str) -> bool {
        let tags = self.unless.as_deref().unwrap_or_default().split(',').map(str::trim);
        tags.into_iter().any(|known| known == "*" || known.trim_start_matches("W/") == tag)
    }
}

/// The entity tag. The bytes of a URI never change, so its hash identifies them.
fn tag_of(uri: &str) -> String {
    let file = uri.rsplit('/').next().unwrap_or_default();
    format!("\"{}\"", file.split('.').next().unwrap_or_default())
}

/// Reads one byte range (RFC 9110, 14.2). Multiple ranges, other units and invalid values are ignored.
fn span(header: &str) -> Option<Span> {
    let (unit, range) = header.trim().split_once('=')?;
    let (start, end) = range.trim().split_once('-').filter(|_| unit.eq_ignore_ascii_case("bytes"))?;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number with too many digits is beyond the end of any file.
        digits.then(|| text.parse().unwrap_or(u64::MAX))
    };
    match (start.trim(), end.trim()) {
        ("", last) => number(last).map(Span::Last),
        (start, "") => Some(Span::From(number(start)?, None)),
        (start, end) => {
            let (start, end) = (number(start)?, number(end)?);
            (start <= end).then_some(Span::From(start, Some(end)))
        }
    }
}

pub(crate) fn give(reply: Reply, contents: FileContents, given: DownloadOptions) -> Response<Body> {
    match contents {
        FileContents::File(fetched) => {
            let stored = fetched.stored.clone();
            given.response(&stored, stored.size, |range| match fetched.only(range) {
                Ok(fetched) => streamed(fetched),
                Err(_) => Either::Left(Full::default()),
            })
        }
        FileContents::Whole(stored, bytes) => given.whole(&stored, bytes.into()),
        FileContents::Redacted(stored, left) => redacted(&stored, left.into(), given.to_save),
        FileContents::Text(stored, text) => match left_of(&reply) {
            Some(left) if left == text => given.whole(&stored, text.into()),
            Some(left) => redacted(&stored, left.into(), given.to_save),
            None => empty(StatusCode::INTERNAL_SERVER_ERROR),
        },
    }
}

/// The guards redacted the content, so these are not the bytes that the URI names.
fn redacted(stored: &StoredFile, left: Bytes, to_save: bool) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(left)));
    set_headers(&mut response, stored, to_save);
    response
}

fn left_of(reply: &Reply) -> Option<String> {
    let answer: Value = serde_json::from_slice(&reply.body).ok()?;
    Some(answer.get("text")?.as_str()?.to_owned())
}

impl DownloadOptions {
    fn whole(self, stored: &StoredFile, bytes: Bytes) -> Response<Body> {
        let size = bytes.len() as u64;
        self.response(stored, size, |range| {
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
            Either::Left(Full::new(bytes.slice(place(range.start)..place(range.end))))
        })
    }

    fn response(
        self,
        stored: &StoredFile,
        size: u64,
        body: impl FnOnce(std::ops::Range<u64>) -> Body,
    ) -> Response<Body> {
        let tag = tag_of(&stored.uri);
        if self.has_it(&tag) {
            let mut response = empty(StatusCode::NOT_MODIFIED);
            set(&mut response, ETAG, &tag);
            return response;
        }
        let part = self.span.and_then(|span| span.of(size));
        let range = part.clone().unwrap_or(0..size);
        let length = range.end - range.start;
        let mut response = Response::new(match length {
            0 => Either::Left(Full::default()),
            _ => body(range.clone()),
        });
        if part.is_some() {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            let last = range.end.saturating_sub(1);
            set(&mut response, CONTENT_RANGE, &format!("bytes {}-{last}/{size}", range.start));
        }
        set(&mut response, CONTENT_LENGTH, &length.to_string());
        set(&mut response, ETAG, &tag);
        set(&mut response, ACCEPT_RANGES, "bytes");
        set_headers(&mut response, stored, self.to_save);
        response
    }
}

/// Streams a file. If the disk fails, the connection is closed, because the length was already sent.
fn streamed(fetched: FileReader) -> Body {
    let pieces: EventBody = Box::pin(unfold(fetched, |mut fetched| async move {
        let piece = fetched.piece().await.ok().flatten()?;
        Some((Ok(Frame::data(piece)), fetched))
    }));
    Either::Right(StreamBody::new(pieces))
}

/// A page has its own styles and the pictures inside it, as a report of the device server needs them. It runs nothing and
/// loads nothing.
const INERT: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// Sets the content headers. They keep a browser from running the content or guessing another type.
fn set_headers(response: &mut Response<Body>, stored: &StoredFile, to_save: bool) {
    let charset = if stored.media_type.starts_with("text/") { "; charset=utf-8" } else { "" };
    set(response, CONTENT_TYPE, &format!("{}{charset}", stored.media_type));
    set(response, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(response, CONTENT_SECURITY_POLICY, INERT);
    set(response, CACHE_CONTROL, "private, no-cache");
    let way = if to_save { "attachment" } else { "inline" };
    set(response, CONTENT_DISPOSITION, &format!("{way}; {}", file_name(stored)));
}

/// What is escaped in `filename*`: a little more than RFC 8187 asks for.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'_').remove(b'-');

/// The file name for saving (RFC 6266): an ASCII form, and the full name if it differs.
fn file_name(stored: &StoredFile) -> String {
    let given =
        stored.metadata.get("file_name").and_then(Value::as_str).and_then(|name| FileName::new(name).ok());
    let own = format!("{}{}", stored.sha256, stored.extension.as_str());
    let name = given.as_ref().map_or(own.as_str(), FileName::as_str);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " ._-()+,@".contains(c);
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    if plain == name {
        return format!("filename=\"{plain}\"");
    }
    let full = utf8_percent_encode(name, ESCAPED);
    format!("filename=\"{plain}\"; filename*=UTF-8''{full}")
}

fn set(response: &mut Response<Body>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::{span, tag_of};
    use failwell_controls::Span;

    #[test]
    fn one_range_is_understood() {
        for (header, wanted) in [
            ("bytes=0-9", Some(Span::From(0, Some(9)))),
            ("Bytes= 5 - 6 ", Some(Span::From(5, Some(6)))),
            ("bytes=5-", Some(Span::From(5, None))),
            ("bytes=-5", Some(Span::Last(5))),
            ("bytes=99999999999999999999999-", Some(Span::From(u64::MAX, None))),
            ("bytes=9-0", None),
            ("bytes=-", None),
            ("bytes=a-b", None),
            ("bytes=0-1,3-4", None),
            ("lines=0-1", None),
            ("0-1", None),
        ] {
            assert_eq!(span(header), wanted, "{header}");
        }
        assert_eq!(tag_of("resource://a/abc.png"), "\"abc\"");
    }
}
