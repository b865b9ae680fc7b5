//! Dispatches incoming messages to the pending requests they belong to.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use failwell_fault::Fault;
use failwell_rpc::{
    Id, Incoming, Json, Limits, Message, MessageBuf, MessageKind, Notification, Raw, Request, Response, read,
};
use failwell_transport::id_in_start;
use tokio::sync::mpsc::error::{SendError, TrySendError};

use super::{PendingRequest, RequestMux};
use crate::upstream::client::ClientRelay;
use crate::upstream::client::event::{ClientNotification, UpstreamEvent};
use crate::upstream::connection::channel::Channel;
use crate::upstream::response::{UpstreamResponse, invalid_response};

/// A request names its method within this many bytes in practice.
const NAMED_BY: usize = 1_024;
const METHOD: &[u8] = b"\"method\"";

/// Whether a line that is no JSON began as a response. Other lines may be debug output.
fn is_broken_response(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let head = line.get(..NAMED_BY).unwrap_or(line);
    let has = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    let begins = |words: &[&[u8]]| {
        let name = line.get(1..).unwrap_or_default().trim_ascii_start();
        words.iter().any(|word| name.starts_with(word))
    };
    let is_like_one = has(b"\"jsonrpc\"") || begins(&[b"\"result\"", b"\"error\""]);
    let text = std::str::from_utf8(line).unwrap_or_default();
    let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    line.starts_with(b"{") && is_like_one && !has(METHOD) && !is_json()
}

/// The id of a response that was cut, or that is no UTF-8.
fn id_of_broken(line: &[u8]) -> Option<Id> {
    id_in_start(line).or_else(|| {
        let text = String::from_utf8_lossy(line);
        match read(text.as_bytes(), &Limits::default()) {
            Incoming::One(Ok(Message::Response(response))) => Some(response.id),
            Incoming::One(Err(unreadable)) => unreadable.id,
            _ => None,
        }
    })
}

impl RequestMux {
    pub(crate) fn receive(self: &Arc<Self>, bytes: &Bytes) {
        self.received.fetch_add(1, Ordering::Relaxed);
        match MessageBuf::scan(bytes.clone(), &Limits::default()).read() {
            Incoming::One(Ok(Message::Response(response))) => self.handle_response(&response),
            Incoming::One(Ok(Message::Notification(notice))) => self.handle_notification(&notice),
            Incoming::One(Ok(Message::Request(request))) => self.handle_request(&request),
            Incoming::One(Err(unreadable)) if unreadable.about == MessageKind::Answer => {
                self.fail_unreadable(unreadable.id.as_ref(), bytes, invalid_response(bytes));
            }
            // Malformed, but with the id of a pending request.
            Incoming::One(Err(unreadable))
                if unreadable.about == MessageKind::Unknown && self.awaits(unreadable.id.as_ref()) =>
            {
                self.fail_unreadable(unreadable.id.as_ref(), bytes, invalid_response(bytes));
            }
            Incoming::One(Err(unreadable))
                if unreadable.about == MessageKind::Unknown && is_broken_response(bytes) =>
            {
                let id = unreadable.id.or_else(|| id_of_broken(bytes));
                self.fail_unreadable(id.as_ref(), bytes, invalid_response(bytes));
            }
            Incoming::One(Err(_)) => {
                // A stray line, such as debug output on stdout: skipped and counted.
                self.strays.add(bytes);
            }
            Incoming::Batch(messages) => {
                for response in messages.iter().flatten() {
                    if let Message::Response(response) = response {
                        self.handle_response(response);
                    }
                }
            }
        }
    }

    /// Handles a line without a line break, after which the upstream ended. If the line is cut, the end of the
    /// upstream says more than the line.
    pub(crate) fn receive_last(self: &Arc<Self>, bytes: &Bytes) {
        match is_broken_response(bytes) {
            true => self.strays.add(bytes),
            false => self.receive(bytes),
        }
    }

    fn handle_response(&self, response: &Response<'_>) {
        let number = response.id.as_u64();
        let waiting = number.and_then(|number| self.state.lock().waiting.remove(&number));
        match waiting {
            Some(PendingRequest { answer, relay: Some(relay), has_notifications: true }) => {
                self.forward(UpstreamEvent::Answer(relay.cx, answer, UpstreamResponse::parse(response)));
            }
            Some(waiting) => {
                let _ = waiting.answer.send(UpstreamResponse::parse(response));
            }
            // A late response is ignored; a response to an unknown id is invalid.
            None if number.is_some_and(|number| number < self.next.load(Ordering::Relaxed)) => {}
            None => self.fail_unreadable(
                None,
                response.text().as_bytes(),
                invalid_response(response.text().as_bytes()),
            ),
        }
    }

    /// Handles the start of an oversized message. It is a response unless it names a method.
    pub(crate) fn receive_truncated(&self, start: &[u8], limit: usize) {
        self.received.fetch_add(1, Ordering::Relaxed);
        let head = start.get(..NAMED_BY).unwrap_or(start);
        let calls = head.windows(METHOD.len()).any(|window| window == METHOD);
        if start.trim_ascii_start().starts_with(b"{") && !calls {
            self.fail_unreadable(
                id_in_start(start).as_ref(),
                start,
                invalid_response(start).fact("limit", limit),
            );
        } else {
            self.strays.add(start);
        }
    }

    fn awaits(&self, id: Option<&Id>) -> bool {
        id.and_then(Id::as_u64).is_some_and(|number| self.state.lock().waiting.contains_key(&number))
    }

    /// Fails the request that a malformed response names, or the only pending one.
    fn fail_unreadable(&self, id: Option<&Id>, bytes: &[u8], fault: Fault) {
        let waiting = {
            let mut state = self.state.lock();
            let named = id.and_then(Id::as_u64);
            let mut wanted = state.waiting.iter().filter(|(_, waiting)| !waiting.answer.is_closed());
            let only = match (wanted.next(), wanted.next()) {
                (Some((number, _)), None) => Some(*number),
                _ => None,
            };
            named.or(only).and_then(|number| state.waiting.remove(&number))
        };
        self.strays.add(bytes);
        if let Some(waiting) = waiting {
            let _ = waiting.answer.send(Err(fault));
        }
    }

    fn handle_notification(&self, notice: &Notification<'_>) {
        let params = notice.params.map_or_else(Json::empty_object, Raw::to_json);
        match &*notice.method {
            "notifications/progress" => {
                let number = notice.param("progressToken").and_then(Raw::as_u64);
                let relay = number.and_then(|number| {
                    let mut state = self.state.lock();
                    let waiting = state.waiting.get_mut(&number)?;
                    waiting.has_notifications = true;
                    waiting.relay.clone()
                });
                if let Some(relay) = relay {
                    self.forward(UpstreamEvent::Client(ClientNotification::Progress(relay.cx, params)));
                }
            }
            "notifications/message" => {
                self.state.lock().waiting.values_mut().for_each(|waiting| waiting.has_notifications = true);
                if let Some(relay) = ClientRelay::for_only_client(self.relays()) {
                    self.forward(UpstreamEvent::Client(ClientNotification::Log(relay.cx, params)));
                }
            }
            method => {
                if let Some(notice) = UpstreamEvent::parse_change(method, &params) {
                    self.forward(notice);
                }
            }
        }
    }

    /// Queues an event, so that a slow client does not block the connection. A full queue drops notifications. A
    /// response waits for its place instead: it must neither be lost nor overtake its own notifications.
    fn forward(&self, notice: UpstreamEvent) {
        match self.events.try_send(notice) {
            Err(TrySendError::Full(answer @ UpstreamEvent::Answer(..))) => {
                // At most one task per pending request, and the forwarder empties the queue without waiting for clients.
                let events = self.events.clone();
                tokio::spawn(async move {
                    if let Err(SendError(answer)) = events.send(answer).await {
                        answer.dispatch();
                    }
                });
            }
            Err(TrySendError::Closed(answer @ UpstreamEvent::Answer(..))) => answer.dispatch(),
            Ok(()) | Err(_) => {}
        }
    }

    fn relays(&self) -> Vec<ClientRelay> {
        self.state.lock().waiting.values().filter_map(|waiting| waiting.relay.clone()).collect()
    }

    /// Answers `ping`, and forwards other requests to the client whose call is running or who owns the connection.
    fn handle_request(self: &Arc<Self>, request: &Request<'_>) {
        if request.method == "ping" {
            return self.reply(&request.id, "{}");
        }
        let relay = ClientRelay::for_only_client(self.relays()).or_else(|| self.users.owner(&request.method));
        self.users.note_question(&request.method, relay.as_ref());
        let params = request.params.map_or_else(Json::empty_object, Raw::to_json);
        let method = request.method.clone().into_owned();
        // With several callers, the request cannot be attributed and is declined.
        match relay {
            Some(relay) => {
                let channel = Channel::Stream(self.clone());
                let question =
                    UpstreamEvent::Question { channel, id: request.id.clone(), method, params, relay };
                if self.events.try_send(question).is_err() {
                    self.decline(&request.id, -32603, "too many questions");
                }
            }
            None => self.decline(&request.id, -32601, "no client can answer this now"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{id_of_broken, is_broken_response};

    #[test]
    fn invalid_responses_are_distinguished_from_other_lines() {
        for (line, is_response, id) in [
            (&br#"{"jsonrpc":"2.0","id":7,"result":{"con"#[..], true, Some(7)),
            (br#"  {"result":{"content":[],"jsonrpc":"2.0","id":7"#, true, None),
            (br#"{"error":{"code":1},"id":7,"jsonrpc":"2."#, true, Some(7)),
            (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"\xff\"}", true, Some(7)),
            (b"{\"result\":\"\xff\",\"jsonrpc\":\"2.0\",\"id\":7}", true, Some(7)),
            (br#"{"jsonrpc":"2.0","method":"notifications/message","par"#, false, None),
            (br#"{"level":"error","text":"cut"#, false, None),
            (br#"{"level":"error","text":"whole"}"#, false, None),
            (br#"{"jsonrpc":"2.0","id":7,"result":{}}"#, false, Some(7)),
            (b"ready", false, None),
            (b"", false, None),
        ] {
            let text = String::from_utf8_lossy(line);
            assert_eq!(is_broken_response(line), is_response, "{text}");
            if is_response {
                assert_eq!(id_of_broken(line).and_then(|id| id.as_u64()), id, "{text}");
            }
        }
    }
}
