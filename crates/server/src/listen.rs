//! Telling clients of changes: `subscriptions/listen` in the modern era, plain notices in a session.

use std::sync::Arc;

use failwell_fault::Fault;
use failwell_render::{Outcome, ResultKind};
use failwell_rpc::{Fields, Id, Json, Object, Raw, meta};
use serde_json::{Map, Value, json};

use crate::guarding::Porter;
use crate::hub::{Event, Hub};
use crate::party::Party;
use crate::session::Session;
use crate::shelf_desk::ShelfDesk;
use crate::stream::Stream;
use crate::task::Tasks;

/// The most resources or tasks one subscription may name.
const MOST: usize = 1_000;

/// What a modern client wants to hear of.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Filter {
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

    /// The resources that are watched.
    pub(crate) fn watched(&self) -> &[String] {
        &self.watched
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

    /// What will be told, as the acknowledgement repeats it.
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

/// Who listens, and where to.
pub(crate) struct Listening<'a> {
    pub(crate) id: &'a Id,
    pub(crate) party: Party,
    pub(crate) outlet: &'a Stream,
    pub(crate) tasks: &'a Tasks,
    pub(crate) porter: &'a Porter,
    pub(crate) shelf: Option<&'a ShelfDesk>,
}

impl Listening<'_> {
    /// Tells until told to stop: first that the filter was heard, then every change it lets through.
    pub(crate) async fn run(&self, filter: &Filter, hub: &Hub) -> Result<(), Fault> {
        // Listening starts before the acknowledgement, so that nothing falls between the two.
        let mut events = hub.listen(self.party.clone());
        let accepted = Json::from(&json!({"notifications": filter.accepted()}));
        self.tell("notifications/subscriptions/acknowledged", &accepted).await?;
        while let Some(event) = events.next().await {
            let may_hear = self.shelf.is_none_or(|shelf| shelf.lets_hear(&self.party.caller, &event));
            if filter.wants(&event)
                && may_hear
                && let Some(params) = self.params_of(&event)
            {
                self.tell(event.method(), &params).await?;
            }
        }
        Ok(())
    }

    fn params_of(&self, event: &Event) -> Option<Json> {
        match event {
            Event::TaskChanged(id) => self.tasks.find(id, &self.party.caller).ok()?.account().ok(),
            other => Some(other.params().unwrap_or_else(Json::empty_object)),
        }
    }

    /// Every notice says to which subscription it belongs, beside what its `_meta` says already.
    async fn tell(&self, method: &str, params: &Json) -> Result<(), Fault> {
        let members = params.raw().as_object();
        let more =
            members.and_then(|members| members.get("_meta")?.as_object()?.without(&[meta::SUBSCRIPTION_ID]));
        let tag = format!(r#""{}":{}"#, meta::SUBSCRIPTION_ID, self.id.text());
        let meta = joined(&tag, more.as_ref());
        let others = members.and_then(|members| members.without(&["_meta"]));
        let params = joined(&format!(r#""_meta":{meta}"#), others.as_ref());
        let frame = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        match self.porter.notice("", failwell_rpc::on_one_line(frame)).await {
            Some(frame) => self.outlet.push(frame).await,
            None => Ok(()),
        }
    }

    /// The result that ends a subscription in good order.
    pub(crate) fn farewell(&self) -> Outcome {
        let meta = Some(Json::object([(meta::SUBSCRIPTION_ID, self.id.raw())].into_iter()));
        Outcome::Mcp { members: Fields::default(), meta, kind: ResultKind::Complete, cache: None }
    }
}

/// The text of an object: one member as it is written, and those of another object.
fn joined(first: &str, others: Option<&Json>) -> String {
    match others.and_then(|others| others.text().strip_prefix('{')) {
        Some(rest) => format!("{{{first},{rest}"),
        None => format!("{{{first}}}"),
    }
}

/// Tells a session of changes until it ends: lists always, resources when watched.
pub(crate) async fn tell_session(
    session: Arc<Session>,
    hub: Hub,
    porter: Arc<Porter>,
    shelf: Option<ShelfDesk>,
) {
    let party = Party { caller: session.caller.clone(), session: Some(session.number) };
    let mut events = hub.listen(party);
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
        if wanted && shelf.as_ref().is_none_or(|shelf| shelf.lets_hear(&session.caller, &event)) {
            let params = event.params().map(|params| format!(r#","params":{}"#, params.text()));
            let (method, params) = (event.method(), params.unwrap_or_default());
            let frame = format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#);
            if let Some(frame) = porter.notice("", failwell_rpc::on_one_line(frame)).await {
                session.outbound.push_now(frame);
            }
        }
    }
}
