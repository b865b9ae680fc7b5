//! The state of the emulator, under one lock.

use failwell_emulator_http::{CallLog, FaultQueue};

use crate::call::Call;
use crate::fault_kind::FaultKind;
use crate::phone::device::Device;
use crate::webdriver::session::Session;

pub(crate) struct State {
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

    /// The phone as it was at first. Session numbers are not given out twice.
    pub(crate) fn reset(&mut self) {
        *self = State { sessions: self.sessions, ..State::new() };
    }

    /// A new session; the one before it, if any, is gone.
    pub(crate) fn open_session(&mut self, bundle: Option<String>) -> &Session {
        self.sessions += 1;
        self.session.insert(Session::new(self.sessions, bundle))
    }
}
