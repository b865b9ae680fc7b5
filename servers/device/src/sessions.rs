//! Devices and the sessions of callers.

pub(crate) mod capabilities;
pub(crate) mod driver;
pub(crate) mod lease;
pub(crate) mod log;
pub(crate) mod queue;

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use failwell_fault::{Echo, Fault, Ref};
use failwell_sdk::{Context, nearest};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep, timeout};

use crate::artifacts::ArtifactStore;
use crate::device::{Appium, Chrome, Device, Simctl, WebDriverAgent};
use crate::reason;
use crate::screen::ElementRefs;
use crate::sessions::driver::{Driver, NOTICED};
use crate::sessions::log::SessionLog;
use crate::sessions::queue::{Queue, QueueError, QueuePermit};
use crate::settings::{DeviceSettings, DriverKind, Reach, Settings};
use crate::w3c::{CommandContext, DriverError, WebDriverClient};

/// Timeout of ending a session at the driver.
const ENDING: Duration = Duration::from_secs(10);
/// Maximum number of sessions waiting for one device.
const MOST_WAITING: usize = 32;

/// A configured device.
pub(crate) struct DeviceSlot {
    pub(crate) settings: DeviceSettings,
    driver: Driver,
    places: Queue,
    /// The end of its last session.
    left: Mutex<Option<Instant>>,
}

/// A caller's session on one device.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) caller: String,
    /// The owner of the files that the session stores.
    pub(crate) owner: String,
    pub(crate) slot: Arc<DeviceSlot>,
    capabilities: Map<String, Value>,
    device: Mutex<Option<Arc<dyn Device>>>,
    turns: Queue,
    refs: Mutex<ElementRefs>,
    log: Mutex<SessionLog>,
    used: Mutex<Instant>,
    _place: QueuePermit,
}

/// How a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Standing")]
pub(crate) enum SessionStatus {
    /// The driver knows it.
    Open,
    /// The driver or its session is gone; `recover_session` goes on under the same id.
    Lost,
}

/// All devices and sessions.
pub(crate) struct DeviceSessions {
    pub(crate) settings: Settings,
    pub(crate) slots: Vec<Arc<DeviceSlot>>,
    pub(crate) artifacts: ArtifactStore,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    is_swept: std::sync::Once,
}

impl Session {
    /// The device, unless the session is lost.
    pub(crate) fn device(&self) -> Result<Arc<dyn Device>, Fault> {
        self.device.lock().clone().ok_or_else(|| Fault::new(&reason::DEVICE_SESSION_GONE))
    }

    /// Marks the device as unreachable through this session.
    pub(crate) fn mark_lost(&self) {
        self.device.lock().take();
        self.refs().forget();
    }

    pub(crate) fn status(&self) -> SessionStatus {
        if self.device.lock().is_some() { SessionStatus::Open } else { SessionStatus::Lost }
    }

    pub(crate) fn refs(&self) -> MutexGuard<'_, ElementRefs> {
        self.refs.lock()
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, SessionLog> {
        self.log.lock()
    }

    pub(crate) fn idle(&self) -> Duration {
        self.used.lock().elapsed()
    }

    fn mark_used(&self) {
        *self.used.lock() = Instant::now();
    }

    /// Waits for exclusive use of the device.
    pub(crate) async fn turn(&self, longest: Duration) -> Result<QueuePermit, Fault> {
        self.mark_used();
        let turn = self.turns.enter(longest).await.map_err(|why| busy(why, "a call"))?;
        self.mark_used();
        Ok(turn)
    }

    /// Marks the session as lost if its driver was started by us and has died.
    pub(crate) async fn check_driver(&self, within: Duration) -> bool {
        let has_died = self.slot.driver.has_died(within).await;
        if has_died {
            self.mark_lost();
        }
        has_died
    }
}

fn busy(why: QueueError, who: &'static str) -> Fault {
    let why = match (why, who) {
        (QueueError::Full, _) => "too many wait for it already",
        (QueueError::TimedOut, "a call") => "the calls before this one take too long",
        (QueueError::TimedOut, _) => "all its sessions are in use",
    };
    Fault::new(&reason::DEVICE_BUSY).fact("why", why)
}

impl DeviceSessions {
    pub(crate) fn new(settings: Settings, artifacts: ArtifactStore) -> Arc<DeviceSessions> {
        let slot = |device: &DeviceSettings| {
            Arc::new(DeviceSlot {
                driver: Driver::new(device, &settings),
                places: Queue::new(device.sessions.max(1), MOST_WAITING),
                settings: device.clone(),
                left: Mutex::default(),
            })
        };
        let slots = settings.devices.iter().map(slot).collect();
        Arc::new(DeviceSessions {
            slots,
            artifacts,
            sessions: Mutex::default(),
            is_swept: std::sync::Once::new(),
            settings,
        })
    }

    /// The device that a caller names, or the first one.
    pub(crate) fn slot(&self, wanted: Option<&str>) -> Result<Arc<DeviceSlot>, Fault> {
        match (wanted, self.slots.as_slice()) {
            (_, []) => Err(Fault::new(&reason::DEVICE_NOT_CONFIGURED)),
            (None, [only, ..]) => Ok(only.clone()),
            (Some(name), all) => {
                let found = all.iter().find(|slot| slot.settings.name == name).cloned();
                found.ok_or_else(|| {
                    let names = all.iter().map(|slot| slot.settings.name.as_str());
                    Fault::new(&reason::DEVICE_UNKNOWN_DEVICE)
                        .fact("wanted", Echo::of_caller(name))
                        .nearest(nearest(name, names))
                })
            }
        }
    }

    /// The number of sessions on a device.
    pub(crate) fn in_use(&self, slot: &Arc<DeviceSlot>) -> usize {
        self.sessions.lock().values().filter(|session| Arc::ptr_eq(&session.slot, slot)).count()
    }

    /// The caller's sessions, oldest first.
    pub(crate) fn of_caller(&self, cx: &Context) -> Vec<Arc<Session>> {
        let caller = cx.client().caller.to_string();
        let mut own: Vec<Arc<Session>> =
            self.sessions.lock().values().filter(|session| session.caller == caller).cloned().collect();
        own.sort_by(|a, b| a.id.cmp(&b.id));
        own
    }

    /// The session that a caller names, or its only one. Another caller's session looks like an unknown one.
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

    /// Starts a session when the device is free.
    pub(crate) async fn start(
        self: &Arc<Self>,
        slot: Arc<DeviceSlot>,
        asked: &Map<String, Value>,
        wait: Duration,
        cx: &Context,
    ) -> Result<Arc<Session>, Fault> {
        self.start_sweeper();
        let capabilities = capabilities::resolve(&slot.settings, asked, &self.settings)?;
        self.clear_lost(&slot);
        let place = slot.places.enter(wait).await.map_err(|why| busy(why, "a session"))?;
        let device = self.connect(&slot, &capabilities).await?;
        let session = Arc::new(Session {
            id: format!("s{}", Ref::fresh()),
            caller: cx.client().caller.to_string(),
            owner: cx.client().caller.owner().to_owned(),
            log: Mutex::new(SessionLog::new(&slot.settings.name, slot.settings.driver.as_str())),
            slot,
            capabilities,
            device: Mutex::new(Some(device)),
            turns: Queue::new(1, self.settings.queue),
            refs: Mutex::default(),
            used: Mutex::new(Instant::now()),
            _place: place,
        });
        self.sessions.lock().insert(session.id.clone(), session.clone());
        Ok(session)
    }

    /// Starts a new driver session under the id of a lost one.
    pub(crate) async fn recover(&self, session: &Session) -> Result<(), Fault> {
        let old = session.device.lock().take();
        if let Some(device) = old {
            // The result is ignored, because the old session may already be gone.
            let _ = timeout(ENDING, device.end()).await;
        }
        session.refs().forget();
        let device = self.connect(&session.slot, &session.capabilities).await?;
        *session.device.lock() = Some(device);
        Ok(())
    }

    /// Ends a session here and at its driver, and reports the driver's failure.
    pub(crate) async fn end(&self, session: &Session) -> Result<(), Fault> {
        let known = self.sessions.lock().remove(&session.id);
        *session.slot.left.lock() = Some(Instant::now());
        let device = session.device.lock().take();
        let (Some(_), Some(device)) = (known, device) else { return Ok(()) };
        let tried = CommandContext { what: "ending sessions", driver: device.driver(), target: None };
        match timeout(ENDING, device.end()).await {
            // A session that is already gone has ended, and so has a session whose driver is gone.
            Ok(Err(DriverError::NotSent(_))) if session.slot.driver.has_died(NOTICED).await => Ok(()),
            Ok(Err(trouble)) if !trouble.ends_session() => Err(trouble.fault(tried)),
            Ok(_) => Ok(()),
            Err(_) => {
                let late = DriverError::TimedOut { access: crate::w3c::Access::Acts, limit: ENDING };
                Err(late.fault(tried))
            }
        }
    }

    /// Removes lost sessions, so that they do not block the device.
    fn clear_lost(&self, slot: &Arc<DeviceSlot>) {
        let mut sessions = self.sessions.lock();
        sessions.retain(|_, session| {
            !Arc::ptr_eq(&session.slot, slot) || session.status() == SessionStatus::Open
        });
    }

    async fn connect(
        &self,
        slot: &DeviceSlot,
        capabilities: &Map<String, Value>,
    ) -> Result<Arc<dyn Device>, Fault> {
        let (timeout, start) = (self.settings.timeout, self.settings.start_timeout);
        let kind = slot.settings.driver;
        let tried = CommandContext { what: "sessions", driver: kind.as_str(), target: None };
        if kind == DriverKind::Simctl {
            let program = match &slot.settings.reach {
                Reach::Command { program, .. } => program.clone(),
                Reach::Url { .. } => "xcrun".into(),
            };
            let udid = slot.settings.udid.clone().unwrap_or_else(|| "booted".to_owned());
            let (launcher, largest) = (self.settings.launcher.clone(), self.settings.largest_answer);
            let started = Simctl::start(launcher, program, udid, (timeout, start), largest).await;
            return started
                .map(|device| Arc::new(device) as Arc<dyn Device>)
                .map_err(|trouble| trouble.fault(tried));
        }
        let http = slot.driver.http().await?;
        let begun = WebDriverClient::start(http, timeout, start, capabilities).await;
        let (client, started) = begun.map_err(|trouble| not_started(trouble, tried))?;
        Ok(match kind {
            DriverKind::Appium => Arc::new(Appium::new(client, started)),
            DriverKind::WebDriverAgent => Arc::new(WebDriverAgent::new(client, started)),
            DriverKind::Chromedriver | DriverKind::Simctl => Arc::new(Chrome::new(client, started)),
        })
    }

    /// Ends idle sessions until this value is dropped.
    fn start_sweeper(self: &Arc<Self>) {
        self.is_swept.call_once(|| {
            let devices = Arc::downgrade(self);
            let pause = (self.settings.idle / 4).clamp(Duration::from_millis(200), Duration::from_secs(15));
            tokio::spawn(sweep(devices, pause));
        });
    }

    async fn sweep(&self) {
        let all: Vec<Arc<Session>> = self.sessions.lock().values().cloned().collect();
        for session in all {
            if session.idle() < self.settings.idle {
                continue;
            }
            // A session with a running action is not idle.
            if let Some(_turn) = session.turns.try_enter() {
                // The session is idle, so no caller waits for the result.
                let _ = self.end(&session).await;
            }
        }
        for slot in &self.slots {
            let is_left = slot.left.lock().is_some_and(|left| left.elapsed() >= self.settings.idle);
            let is_free = !self.sessions.lock().values().any(|session| Arc::ptr_eq(&session.slot, slot));
            if is_left && is_free {
                slot.left.lock().take();
                slot.driver.stop().await;
            }
        }
    }
}

async fn sweep(devices: Weak<DeviceSessions>, pause: Duration) {
    loop {
        sleep(pause).await;
        let Some(devices) = devices.upgrade() else { return };
        devices.sweep().await;
    }
}

/// A refused start means that no session exists.
fn not_started(trouble: DriverError, tried: CommandContext<'_>) -> Fault {
    match trouble {
        DriverError::Refused { describe, .. } => {
            Fault::new(&reason::DEVICE_SESSION_NOT_CREATED).note("driver", describe)
        }
        other => other.fault(tried),
    }
}
