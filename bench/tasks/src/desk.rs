//! The server under test, and its service.

use std::sync::Arc;
use std::time::Duration;

use failwell_audit::{Journal, Style};
use failwell_emulator_rtm::{Emulator, Options, Permission, Seed, SeedList, SeedTask};
use failwell_fault::Secret;
use failwell_policy::Caller;
use failwell_rpc::{Face, Id, ReplyTo};
use failwell_server::{House, Numbers, PlainCall, PlainFrom, Settings as HouseSettings};
use failwell_tasks::{ApiKey, PaceIs, Settings, TokenStore, tasks};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub struct Desk {
    emulator: Emulator,
    /// Trusts what it knows for an hour.
    house: Arc<House>,
    /// Looks for changes at every call.
    eager: Arc<House>,
}

impl Desk {
    pub async fn new(count: usize) -> Desk {
        let options = Options { seed: seed(count), ..Options::default() };
        let emulator = Emulator::start(options).await.expect("the emulator starts");
        let key = ApiKey {
            key: Secret::new(emulator.api_key().to_owned()),
            secret: Secret::new(emulator.secret().to_owned()),
        };
        let settings = Settings {
            service: emulator.base_url(),
            keep: TokenStore::File,
            pace: PaceIs::Free,
            fresh: Duration::from_secs(3_600),
            ..Settings::new(Some(key), None)
        };
        let eager = Settings { fresh: Duration::ZERO, ..settings.clone() };
        let desk = Desk { emulator, house: house(settings), eager: house(eager) };
        for house in [&desk.house, &desk.eager] {
            desk.log_in(house).await;
            call(house, "rtm_findTasks", json!({})).await;
        }
        // What was read is older than what changes now.
        desk.emulator.control().advance_clock(Duration::from_secs(60));
        desk
    }

    async fn log_in(&self, house: &Arc<House>) {
        let begun = call(house, "rtm_authenticate", json!({})).await;
        let url = begun["url"].as_str().expect("an address");
        let frob = url.split("frob=").nth(1).and_then(|rest| rest.split('&').next()).expect("a frob");
        self.emulator.control().approve(frob, Permission::Delete);
        while call(house, "rtm_getAuthStatus", json!({})).await["authenticated"] != json!(true) {
            call(house, "rtm_authenticate", json!({})).await;
        }
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        call(&self.house, tool, arguments).await
    }

    /// Somebody changes one task.
    pub async fn change(&self, round: usize) {
        self.emulator.control().advance_clock(Duration::from_secs(10));
        let task = format!("task number {}", 100 + round);
        self.call("rtm_updateTask", json!({"task": task, "priority": "2"})).await;
    }

    /// The eager one looks for changes.
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
        let mut numbers = Numbers::default();
        self.eager.room().metrics(&mut numbers);
        let text = numbers.into_text();
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.and_then(|value| value.trim().parse().ok()).expect("a number")
    }
}

fn house(settings: Settings) -> Arc<House> {
    let room = tasks(settings).expect("the room builds");
    House::new(Arc::new(room), HouseSettings::default(), Journal::to(Style::Json, std::io::sink()))
        .expect("a house")
}

async fn call(house: &Arc<House>, tool: &str, arguments: Value) -> Value {
    let call = PlainCall::Execute { name: tool.to_owned(), arguments };
    let to = ReplyTo::request(Id::from_number(1), Face::Rpc);
    let from = PlainFrom { caller: &Caller::anonymous(), connection: "", request: None };
    let reply = house.walk_plain(to, Ok(call), from, CancellationToken::new()).await;
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
