//! The state of the emulator, under one lock.

use failwell_emulator_http::{CallLog, EmulatorState, FaultQueue};
use serde_json::{Value, json};

use crate::call::Call;
use crate::fault_kind::FaultKind;
use crate::phone::device::{Appearance, Device};
use crate::webdriver::session::Session;

pub struct State {
    pub(crate) device: Device,
    pub(crate) session: Option<Session>,
    pub(crate) faults: FaultQueue<FaultKind>,
    pub(crate) calls: CallLog<Call>,
    sessions: u64,
}

impl State {
    pub(crate) fn new() -> State {
        let mut state = State {
            device: Device::new(),
            session: None,
            faults: FaultQueue::default(),
            calls: CallLog::default(),
            sessions: 0,
        };
        state.device.app.launch(vec![]);
        state
    }

    /// A new session; the one before it, if any, is gone.
    pub(crate) fn open_session(&mut self, bundle: Option<String>) -> &Session {
        self.sessions += 1;
        self.session.insert(Session::new(self.sessions, bundle))
    }
}

impl EmulatorState for State {
    type Kind = FaultKind;
    type Call = Call;

    const ACTIONS: &'static [&'static str] = &["reset", "fail", "calls", "dump"];

    /// The phone before the app's login, without session, faults and log. Session numbers are not used twice.
    fn reset(&mut self) {
        *self = State { sessions: self.sessions, ..State::new() };
    }

    fn faults(&mut self) -> &mut FaultQueue<FaultKind> {
        &mut self.faults
    }

    fn calls(&mut self) -> &mut CallLog<Call> {
        &mut self.calls
    }

    /// The state of the app, for tests that do not look at the screen.
    fn dump(&self) -> Value {
        let app = &self.device.app;
        json!({
            "session": self.session.as_ref().map(|session| &session.id),
            "front": self.device.front().0,
            "user": app.user,
            "username": app.username,
            "typed_password": app.password.chars().count(),
            "message": app.message,
            "tab": app.tab.title(),
            "open": app.open,
            "scroll": app.scroll,
            "goods": app.goods,
            "basket": app.basket,
            "size": app.size_name(),
            "status": app.status,
            "notifications": app.notifications,
            "alert": app.alert.as_ref().map(|alert| &alert.title),
            "dark": self.device.appearance == Appearance::Dark,
            "locked": self.device.is_locked,
        })
    }
}
