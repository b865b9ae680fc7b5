//! Reads request bodies, within their maximum size and deadline.

use std::pin::{Pin, pin};

use bytes::{Bytes, BytesMut};
use failwell_fault::{Fault, OrFault, Retry, reason};
use failwell_rpc::Caller;
use http_body_util::{BodyExt, Collected};
use hyper::body::Incoming;

use super::RequestHead;
use super::body_budget::BodyShare;
use super::drain::discard;
use crate::http::router::Mount;
use crate::in_place::within;

/// Maximum size of a body that is not counted. It arrives together with its head.
const SMALL: usize = 64 * 1024;

/// Reads the whole body. A body that is incomplete when the server stops is refused like a new request.
pub async fn read_body(
    mount: &Mount,
    head: &RequestHead<'_>,
    mut body: Incoming,
    caller: &Caller,
) -> Result<Bytes, Fault> {
    let settings = &*mount.settings;
    let limit = settings.largest_body;
    let too_large = || {
        let fault = Fault::new(&reason::HTTP_TOO_LARGE).fact("limit", limit).retry_as(Retry::AfterChange);
        match head.content_length() {
            Some(length) => fault.fact("size", length),
            None => fault,
        }
    };
    let length = head.content_length().map(|length| usize::try_from(length).unwrap_or(usize::MAX));
    let received = match length {
        Some(length) if length > limit => Err(too_large()),
        Some(length) if length <= SMALL => {
            let whole = body.collect();
            return mount
                .received(pin!(whole))
                .await?
                .map(Collected::to_bytes)
                .or_fault(&reason::HTTP_BAD_BODY);
        }
        _ => {
            let share = settings.bodies.share(Some(caller));
            // Boxed, because it is rare: the future of every request stays small.
            let mut large = Box::pin(receive(&mut body, length, limit, share));
            mount.received(large.as_mut()).await.and_then(|received| match received {
                Ok(bytes) => Ok(bytes),
                Err(ReceiveError::TooLarge) => Err(too_large()),
                Err(ReceiveError::Refused(fault)) => Err(fault),
            })
        }
    };
    if received.is_err() {
        discard(body, head, settings);
    }
    received
}

enum ReceiveError {
    TooLarge,
    Refused(Fault),
}

/// Receives a large body into one buffer. The pieces are freed as they arrive, so that the memory of the body
/// returns to the system with the buffer.
async fn receive(
    body: &mut Incoming,
    length: Option<usize>,
    limit: usize,
    mut share: BodyShare,
) -> Result<Bytes, ReceiveError> {
    let length = length.unwrap_or(0);
    share.take(length).map_err(ReceiveError::Refused)?;
    let mut bytes = BytesMut::with_capacity(length);
    while let Some(frame) = body.frame().await {
        let frame = frame.or_fault(&reason::HTTP_BAD_BODY).map_err(ReceiveError::Refused)?;
        let Ok(piece) = frame.into_data() else { continue };
        let grown = bytes.len().saturating_add(piece.len());
        if grown > limit {
            return Err(ReceiveError::TooLarge);
        }
        share.grow(grown).map_err(ReceiveError::Refused)?;
        bytes.extend_from_slice(&piece);
    }
    Ok(share.hold(bytes.freeze()))
}

impl Mount {
    /// Waits for a body, until its deadline or the end of the server.
    async fn received<T>(&self, receiving: Pin<&mut impl Future<Output = T>>) -> Result<T, Fault> {
        let deadline = self.settings.body_deadline;
        let late = || Fault::new(&reason::HTTP_SLOW_BODY).fact("limit_s", deadline.as_secs());
        within(deadline, pin!(self.unless_closing(receiving))).await.ok_or_else(late)?
    }
}
