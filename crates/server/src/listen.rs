//! Telling clients of changes: `subscriptions/listen` in the modern era, plain notices in a session.

use std::sync::Arc;

use failwell_fault::Fault;
use failwell_render::{Outcome, ResultKind};
use failwell_rpc::{Id, Json, Object, Raw, meta};
use serde_json::{Map, Value, json};

use crate::hub::{Event, Hub};
use crate::party::Party;
use crate::session::Session;
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
        match event {
            Event::ToolsChanged => self.tools,
            Event::PromptsChanged => self.prompts,
            Event::ResourcesChanged => self.resources,
            Event::ResourceUpdated(uri) => self.watched.iter().any(|watched| **watched == **uri),
            Event::TaskChanged(id) => self.tasks.iter().any(|task| **task == **id),
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
}

impl Listening<'_> {
    /// Tells until told to stop: first that the filter was heard, then every change it lets through.
    pub(crate) async fn run(&self, filter: &Filter, hub: &Hub) -> Result<(), Fault> {
        // Listening starts before the acknowledgement, so that nothing falls between the two.
        let mut events = hub.listen(self.party.clone());
        let mut params = self.tagged(Map::new());
        params.insert("notifications".to_owned(), filter.accepted());
        self.tell("notifications/subscriptions/acknowledged", &params).await?;
        while let Some(event) = events.next().await {
            if filter.wants(&event)
                && let Some(params) = self.params_of(&event)
            {
                self.tell(event.method(), &params).await?;
            }
        }
        Ok(())
    }

    fn params_of(&self, event: &Event) -> Option<Map<String, Value>> {
        let members = match event {
            Event::ResourceUpdated(uri) => Map::from_iter([("uri".to_owned(), json!(&**uri))]),
            Event::TaskChanged(id) => self.tasks.find(id, &self.party.caller).ok()?.account(),
            Event::ToolsChanged | Event::PromptsChanged | Event::ResourcesChanged => Map::new(),
        };
        Some(self.tagged(members))
    }

    fn tagged(&self, mut params: Map<String, Value>) -> Map<String, Value> {
        let id: Value = serde_json::from_str(self.id.text()).unwrap_or(Value::Null);
        params.insert("_meta".to_owned(), json!({meta::SUBSCRIPTION_ID: id}));
        params
    }

    async fn tell(&self, method: &str, params: &Map<String, Value>) -> Result<(), Fault> {
        self.outlet.push(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()).await
    }

    /// The result that ends a subscription in good order.
    pub(crate) fn farewell(&self) -> Result<Outcome, Fault> {
        use failwell_fault::{OrFault, reason};
        let tag = format!("{{\"{}\":{}}}", meta::SUBSCRIPTION_ID, self.id.text());
        let parsed: Value = serde_json::from_str(&tag).or_fault(&reason::SERVER_BUG)?;
        Ok(Outcome::Mcp {
            members: Json::of(&json!({})).or_fault(&reason::SERVER_BUG)?,
            meta: Some(Json::of(&parsed).or_fault(&reason::SERVER_BUG)?),
            kind: ResultKind::Complete,
            cache: None,
        })
    }
}

/// Tells a session of changes until it ends: lists always, resources when watched.
pub(crate) async fn tell_session(session: Arc<Session>, hub: Hub) {
    let party = Party { caller: session.caller.clone(), session: Some(session.number) };
    let mut events = hub.listen(party);
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = session.ended.cancelled() => None,
        };
        let Some(event) = event else { return };
        let params = match &event {
            Event::ResourceUpdated(uri) if session.watches(uri) => Some(json!({"uri": &**uri})),
            Event::ResourceUpdated(_) | Event::TaskChanged(_) => continue,
            Event::ToolsChanged | Event::PromptsChanged | Event::ResourcesChanged => None,
        };
        let mut notice = json!({"jsonrpc": "2.0", "method": event.method()});
        if let (Some(params), Some(members)) = (params, notice.as_object_mut()) {
            members.insert("params".to_owned(), params);
        }
        session.outbound.push_now(notice.to_string());
    }
}
