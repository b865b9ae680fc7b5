//! Changes that clients can subscribe to.

use std::sync::Arc;

use failwell_rpc::Json;
use serde_json::json;

/// A change that clients can subscribe to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The list of tools changed.
    ToolsChanged,
    /// The list of prompts changed.
    PromptsChanged,
    /// The list of resources changed.
    ResourcesChanged,
    /// The content of the resource with this URI changed.
    ResourceUpdated(Arc<str>),
    /// The state of the task with this id changed.
    TaskChanged(Arc<str>),
    /// A change that another server announced, with the params of its notification.
    Relayed(Arc<Event>, Json),
}

impl Event {
    /// Whether a list that clients may have cached is outdated.
    pub fn changes_a_list(&self) -> bool {
        match self {
            Event::ToolsChanged | Event::PromptsChanged | Event::ResourcesChanged => true,
            Event::ResourceUpdated(_) | Event::TaskChanged(_) => false,
            Event::Relayed(event, _) => event.changes_a_list(),
        }
    }

    /// The method of the notification for this change.
    pub fn method(&self) -> &'static str {
        match self.kind() {
            Event::ToolsChanged => "notifications/tools/list_changed",
            Event::PromptsChanged => "notifications/prompts/list_changed",
            Event::ResourcesChanged => "notifications/resources/list_changed",
            Event::ResourceUpdated(_) => "notifications/resources/updated",
            Event::TaskChanged(_) | Event::Relayed(..) => "notifications/tasks",
        }
    }

    /// The change itself, without the params of a relayed one.
    pub fn kind(&self) -> &Event {
        match self {
            Event::Relayed(kind, _) => kind,
            plain => plain,
        }
    }

    /// The params of the notification, without members that depend on the subscription.
    pub fn params(&self) -> Option<Json> {
        match self {
            Event::Relayed(_, params) => Some(params.clone()),
            Event::ResourceUpdated(uri) => Some(Json::from(&json!({"uri": &**uri}))),
            _ => None,
        }
    }
}
