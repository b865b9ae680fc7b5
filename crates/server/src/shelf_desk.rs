//! Kept resources, and who may know of which.

use std::fmt;
use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_policy::Caller;
use failwell_render::Moment;
use failwell_shelf::{Address, Change, Fetched, Kept, Kind, SCHEME, Shelf};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use crate::house::House;
use crate::hub::Event;

/// The name kept resources have among servers: in rules, in records, for guards.
pub const SHELF_SERVER: &str = "shelf";

/// Whether a caller may use a resource: what it may not know of is as unknown as what is not there.
pub type Sight = Arc<dyn Fn(&Caller, &str) -> Result<(), Fault> + Send + Sync>;

/// A shelf with the operator's word on who sees what of it.
#[derive(Clone)]
pub struct ShelfDesk {
    shelf: Shelf,
    sight: Option<Sight>,
}

impl ShelfDesk {
    /// A shelf of which everybody sees everything.
    pub fn open_to_all(shelf: Shelf) -> ShelfDesk {
        ShelfDesk { shelf, sight: None }
    }

    /// A shelf under rules.
    pub fn ruled(shelf: Shelf, sight: Sight) -> ShelfDesk {
        ShelfDesk { shelf, sight: Some(sight) }
    }

    /// The shelf itself.
    pub fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// Refuses what this caller may not use.
    pub(crate) fn reveal(&self, caller: &Caller, uri: &str) -> Result<(), Fault> {
        self.sight.as_ref().map_or(Ok(()), |sight| sight(caller, uri))
    }

    /// Whether somebody may hear of something: of what is hidden from them nobody hears, whatever they listen to.
    pub(crate) fn lets_hear(&self, caller: &Caller, event: &Event) -> bool {
        match event.kind() {
            Event::ResourceUpdated(uri) if is_kept_address(uri) => self.reveal(caller, uri).is_ok(),
            _ => true,
        }
    }

    /// Refuses to bring what the caller could not read.
    pub(crate) fn reveal_kind(&self, caller: &Caller, kind: &Kind) -> Result<(), Fault> {
        self.reveal(caller, &format!("{SCHEME}{}/", kind.as_str())).map_err(|fault| {
            let hidden = *fault.reason() == reason::MCP_UNKNOWN_RESOURCE;
            if hidden {
                Fault::new(&reason::POLICY_DENIED).note("shelf", "the type is hidden")
            } else {
                fault
            }
        })
    }

    /// What a URI leads to, if it is of a kept resource that this caller may use; `None` where others may know it.
    pub(crate) async fn fetch(&self, caller: &Caller, uri: &str) -> Result<Option<Fetched>, Fault> {
        if Address::parse(uri).is_err() {
            return Ok(None);
        }
        let found = match self.reveal(caller, uri) {
            Ok(()) => self.shelf.fetch(uri).await,
            Err(fault) => Err(fault),
        };
        match found {
            Ok(fetched) => Ok(Some(fetched)),
            Err(fault) if *fault.reason() == reason::MCP_UNKNOWN_RESOURCE => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

impl fmt::Debug for ShelfDesk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShelfDesk").field("shelf", &self.shelf).finish_non_exhaustive()
    }
}

/// Whether a URI is one that only a shelf gives out.
pub(crate) fn is_kept_address(uri: &str) -> bool {
    // Most are none, and need no account of why.
    uri.starts_with(SCHEME) && Address::parse(uri).is_ok()
}

/// What plain callers are told of a kept resource.
pub(crate) fn description(kept: &Kept) -> Value {
    json!({
        "uri": kept.uri,
        "type": kept.kind.as_str(),
        "sha256": kept.sha256,
        "size": kept.size,
        "media_type": kept.media_type,
        "created": Moment::from(kept.created).to_string(),
        "expires": Moment::from(kept.expires).to_string(),
        "metadata": kept.metadata,
    })
}

/// What `resources/list` says of it.
pub(crate) fn definition(kept: &Kept) -> Value {
    json!({
        "uri": kept.uri,
        "name": name(kept),
        "mimeType": kept.media_type,
        "size": kept.size,
        "annotations": {"lastModified": Moment::from(kept.created).to_string()},
    })
}

/// The name it came with, or one that tells it from others.
fn name(kept: &Kept) -> String {
    let given = kept.metadata.get("file_name").and_then(Value::as_str);
    let short: String = kept.sha256.chars().take(12).collect();
    given.map_or_else(|| format!("{}/{short}{}", kept.kind.as_str(), kept.extension.as_str()), str::to_owned)
}

impl House {
    /// Tells clients of changes on the shelf, until the house is gone.
    pub(crate) fn follow_shelf(self: &Arc<Self>) {
        let (Some(desk), Ok(runtime)) = (&self.settings.shelf, tokio::runtime::Handle::try_current()) else {
            return;
        };
        let (mut changes, house) = (desk.shelf.changes(), Arc::downgrade(self));
        runtime.spawn(async move {
            loop {
                let change = changes.recv().await;
                let Some(house) = house.upgrade() else { return };
                match change {
                    Ok(Change::Updated(uri)) => house.hub.announce(Event::ResourceUpdated(uri.into())),
                    Ok(Change::Removed(uri)) => {
                        house.hub.announce(Event::ResourceUpdated(uri.into()));
                        house.hub.announce(Event::ResourcesChanged);
                    }
                    Ok(Change::Added(_) | Change::Elsewhere) | Err(RecvError::Lagged(_)) => {
                        house.hub.announce(Event::ResourcesChanged);
                    }
                    Err(RecvError::Closed) => return,
                }
            }
        });
    }
}
