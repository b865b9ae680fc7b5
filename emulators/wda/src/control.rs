//! The handle with which tests steer a running emulator. `routes` offers the same over HTTP.

mod routes;

use std::sync::Arc;

use failwell_emulator_http::SharedState;
use serde_json::{Value, json};

use crate::call::Call;
use crate::fault_kind::Fault;
use crate::phone::device::Appearance;
use crate::state::State;

pub(crate) use routes::answer;

/// Steers a running emulator.
#[derive(Clone)]
pub struct Control {
    shared: Arc<SharedState<State>>,
}

impl Control {
    pub(crate) fn new(shared: Arc<SharedState<State>>) -> Control {
        Control { shared }
    }

    /// The phone as it was at first: the app before its login, no session, no faults, no log.
    pub fn reset(&self) {
        self.shared.lock().reset();
    }

    /// Injects a fault.
    pub fn fail(&self, fault: Fault) {
        self.shared.lock().faults.push(fault);
    }

    /// Removes all pending faults.
    pub fn clear_faults(&self) {
        self.shared.lock().faults.clear();
    }

    /// The logged calls, the oldest first.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.lock().calls.all()
    }

    /// Clears the call log.
    pub fn clear_calls(&self) {
        self.shared.lock().calls.clear();
    }

    /// The state of the app, for tests that do not look at the screen.
    pub fn dump(&self) -> Value {
        let state = self.shared.lock();
        let app = &state.device.app;
        json!({
            "session": state.session.as_ref().map(|session| &session.id),
            "front": state.device.front().0,
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
            "dark": state.device.appearance == Appearance::Dark,
            "locked": state.device.is_locked,
        })
    }
}
