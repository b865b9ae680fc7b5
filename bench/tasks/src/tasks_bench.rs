//! The server under test, and its service.

use std::sync::Arc;
use std::time::Duration;

use failwell_controls::{Settings as PipelineSettings, build_pipeline};
use failwell_emulator_rtm::{Emulator, Options, Permission, Seed, SeedList, SeedTask};
use failwell_fault::Secret;
use failwell_journal::{Journal, LogStyle};
use failwell_pipeline::{Call, IncomingRequest, Pipeline};
use failwell_rpc::Caller;
use failwell_rpc::Dialect;
use failwell_tasks::{ApiKey, RateLimit, Settings, TokenStore, tasks};
use failwell_toolbox::{Json, MetricsText};
use serde_json::{Value, json};

pub struct TasksBench {
    emulator: Emulator,
    /// Uses cached tasks for an hour.
    pipeline: Arc<Pipeline>,
    /// Asks the service for changes at every call.
    eager: Arc<Pipeline>,
}

impl TasksBench {
    pub async fn new(count: usize) -> TasksBench {
        let options = Options { seed: seed(count), ..Options::default() };
        let emulator = Emulator::start(options).await.expect("the emulator starts");
        let key = ApiKey {
            key: Secret::new(emulator.api_key().to_owned()),
            secret: Secret::new(emulator.secret().to_owned()),
        };
        let settings = Settings {
            service: emulator.base_url(),
            keep: TokenStore::File,
            pace: RateLimit::Free,
            fresh: Duration::from_secs(3_600),
            ..Settings::new(Some(key), None)
        };
        let eager = Settings { fresh: Duration::ZERO, ..settings.clone() };
        let bench = TasksBench { emulator, pipeline: pipeline(settings), eager: pipeline(eager) };
        for pipeline in [&bench.pipeline, &bench.eager] {
            bench.log_in(pipeline).await;
            call(pipeline, "rtm_findTasks", json!({})).await;
        }
        // The clock advances, so that the following change is newer than the cached data.
        bench.emulator.control().advance_clock(Duration::from_secs(60));
        bench
    }

    async fn log_in(&self, pipeline: &Arc<Pipeline>) {
        let begun = call(pipeline, "rtm_authenticate", json!({})).await;
        let url = begun["url"].as_str().expect("an address");
        let frob = url.split("frob=").nth(1).and_then(|rest| rest.split('&').next()).expect("a frob");
        self.emulator.control().approve(frob, Permission::Delete);
        while call(pipeline, "rtm_getAuthStatus", json!({})).await["authenticated"] != json!(true) {
            call(pipeline, "rtm_authenticate", json!({})).await;
        }
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        call(&self.pipeline, tool, arguments).await
    }

    /// Changes one task.
    pub async fn change(&self, round: usize) {
        self.emulator.control().advance_clock(Duration::from_secs(10));
        let task = format!("task number {}", 100 + round);
        self.call("rtm_updateTask", json!({"task": task, "priority": "2"})).await;
    }

    /// Makes the `eager` server ask for changes.
    pub async fn look(&self) {
        call(&self.eager, "rtm_findTasks", json!({"filter": "priority:2", "limit": 1})).await;
    }

    pub fn bytes(&self, kind: &str) -> u64 {
        self.metric(&format!("failwell_tasks_sync_bytes_total{{kind=\"{kind}\"}}"))
    }

    pub fn updates(&self) -> u64 {
        self.metric("failwell_tasks_syncs_total{kind=\"update\"}")
    }

    fn metric(&self, name: &str) -> u64 {
        let mut numbers = MetricsText::default();
        self.eager.server().metrics(&mut numbers);
        let text = numbers.into_text();
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.and_then(|value| value.trim().parse().ok()).expect("a number")
    }
}

fn pipeline(settings: Settings) -> Arc<Pipeline> {
    let server = tasks(settings).expect("the server builds");
    build_pipeline(
        Arc::new(server),
        PipelineSettings::default(),
        Journal::to(LogStyle::Json, std::io::sink()),
    )
    .expect("a pipeline")
}

async fn call(pipeline: &Arc<Pipeline>, tool: &str, arguments: Value) -> Value {
    let call = Call::tool(tool.to_owned(), Json::from(&arguments));
    let caller = Caller::anonymous();
    let reply =
        pipeline.handle_call(IncomingRequest::in_process(Dialect::Rpc, &caller), Ok(call)).await.reply;
    let mut body: Value = serde_json::from_slice(&reply.expect("an answer").body).expect("JSON");
    assert!(body.get("error").is_none(), "{tool}: {body}");
    body["result"].take()
}

fn seed(count: usize) -> Seed {
    let task = |number: usize| SeedTask {
        name: format!("task number {number}"),
        due: (number % 3 > 0).then(|| format!("2031-{:02}-{:02}", number % 12 + 1, number % 28 + 1)),
        priority: (number % 4 > 0).then_some((number % 4) as u8),
        tags: if number % 2 == 0 { vec![format!("tag{}", number % 10)] } else { Vec::new() },
        ..SeedTask::default()
    };
    let list = |index: usize| SeedList {
        name: format!("List {index}"),
        tasks: (0..count).filter(|number| number % 20 == index).map(task).collect(),
        ..SeedList::default()
    };
    Seed { lists: (0..20).map(list).collect(), ..Seed::empty() }
}
