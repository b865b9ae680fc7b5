//! What a test does to the emulator: the handle in Rust. `routes` offers the same over HTTP.

mod routes;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::calls::Call;
use crate::device::Appearance;
use crate::emulator::Service;
use crate::fault::Fault;

pub(crate) use routes::answer;

/// A handle on a running emulator.
#[derive(Clone)]
pub struct Control {
    service: Arc<Service>,
}

impl Control {
    pub(crate) fn new(service: Arc<Service>) -> Control {
        Control { service }
    }

    /// The phone as it was at first: the app before its login, no session, no faults, no log.
    pub fn reset(&self) {
        self.service.state().reset();
    }

    /// Lets something go wrong.
    pub fn fail(&self, fault: Fault) {
        self.service.state().faults.push(fault);
    }

    /// Lets nothing go wrong any more.
    pub fn clear_faults(&self) {
        self.service.state().faults.clear();
    }

    /// What was asked, oldest first.
    pub fn calls(&self) -> Vec<Call> {
        self.service.state().calls.all()
    }

    /// Forgets what was asked.
    pub fn clear_calls(&self) {
        self.service.state().calls.clear();
    }

    /// What the app knows, as a test may want to see it without the screen.
    pub fn dump(&self) -> Value {
        let state = self.service.state();
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
