//! Resources over REST: the walk of one request about them.

use std::sync::Arc;

use failwell_audit::Trail;
use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::Caller;
use failwell_render::{Outcome, Reply};
use failwell_rpc::{Json, ReplyTo};
use failwell_shelf::{Address, Fetched, Kept, Kind, SCHEME, Shelf, Wanted, is_text};
use serde_json::{Map, Value, json};

use crate::guarding::{Watched, Whose};
use crate::house::{Exchange, House};
use crate::plain::{From, PlainAround};
use crate::shelf_desk::{SHELF_SERVER, ShelfDesk, description};
use crate::shelved::{text_of, whole};
use crate::tool::Work;

/// What somebody brings: called with a reception, it takes the bytes in.
pub type Upload = Box<dyn FnOnce(Reception) -> Work<Kept> + Send>;

/// What somebody wants of resources.
pub enum ResourceCall {
    /// A page of what is kept.
    List(Wanted),
    /// What is known of one.
    Describe(String),
    /// Its bytes.
    Read {
        /// Which.
        uri: String,
        /// Which of them, where not all are wanted.
        span: Option<Span>,
    },
    /// A new one.
    Upload(Upload),
    /// Other metadata.
    Edit {
        /// Whose.
        uri: String,
        /// Member by member; `null` takes one away.
        changes: Map<String, Value>,
    },
    /// An end.
    Remove(String),
}

/// Some bytes of a resource whose size the caller may not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// From here to there, the last one included; to the end where there is no end.
    From(u64, Option<u64>),
    /// That many at the end.
    Last(u64),
}

impl Span {
    /// The bytes meant of so many; `None` where none of them is there.
    pub fn of(self, size: u64) -> Option<std::ops::Range<u64>> {
        let range = match self {
            Span::From(start, last) => start..last.map_or(size, |last| last.saturating_add(1)).min(size),
            Span::Last(count) => size.saturating_sub(count)..size,
        };
        (!range.is_empty()).then_some(range)
    }
}

/// What a walk about resources came to.
pub struct Handed {
    /// The answer, or what the guards left of it.
    pub reply: Option<Reply>,
    /// The bytes that were asked for, if the answer says that all is well.
    pub contents: Option<Contents>,
}

/// Bytes on their way out.
pub enum Contents {
    /// A file, still to be read.
    File(Fetched),
    /// Bytes that were read already.
    Whole(Kept, Vec<u8>),
    /// A text. What the guards left of it is the member `text` of the answer.
    Text(Kept, String),
}

/// What was done, before guards and scribe.
struct Done {
    outcome: Value,
    bytes: Option<Contents>,
    uri: Option<String>,
}

/// Where uploads come in.
pub struct Reception {
    house: Arc<House>,
    desk: ShelfDesk,
    caller: Caller,
    connection: String,
}

impl Reception {
    /// The shelf.
    pub fn shelf(&self) -> &Shelf {
        self.desk.shelf()
    }

    /// Refuses a type the caller may not use.
    pub fn admit(&self, kind: &Kind) -> Result<(), Fault> {
        self.desk.reveal_kind(&self.caller, kind)
    }

    /// What was said of an upload, without what the guards take out.
    pub async fn look_through(&self, said: Map<String, Value>) -> Result<Map<String, Value>, Fault> {
        let json = Json::of(&said).or_fault(&reason::SERVER_BUG)?;
        let whose = Whose {
            server: SHELF_SERVER,
            method: "resources/upload",
            caller: self.caller.name(),
            connection: &self.connection,
            ..Whose::default()
        };
        match self.house.porter.incoming(whose, json.text()).await? {
            Some(clean) => clean.raw().parse().or_fault(&reason::SERVER_BUG),
            None => Ok(said),
        }
    }
}

impl ResourceCall {
    fn method(&self) -> &'static str {
        match self {
            ResourceCall::List(_) => "resources/list",
            ResourceCall::Describe(_) => "resources/describe",
            ResourceCall::Read { .. } => "resources/read",
            ResourceCall::Upload(_) => "resources/upload",
            ResourceCall::Edit { .. } => "resources/edit",
            ResourceCall::Remove(_) => "resources/remove",
        }
    }

    fn target(&self) -> Option<&str> {
        match self {
            ResourceCall::List(_) | ResourceCall::Upload(_) => None,
            ResourceCall::Describe(uri) | ResourceCall::Remove(uri) => Some(uri),
            ResourceCall::Read { uri, .. } | ResourceCall::Edit { uri, .. } => Some(uri),
        }
    }

    /// What the guards look at.
    fn said(&self) -> Value {
        match self {
            ResourceCall::Edit { uri, changes } => json!({"uri": uri, "metadata": changes}),
            other => json!({"uri": other.target()}),
        }
    }
}

impl House {
    /// The walk of a request about resources.
    pub async fn walk_resources(
        self: &Arc<Self>,
        to: ReplyTo,
        call: Result<ResourceCall, Fault>,
        from: From<'_>,
        around: PlainAround,
    ) -> Handed {
        let From { caller, connection, request } = from;
        let (began, trail, trace) = (self.begin(), Trail::default(), around.trace.clone());
        let method = call.as_ref().ok().map(ResourceCall::method);
        if let Some(uri) = call.as_ref().ok().and_then(ResourceCall::target) {
            trail.aim(uri);
        }
        let server = match trail.target() {
            Some(uri) => self.server_behind(uri),
            None => SHELF_SERVER.to_owned(),
        };
        let done = match call {
            Ok(call) => {
                let whose = Whose {
                    server: &server,
                    to: Some(&to),
                    connection,
                    caller: caller.name(),
                    method: method.unwrap_or_default(),
                    watched: Some(Watched { trail: &trail, began, server: &server }),
                    ..Whose::default()
                };
                let aim = self.porter.has_customs().then(|| self.aim(method, trail.target(), Some(caller)));
                let whose = aim.as_ref().map_or(whose, |aim| aim.of(whose));
                self.serve_resources(call, caller, &to, whose, around).await
            }
            Err(fault) => Err(fault),
        };
        let (happened, bytes) = match done {
            Ok(Done { outcome, bytes, uri }) => {
                uri.into_iter().for_each(|uri| trail.aim(&uri));
                (Json::of(&outcome).or_fault(&reason::SERVER_BUG).map(Outcome::Value), bytes)
            }
            Err(fault) => (Err(fault), None),
        };
        let (caller, server) = (Some(caller), self.server_found(server, &trail));
        let exchange =
            Exchange { to, happened, began, method, connection, server, caller, request, trail, trace };
        let reply = self.close(exchange).await;
        let is_well = reply.as_ref().is_some_and(|reply| reply.status == 200);
        Handed { reply, contents: bytes.filter(|_| is_well) }
    }

    async fn serve_resources(
        self: &Arc<Self>,
        call: ResourceCall,
        caller: &Caller,
        to: &ReplyTo,
        whose: Whose<'_>,
        around: PlainAround,
    ) -> Result<Done, Fault> {
        let _passage = self.admit(caller).await?;
        let said = Json::of(&call.said()).or_fault(&reason::SERVER_BUG)?;
        let call = match self.let_in_plain(whose, said.text()).await? {
            Some(clean) => cleaned(call, &clean)?,
            None => call,
        };
        let cx = self.context_of_plain(caller, to, whose.server, around);
        let work: Work<Done> = match (call, self.settings.shelf.clone()) {
            (ResourceCall::Read { uri, span }, desk) => {
                let (room, caller, cx) = (self.room.clone(), caller.clone(), cx.clone());
                let limit = self.settings.largest_answer;
                Box::pin(async move {
                    check_address(&uri)?;
                    let kept = match &desk {
                        Some(desk) => desk.fetch(&caller, &uri).await?,
                        None => None,
                    };
                    if let Some(fetched) = kept {
                        return read(fetched, span, limit).await;
                    }
                    let found = room.read(&uri, cx).await?;
                    Ok(Done::of(found.members.to_json().raw().parse().or_fault(&reason::SERVER_BUG)?))
                })
            }
            (call, Some(desk)) => {
                let reception = || Reception {
                    house: self.clone(),
                    desk: desk.clone(),
                    caller: caller.clone(),
                    connection: whose.connection.to_owned(),
                };
                Box::pin(kept(call, desk.clone(), caller.clone(), reception()))
            }
            (_, None) => return Err(Fault::new(&reason::HTTP_UNKNOWN_PATH)),
        };
        self.supervise(work, &cx).await?.finished()
    }
}

impl Done {
    fn of(outcome: Value) -> Done {
        Done { outcome, bytes: None, uri: None }
    }
}

/// Everything that is about the shelf alone.
async fn kept(
    call: ResourceCall,
    desk: ShelfDesk,
    caller: Caller,
    reception: Reception,
) -> Result<Done, Fault> {
    let known = |uri: &str| {
        check_address(uri)?;
        desk.reveal(&caller, uri)
    };
    match call {
        ResourceCall::List(wanted) => {
            let page = desk.shelf().list(wanted).await?;
            let seen = page.items.iter().filter(|kept| desk.reveal(&caller, &kept.uri).is_ok());
            let items: Vec<Value> = seen.map(description).collect();
            let mut outcome = json!({"resources": items});
            if let (Some(next), Some(members)) = (page.next, outcome.as_object_mut()) {
                members.insert("next_cursor".to_owned(), json!(next));
            }
            Ok(Done::of(outcome))
        }
        ResourceCall::Describe(uri) => {
            known(&uri)?;
            Ok(Done::of(description(&desk.shelf().describe(&uri).await?)))
        }
        ResourceCall::Edit { uri, changes } => {
            known(&uri)?;
            Ok(Done::of(description(&desk.shelf().edit(&uri, changes).await?)))
        }
        ResourceCall::Remove(uri) => {
            known(&uri)?;
            Ok(Done::of(description(&desk.shelf().remove(&uri).await?)))
        }
        ResourceCall::Upload(upload) => {
            let kept = upload(reception).await?;
            Ok(Done { outcome: description(&kept), bytes: None, uri: Some(kept.uri) })
        }
        ResourceCall::Read { .. } => Err(Fault::new(&reason::SERVER_BUG)),
    }
}

/// A text goes through the guards as a text; other bytes follow the answer as they are.
async fn read(fetched: Fetched, span: Option<Span>, limit: usize) -> Result<Done, Fault> {
    let size = fetched.kept.size;
    if span.is_some_and(|span| span.of(size).is_none()) {
        return Err(Fault::new(&reason::SHELF_RANGE).fact("size", size));
    }
    if !is_text(fetched.kept.media_type) {
        let outcome = description(&fetched.kept);
        return Ok(Done { outcome, bytes: Some(Contents::File(fetched)), uri: None });
    }
    if size > limit as u64 {
        return Err(Fault::new(&reason::SERVER_TOO_LARGE).fact("limit", limit));
    }
    let uri = fetched.kept.uri.clone();
    let (kept, bytes) = whole(fetched).await?;
    match text_of(&kept, bytes) {
        Ok(text) => {
            let outcome = json!({"uri": uri, "media_type": kept.media_type, "text": text});
            Ok(Done { outcome, bytes: Some(Contents::Text(kept, text)), uri: None })
        }
        // Called a text, and none: bytes like any other.
        Err(bytes) => {
            let outcome = description(&kept);
            Ok(Done { outcome, bytes: Some(Contents::Whole(kept, bytes)), uri: None })
        }
    }
}

/// A URI that begins like one of the shelf's must look like one.
pub(crate) fn check_address(uri: &str) -> Result<(), Fault> {
    match uri.starts_with(SCHEME).then(|| Address::parse(uri)) {
        Some(Err(fault)) if *fault.reason() == reason::SHELF_BAD_URI => Err(fault),
        _ => Ok(()),
    }
}

/// The same call with what the guards left of what was said.
fn cleaned(call: ResourceCall, clean: &Json) -> Result<ResourceCall, Fault> {
    let clean: Value = clean.raw().parse().or_fault(&reason::SERVER_BUG)?;
    let uri = clean.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(match call {
        ResourceCall::Describe(_) => ResourceCall::Describe(uri),
        ResourceCall::Remove(_) => ResourceCall::Remove(uri),
        ResourceCall::Read { span, .. } => ResourceCall::Read { uri, span },
        ResourceCall::Edit { .. } => {
            let changes = clean.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
            ResourceCall::Edit { uri, changes }
        }
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn spans_are_cut_to_what_is_there() {
        for (span, size, wanted) in [
            (Span::From(0, None), 10, Some(0..10)),
            (Span::From(3, Some(5)), 10, Some(3..6)),
            (Span::From(3, Some(u64::MAX)), 10, Some(3..10)),
            (Span::From(10, None), 10, None),
            (Span::From(5, Some(4)), 10, None),
            (Span::Last(3), 10, Some(7..10)),
            (Span::Last(30), 10, Some(0..10)),
            (Span::Last(0), 10, None),
            (Span::From(0, None), 0, None),
        ] {
            assert_eq!(span.of(size), wanted, "{span:?} of {size}");
        }
    }
}
