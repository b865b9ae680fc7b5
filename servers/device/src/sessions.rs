//! Who works on which device.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use failwell_fault::{Echo, Fault, Ref, reason};
use failwell_server::{Context, nearest};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep, timeout};

use crate::capabilities;
use crate::device::{Agent, Appium, Chrome, Device, Simctl};
use crate::driver::{Driver, NOTICED};
use crate::keep::Keep;
use crate::log::Log;
use crate::queue::{NoTurn, Queue, Turn};
use crate::screen::Refs;
use crate::settings::{DeviceSettings, DriverKind, Reach, Settings};
use crate::w3c::{Client, Tried, Trouble};

/// How long the driver has to end a session.
const ENDING: Duration = Duration::from_secs(10);
/// Sessions that may wait for one device.
const MOST_WAITING: usize = 32;

/// One device of the settings.
pub(crate) struct Post {
    pub(crate) settings: DeviceSettings,
    driver: Driver,
    places: Queue,
    /// When its last session ended.
    left: Mutex<Option<Instant>>,
}

/// One caller's work on one device.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) caller: String,
    pub(crate) post: Arc<Post>,
    capabilities: Map<String, Value>,
    device: Mutex<Option<Arc<dyn Device>>>,
    turns: Queue,
    refs: Mutex<Refs>,
    log: Mutex<Log>,
    used: Mutex<Instant>,
    _place: Turn,
}

/// How a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Standing {
    /// The driver knows it.
    Open,
    /// The driver or its session is gone; `recover_session` goes on under the same id.
    Lost,
}

/// All devices and sessions.
pub(crate) struct Desk {
    pub(crate) settings: Settings,
    pub(crate) posts: Vec<Arc<Post>>,
    pub(crate) keep: Keep,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    is_swept: std::sync::Once,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// The device, unless it is lost.
    pub(crate) fn device(&self) -> Result<Arc<dyn Device>, Fault> {
        lock(&self.device).clone().ok_or_else(|| Fault::new(&reason::DEVICE_SESSION_GONE))
    }

    /// The device is no longer to be reached through this session.
    pub(crate) fn lose(&self) {
        lock(&self.device).take();
        self.refs().forget();
    }

    pub(crate) fn standing(&self) -> Standing {
        if lock(&self.device).is_some() { Standing::Open } else { Standing::Lost }
    }

    pub(crate) fn refs(&self) -> MutexGuard<'_, Refs> {
        lock(&self.refs)
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        lock(&self.log)
    }

    pub(crate) fn idle(&self) -> Duration {
        lock(&self.used).elapsed()
    }

    fn touch(&self) {
        *lock(&self.used) = Instant::now();
    }

    /// This caller's turn at the device.
    pub(crate) async fn turn(&self, longest: Duration) -> Result<Turn, Fault> {
        self.touch();
        let turn = self.turns.enter(longest).await.map_err(|why| busy(why, "a call"))?;
        self.touch();
        Ok(turn)
    }

    /// A driver of ours that died takes the session with it.
    pub(crate) async fn check_driver(&self, within: Duration) -> bool {
        let has_died = self.post.driver.has_died(within).await;
        if has_died {
            self.lose();
        }
        has_died
    }
}

fn busy(why: NoTurn, who: &'static str) -> Fault {
    let why = match (why, who) {
        (NoTurn::Full, _) => "too many wait for it already",
        (NoTurn::Late, "a call") => "the calls before this one take too long",
        (NoTurn::Late, _) => "all its sessions are in use",
    };
    Fault::new(&reason::DEVICE_BUSY).fact("why", why)
}

impl Desk {
    pub(crate) fn new(settings: Settings, keep: Keep) -> Arc<Desk> {
        let post = |device: &DeviceSettings| {
            Arc::new(Post {
                driver: Driver::new(device, &settings),
                places: Queue::new(device.sessions.max(1), MOST_WAITING),
                settings: device.clone(),
                left: Mutex::default(),
            })
        };
        let posts = settings.devices.iter().map(post).collect();
        Arc::new(Desk { posts, keep, sessions: Mutex::default(), is_swept: std::sync::Once::new(), settings })
    }

    /// The device a caller names, or the only one there is.
    pub(crate) fn post(&self, wanted: Option<&str>) -> Result<Arc<Post>, Fault> {
        match (wanted, self.posts.as_slice()) {
            (_, []) => Err(Fault::new(&reason::DEVICE_NOT_CONFIGURED)),
            (None, [only, ..]) => Ok(only.clone()),
            (Some(name), all) => {
                let found = all.iter().find(|post| post.settings.name == name).cloned();
                found.ok_or_else(|| {
                    let names = all.iter().map(|post| post.settings.name.as_str());
                    Fault::new(&reason::DEVICE_UNKNOWN_DEVICE)
                        .fact("wanted", Echo::of_caller(name))
                        .nearest(nearest(name, names))
                })
            }
        }
    }

    /// How many sessions a device has.
    pub(crate) fn in_use(&self, post: &Arc<Post>) -> usize {
        lock(&self.sessions).values().filter(|session| Arc::ptr_eq(&session.post, post)).count()
    }

    /// A caller's sessions, the oldest first.
    pub(crate) fn of_caller(&self, cx: &Context) -> Vec<Arc<Session>> {
        let caller = cx.client().caller.to_string();
        let mut own: Vec<Arc<Session>> =
            lock(&self.sessions).values().filter(|session| session.caller == caller).cloned().collect();
        own.sort_by(|a, b| a.id.cmp(&b.id));
        own
    }

    /// The session a caller names, or its only one. Another caller's is as unknown as one that never was.
    pub(crate) fn session(&self, wanted: Option<&str>, cx: &Context) -> Result<Arc<Session>, Fault> {
        let own = self.of_caller(cx);
        match (wanted, own.as_slice()) {
            (Some(id), own) => {
                let found = own.iter().find(|session| session.id == id).cloned();
                found.ok_or_else(|| {
                    Fault::new(&reason::DEVICE_UNKNOWN_SESSION).fact("wanted", Echo::of_caller(id))
                })
            }
            (None, [only]) => Ok(only.clone()),
            (None, []) => Err(Fault::new(&reason::DEVICE_NO_SESSION)),
            (None, several) => Err(Fault::new(&reason::DEVICE_WHICH_SESSION).fact("count", several.len())),
        }
    }

    /// Starts a session, when the device is free.
    pub(crate) async fn start(
        self: &Arc<Self>,
        post: Arc<Post>,
        asked: &Map<String, Value>,
        wait: Duration,
        cx: &Context,
    ) -> Result<Arc<Session>, Fault> {
        self.sweep_from_now_on();
        let capabilities = capabilities::merged(&post.settings, asked, &self.settings)?;
        self.clear_lost(&post);
        let place = post.places.enter(wait).await.map_err(|why| busy(why, "a session"))?;
        let device = self.connect(&post, &capabilities).await?;
        let session = Arc::new(Session {
            id: format!("s{}", Ref::fresh()),
            caller: cx.client().caller.to_string(),
            log: Mutex::new(Log::new(&post.settings.name, post.settings.driver.as_str())),
            post,
            capabilities,
            device: Mutex::new(Some(device)),
            turns: Queue::new(1, self.settings.queue),
            refs: Mutex::default(),
            used: Mutex::new(Instant::now()),
            _place: place,
        });
        lock(&self.sessions).insert(session.id.clone(), session.clone());
        Ok(session)
    }

    /// A new session at the driver under the id of a lost one.
    pub(crate) async fn recover(&self, session: &Session) -> Result<(), Fault> {
        let old = lock(&session.device).take();
        if let Some(device) = old {
            // What the driver says to that is of no interest: it may be as lost as it seems.
            let _ = timeout(ENDING, device.end()).await;
        }
        session.refs().forget();
        let device = self.connect(&session.post, &session.capabilities).await?;
        *lock(&session.device) = Some(device);
        Ok(())
    }

    /// Ends a session here and at its driver. Says what the driver made of it.
    pub(crate) async fn end(&self, session: &Session) -> Result<(), Fault> {
        let known = lock(&self.sessions).remove(&session.id);
        *lock(&session.post.left) = Some(Instant::now());
        let device = lock(&session.device).take();
        let (Some(_), Some(device)) = (known, device) else { return Ok(()) };
        let tried = Tried { what: "ending sessions", driver: device.driver(), aim: None };
        match timeout(ENDING, device.end()).await {
            // One that is gone already has ended, and so has one whose driver is.
            Ok(Err(Trouble::NotSent(_))) if session.post.driver.has_died(NOTICED).await => Ok(()),
            Ok(Err(trouble)) if !trouble.ends_session() => Err(trouble.fault(tried)),
            Ok(_) => Ok(()),
            Err(_) => {
                let late = Trouble::Late { touch: crate::w3c::Touch::Acts, limit: ENDING };
                Err(late.fault(tried))
            }
        }
    }

    /// Sessions whose driver is gone hold no device against a new one.
    fn clear_lost(&self, post: &Arc<Post>) {
        let mut sessions = lock(&self.sessions);
        sessions
            .retain(|_, session| !Arc::ptr_eq(&session.post, post) || session.standing() == Standing::Open);
    }

    async fn connect(
        &self,
        post: &Post,
        capabilities: &Map<String, Value>,
    ) -> Result<Arc<dyn Device>, Fault> {
        let (timeout, start) = (self.settings.timeout, self.settings.start_timeout);
        let kind = post.settings.driver;
        let tried = Tried { what: "sessions", driver: kind.as_str(), aim: None };
        if kind == DriverKind::Simctl {
            let program = match &post.settings.reach {
                Reach::Command { program, .. } => program.clone(),
                Reach::Url { .. } => "xcrun".into(),
            };
            let udid = post.settings.udid.clone().unwrap_or_else(|| "booted".to_owned());
            let (launcher, largest) = (self.settings.launcher.clone(), self.settings.largest_answer);
            let started = Simctl::start(launcher, program, udid, (timeout, start), largest).await;
            return started
                .map(|device| Arc::new(device) as Arc<dyn Device>)
                .map_err(|trouble| trouble.fault(tried));
        }
        let line = post.driver.line().await?;
        let begun = Client::start(line, timeout, start, capabilities).await;
        let (client, started) = begun.map_err(|trouble| not_started(trouble, tried))?;
        Ok(match kind {
            DriverKind::Appium => Arc::new(Appium::new(client, started)),
            DriverKind::WebDriverAgent => Arc::new(Agent::new(client, started)),
            DriverKind::Chromedriver | DriverKind::Simctl => Arc::new(Chrome::new(client, started)),
        })
    }

    /// Ends what nobody uses, for as long as there is a desk.
    fn sweep_from_now_on(self: &Arc<Self>) {
        self.is_swept.call_once(|| {
            let desk = Arc::downgrade(self);
            let pause = (self.settings.idle / 4).clamp(Duration::from_millis(200), Duration::from_secs(15));
            tokio::spawn(sweep(desk, pause));
        });
    }

    async fn sweep(&self) {
        let all: Vec<Arc<Session>> = lock(&self.sessions).values().cloned().collect();
        for session in all {
            if session.idle() < self.settings.idle {
                continue;
            }
            // One that works is not idle, however long it takes.
            if let Some(_turn) = session.turns.try_enter() {
                // Nobody is there to be told.
                let _ = self.end(&session).await;
            }
        }
        for post in &self.posts {
            let is_left = lock(&post.left).is_some_and(|left| left.elapsed() >= self.settings.idle);
            let is_free = !lock(&self.sessions).values().any(|session| Arc::ptr_eq(&session.post, post));
            if is_left && is_free {
                lock(&post.left).take();
                post.driver.stop().await;
            }
        }
    }
}

async fn sweep(desk: Weak<Desk>, pause: Duration) {
    loop {
        sleep(pause).await;
        let Some(desk) = desk.upgrade() else { return };
        desk.sweep().await;
    }
}

/// A driver that refuses to start a session in whatever words has not started one.
fn not_started(trouble: Trouble, tried: Tried<'_>) -> Fault {
    match trouble {
        Trouble::Refused { words, .. } => {
            Fault::new(&reason::DEVICE_SESSION_NOT_CREATED).note("driver", words)
        }
        other => other.fault(tried),
    }
}
