//! Change notifications: `subscriptions/listen` in the modern era, plain notifications in a session.

use std::sync::Arc;

use failwell_fault::Fault;
use failwell_render::{Outcome, ResultKind};
use failwell_rpc::{Fields, Id, Json, Object, Raw, meta};
use serde_json::{Map, Value, json};

use crate::request::context_ports::ContextPorts;
use crate::session::Session;
use crate::session::hub::Hub;
use crate::session::stream::Stream;
use failwell_toolbox::CallerSession;
use failwell_toolbox::Event;

/// The maximum number of resources or tasks per subscription.
const MOST: usize = 1_000;

/// The changes that a modern client subscribes to.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Filter {
    tools: bool,
    prompts: bool,
    resources: bool,
    watched: Vec<String>,
    tasks: Vec<String>,
}

impl Filter {
    pub(crate) fn read(wanted: Option<Object<'_>>) -> Filter {
        let Some(wanted) = wanted else { return Filter::default() };
        let flag = |name: &str| wanted.get(name).and_then(Raw::as_bool).unwrap_or(false);
        let texts = |name: &str| {
            let items = wanted.get(name).and_then(Raw::as_array);
            items
                .into_iter()
                .flatten()
                .filter_map(|raw| Some(raw.as_str()?.into_owned()))
                .take(MOST)
                .collect()
        };
        Filter {
            tools: flag("toolsListChanged"),
            prompts: flag("promptsListChanged"),
            resources: flag("resourcesListChanged"),
            watched: texts("resourceSubscriptions"),
            tasks: texts("taskIds"),
        }
    }

    /// The same filter, with the URIs under which servers announce changes.
    pub(crate) fn watching(self, mut announced: impl FnMut(&str) -> Option<String>) -> Filter {
        let watched = self.watched.into_iter().map(|uri| announced(&uri).unwrap_or(uri)).collect();
        Filter { watched, ..self }
    }

    fn wants(&self, event: &Event) -> bool {
        match event.kind() {
            Event::ToolsChanged => self.tools,
            Event::PromptsChanged => self.prompts,
            Event::ResourcesChanged => self.resources,
            Event::ResourceUpdated(uri) => self.watched.iter().any(|watched| **watched == **uri),
            Event::TaskChanged(id) => self.tasks.iter().any(|task| **task == **id),
            Event::Relayed(..) => false,
        }
    }

    /// The accepted filter, for the acknowledgement.
    fn accepted(&self) -> Value {
        let mut members = Map::new();
        for (name, wanted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if wanted {
                members.insert(name.to_owned(), Value::Bool(true));
            }
        }
        if !self.watched.is_empty() {
            members.insert("resourceSubscriptions".to_owned(), json!(self.watched));
        }
        if !self.tasks.is_empty() {
            members.insert("taskIds".to_owned(), json!(self.tasks));
        }
        Value::Object(members)
    }
}

pub(crate) struct Subscription<'a> {
    pub(crate) id: &'a Id,
    pub(crate) caller_session: CallerSession,
    pub(crate) outlet: &'a Stream,
    pub(crate) ports: &'a ContextPorts,
}

impl Subscription<'_> {
    /// Sends the acknowledgement, then every change that passes the filter, until the hub closes.
    pub(crate) async fn run(&self, filter: &Filter, hub: &Hub) -> Result<(), Fault> {
        // The listener starts before the acknowledgement, so that no change is lost in between.
        let mut events = hub.listen(self.caller_session.clone());
        let accepted = Json::from(&json!({"notifications": filter.accepted()}));
        self.tell("notifications/subscriptions/acknowledged", &accepted).await?;
        while let Some(event) = events.next().await {
            if filter.wants(&event)
                && self.ports.controls.shows(&event, &self.caller_session.caller)
                && let Some(params) = self.params_of(&event)
            {
                self.tell(event.method(), &params).await?;
            }
        }
        Ok(())
    }

    fn params_of(&self, event: &Event) -> Option<Json> {
        match event {
            Event::TaskChanged(id) => {
                self.ports.tasks.find(id, &self.caller_session.caller).ok()?.account().ok()
            }
            other => Some(other.params().unwrap_or_else(Json::empty_object)),
        }
    }

    /// Sends a notification with the subscription id in its `_meta`. Other members of `_meta` stay.
    async fn tell(&self, method: &str, params: &Json) -> Result<(), Fault> {
        let members = params.raw().as_object();
        let more =
            members.and_then(|members| members.get("_meta")?.as_object()?.without(&[meta::SUBSCRIPTION_ID]));
        let tag = format!(r#""{}":{}"#, meta::SUBSCRIPTION_ID, self.id.text());
        let meta = joined(&tag, more.as_ref());
        let others = members.and_then(|members| members.without(&["_meta"]));
        let params = joined(&format!(r#""_meta":{meta}"#), others.as_ref());
        let frame = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        match self.ports.guards.notice("", failwell_rpc::on_one_line(frame)).await {
            Some(frame) => self.outlet.push(frame).await,
            None => Ok(()),
        }
    }

    /// The result that ends a subscription normally.
    pub(crate) fn end(&self) -> Outcome {
        let meta = Some(Json::object([(meta::SUBSCRIPTION_ID, self.id.raw())].into_iter()));
        Outcome::Mcp { members: Fields::default(), meta, kind: ResultKind::Complete, cache: None }
    }
}

/// Writes an object of one serialized member and the members of another object.
fn joined(first: &str, others: Option<&Json>) -> String {
    match others.and_then(|others| others.text().strip_prefix('{')) {
        Some(rest) => format!("{{{first},{rest}"),
        None => format!("{{{first}}}"),
    }
}

/// Notifies a session of changes until it ends: lists always, resources if subscribed.
pub(crate) async fn tell_session(session: Arc<Session>, ports: Arc<ContextPorts>) {
    let caller_session = CallerSession { caller: session.caller.clone(), session: Some(session.number) };
    let mut events = ports.hub.listen(caller_session);
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = session.ended.cancelled() => None,
        };
        let Some(event) = event else { return };
        let wanted = match event.kind() {
            Event::ResourceUpdated(uri) => session.watches(uri),
            Event::TaskChanged(_) => false,
            _ => true,
        };
        if wanted && ports.controls.shows(&event, &session.caller) {
            let params = event.params().map(|params| format!(r#","params":{}"#, params.text()));
            let (method, params) = (event.method(), params.unwrap_or_default());
            let frame = format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#);
            if let Some(frame) = ports.guards.notice("", failwell_rpc::on_one_line(frame)).await {
                session.outbound.push_now(frame);
            }
        }
    }
}
