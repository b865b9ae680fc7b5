//! A pipeline with the tasks server and the emulator.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use failwell_controls::{Settings as PipelineSettings, build_pipeline};
use failwell_emulator_rtm::{Control, Emulator, Options, Permission, Seed};
use failwell_fault::Secret;
use failwell_gateway::Gateway;
use failwell_journal::{Journal, LogStyle, MemoryLog};
use failwell_pipeline::{Call, IncomingRequest, Pipeline};
use failwell_process::Launcher;
use failwell_rpc::Caller;
use failwell_rpc::Dialect;
use failwell_sdk::{Info, Json, TestSession, ToolServer, Toolbox};
use failwell_tasks::{ApiKey, RateLimit, Settings, TokenStore, tasks};
use serde_json::{Value, json};

/// The pipeline, the emulator and the journal.
pub(crate) struct World {
    pub(crate) emulator: Option<Emulator>,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) settings: Settings,
    folder: PathBuf,
    log: MemoryLog,
    /// All responses to callers.
    sent: Mutex<String>,
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl World {
    /// An empty account with a login.
    pub(crate) async fn new() -> World {
        World::seeded(Seed::empty()).await
    }

    pub(crate) async fn seeded(seed: Seed) -> World {
        let world = World::logged_out(seed).await;
        world.log_in(Permission::Delete).await;
        world.control().clear_calls();
        world
    }

    /// An account without a login.
    pub(crate) async fn logged_out(seed: Seed) -> World {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("failwell-tasks-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        let emulator = Emulator::start(Options { seed, ..Options::default() }).await.expect("it starts");
        let key = ApiKey {
            key: Secret::new(emulator.api_key().to_owned()),
            secret: Secret::new(emulator.secret().to_owned()),
        };
        let settings = Settings {
            service: emulator.base_url(),
            keep: TokenStore::File,
            pace: RateLimit::Free,
            timeout: Duration::from_secs(5),
            pause: Duration::from_millis(5),
            fresh: Duration::ZERO,
            poll: Duration::from_millis(100),
            ..Settings::new(Some(key), Some(folder.clone()))
        };
        let log = MemoryLog::default();
        let pipeline = pipeline(&settings, log.clone());
        World { emulator: Some(emulator), pipeline, settings, folder, log, sent: Mutex::default() }
    }

    /// Another server with the same settings and an empty cache.
    pub(crate) fn afresh(&self) -> World {
        let log = MemoryLog::default();
        let (settings, folder) = (self.settings.clone(), PathBuf::from("/nonexistent"));
        World {
            emulator: None,
            pipeline: pipeline(&settings, log.clone()),
            settings,
            folder,
            log,
            sent: Mutex::default(),
        }
    }

    /// The same server behind a gateway, together with another one.
    pub(crate) fn behind_a_gateway(&self) -> World {
        let log = MemoryLog::default();
        let launcher = Launcher::of_this_program().expect("a launcher");
        let info = Info { name: "gateway", title: "Gateway", version: "1", instructions: "" };
        let other: Arc<dyn ToolServer> = Arc::new(Toolbox::new(info.clone()));
        let server: Arc<dyn ToolServer> = Arc::new(tasks(self.settings.clone()).expect("the server builds"));
        let servers = vec![("tasks".to_owned(), server), ("other".to_owned(), other)];
        let gateway = Gateway::new(info, Vec::new(), servers, &launcher);
        let journal = Journal::to(LogStyle::Json, log.clone());
        let pipeline = build_pipeline(Arc::new(gateway.clone()), PipelineSettings::default(), journal)
            .expect("a pipeline");
        gateway.announce_to(pipeline.hub());
        let (settings, folder) = (self.settings.clone(), PathBuf::from("/nonexistent"));
        World { emulator: None, pipeline, settings, folder, log, sent: Mutex::default() }
    }

    /// A session of a client with these capabilities.
    pub(crate) async fn session(&self, capabilities: Value) -> TestSession {
        TestSession::with_pipeline(self.pipeline.clone(), capabilities).await.expect("a session")
    }

    pub(crate) fn control(&self) -> Control {
        self.emulator.as_ref().expect("an emulator").control()
    }

    /// Logs in like a user and returns the token.
    pub(crate) async fn log_in(&self, permission: Permission) -> String {
        let begun = self.call("rtm_authenticate", json!({})).await.expect("begun");
        let frob = frob_of(begun["url"].as_str().expect("an address"));
        assert!(self.control().approve(&frob, permission), "the emulator knows {frob}");
        let done = self.call("rtm_authenticate", json!({})).await.expect("done");
        assert_eq!(done["authenticated"], json!(true), "{done}");
        self.token()
    }

    /// The stored token.
    pub(crate) fn token(&self) -> String {
        let folder = std::fs::read_dir(self.folder.join("tasks")).expect("a folder");
        let file = folder
            .map(|entry| entry.expect("an entry").path())
            .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("token-")));
        std::fs::read_to_string(file.expect("a token")).expect("text").trim().to_owned()
    }

    /// Calls a tool. Returns its result or its fault object.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let call = Call::tool(tool.to_owned(), Json::from(&arguments));
        let caller = Caller::anonymous();
        let incoming = IncomingRequest::in_process(Dialect::Rpc, &caller);
        let reply = self.pipeline.handle_call(incoming, Ok(call)).await.reply;
        let text = String::from_utf8(reply.expect("an answer").body).expect("text");
        self.sent.lock().unwrap().push_str(&text);
        let mut body: Value = serde_json::from_str(&text).expect("JSON");
        match body.get_mut("result").map(Value::take) {
            Some(result) => Ok(result),
            None => Err(body["error"]["data"].take()),
        }
    }

    /// Calls a tool that must succeed.
    pub(crate) async fn done(&self, tool: &str, arguments: Value) -> Value {
        let shown = arguments.to_string();
        self.call(tool, arguments).await.unwrap_or_else(|failure| panic!("{tool} {shown}: {failure}"))
    }

    /// Calls a tool that must fail with this reason.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value, reason: &str) -> Value {
        let shown = arguments.to_string();
        let failure = self.call(tool, arguments).await.expect_err(&format!("{tool} {shown} fails"));
        assert_eq!(failure["reason"], json!(reason), "{tool} {shown}: {failure}");
        failure
    }

    /// Adds a task and returns its id.
    pub(crate) async fn add(&self, name: &str) -> String {
        let made = self.done("rtm_createTask", json!({"name": name})).await;
        made["task"]["id"].as_str().expect("an id").to_owned()
    }

    /// The number of tasks with this name in the account, without deleted ones.
    pub(crate) fn count(&self, name: &str) -> usize {
        let dump = self.control().dump();
        let series = dump["taskseries"].as_array().expect("a list").clone();
        let alive = series.iter().filter(|series| series["name"] == json!(name));
        alive
            .flat_map(|series| series["tasks"].as_array().cloned().unwrap_or_default())
            .filter(|task| task["deleted"].is_null())
            .count()
    }

    /// The whole journal.
    pub(crate) fn journal(&self) -> String {
        self.pipeline.journal().flush();
        self.log.text()
    }

    /// All responses to callers.
    pub(crate) fn sent(&self) -> String {
        self.sent.lock().unwrap().clone()
    }
}

fn pipeline(settings: &Settings, log: MemoryLog) -> Arc<Pipeline> {
    let server = tasks(settings.clone()).expect("the server builds");
    let journal = Journal::to(LogStyle::Json, log);
    build_pipeline(Arc::new(server), PipelineSettings::default(), journal).expect("the pipeline builds")
}

pub(crate) fn frob_of(url: &str) -> String {
    let (_, after) = url.split_once("frob=").expect("a frob");
    after.split('&').next().expect("a frob").to_owned()
}
