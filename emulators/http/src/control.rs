//! The handle with which tests steer a running emulator, in the same process or through the `/_control/` routes.

mod reply;

use std::sync::Arc;

use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::call_log::{CallLog, LoggedCall};
use crate::fault::{Fault, FaultQueue};
use crate::shared_state::SharedState;

pub use reply::{ControlError, ControlReply, parse_body};

/// The state of an emulator that [`Control`] steers.
pub trait EmulatorState: Send + 'static {
    /// The kinds of faults it can inject.
    type Kind: Clone + DeserializeOwned;
    /// An entry of its call log.
    type Call: LoggedCall + Serialize;

    /// The actions below `/_control/`, for the message about an unknown one.
    const ACTIONS: &'static [&'static str];

    /// Restores the initial state.
    fn reset(&mut self);

    /// The pending faults.
    fn faults(&mut self) -> &mut FaultQueue<Self::Kind>;

    /// The logged calls.
    fn calls(&mut self) -> &mut CallLog<Self::Call>;

    /// The content of the emulated service, for tests that compare it with what a client sees.
    fn dump(&self) -> Value;
}

/// Steers a running emulator.
#[derive(Debug)]
pub struct Control<S> {
    shared: Arc<SharedState<S>>,
}

impl<S> Clone for Control<S> {
    fn clone(&self) -> Control<S> {
        Control { shared: self.shared.clone() }
    }
}

impl<S: EmulatorState> Control<S> {
    /// The handle of this state.
    pub fn new(shared: Arc<SharedState<S>>) -> Control<S> {
        Control { shared }
    }

    /// The state, for the actions that only one emulator has.
    pub fn shared(&self) -> &SharedState<S> {
        &self.shared
    }

    /// Restores the initial state.
    pub fn reset(&self) {
        self.shared.lock().reset();
    }

    /// Injects a fault.
    pub fn fail(&self, fault: Fault<S::Kind>) {
        self.shared.lock().faults().push(fault);
    }

    /// Removes all pending faults.
    pub fn clear_faults(&self) {
        self.shared.lock().faults().clear();
    }

    /// The logged calls, the oldest first.
    pub fn calls(&self) -> Vec<S::Call> {
        self.shared.lock().calls().all()
    }

    /// Clears the call log.
    pub fn clear_calls(&self) {
        self.shared.lock().calls().clear();
    }

    /// The content of the emulated service.
    pub fn dump(&self) -> Value {
        self.shared.lock().dump()
    }

    /// Performs an action that every emulator has: `POST` reset and fail, `GET` calls and dump, `DELETE` fail and calls.
    pub fn perform(&self, method: &Method, action: &str, body: &[u8]) -> Result<Value, ControlError> {
        match (method.as_str(), action) {
            ("GET", "calls") => return Ok(json!({"calls": self.calls()})),
            ("GET", "dump") => return Ok(self.dump()),
            ("POST", "reset") => self.reset(),
            ("POST", "fail") => self.fail(parse_body(body)?),
            ("DELETE", "fail") => self.clear_faults(),
            ("DELETE", "calls") => self.clear_calls(),
            _ if S::ACTIONS.contains(&action) => return Err(ControlError::wrong_method()),
            _ => return Err(ControlError::unknown_action(action, S::ACTIONS)),
        }
        Ok(json!({"ok": true}))
    }
}
