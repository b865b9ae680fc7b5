//! What a test does to the emulator: the handle in Rust. `routes` offers the same over HTTP.

mod routes;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::calls::Call;
use crate::clock::Clock;
use crate::emulator::Service;
use crate::fault::Fault;
use crate::limiter::{Limiter, Rate};
use crate::seed::{Seed, plant};
use crate::state::{Frob, Permission};

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

    /// Forgets everything: the account, tokens, faults, the log. The clock and the rate stay as they are.
    pub fn reset(&self) {
        self.service.state().reset();
    }

    /// Adds lists and tasks to the account. The error says what in the seed cannot be.
    pub fn seed(&self, seed: &Seed) -> Result<(), String> {
        plant(seed, &mut self.service.state())
    }

    /// Lets an application in, as the page would. False when nobody waits with this frob.
    pub fn approve(&self, frob: &str, permission: Permission) -> bool {
        self.service.state().decide(frob, Frob::Approved(permission))
    }

    /// Keeps an application out, as the page would. False when nobody waits with this frob.
    pub fn deny(&self, frob: &str) -> bool {
        self.service.state().decide(frob, Frob::Denied)
    }

    /// A token without the way through frob and page.
    pub fn token(&self, permission: Permission) -> String {
        self.service.state().new_token(permission)
    }

    /// Ends a token. False when there is none such.
    pub fn revoke(&self, token: &str) -> bool {
        self.service.state().tokens.remove(token).is_some()
    }

    /// Changes what a token is good for. False when there is none such.
    pub fn set_permission(&self, token: &str, permission: Permission) -> bool {
        self.service.state().tokens.get_mut(token).map(|known| *known = permission).is_some()
    }

    /// Sets the clock, which then stands.
    pub fn set_clock(&self, now: Timestamp) {
        self.service.state().clock = Clock::Standing(now);
    }

    /// Puts the clock on. One that stands goes on standing.
    pub fn advance_clock(&self, by: Duration) {
        self.service.state().clock.advance(by);
    }

    /// Goes by the machine's clock again.
    pub fn run_clock(&self) {
        self.service.state().clock = Clock::real();
    }

    /// The time it is.
    pub fn now(&self) -> Timestamp {
        self.service.state().clock.now()
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

    /// Limits the rate, or no longer.
    pub fn set_rate(&self, rate: Option<Rate>) {
        self.service.state().limiter = Limiter::new(rate);
    }

    /// Whether the account is a paid one, which sub-tasks need.
    pub fn set_pro(&self, is_pro: bool) {
        self.service.state().account.is_pro = is_pro;
    }

    /// Another time zone for the account. False when there is none such.
    pub fn set_time_zone(&self, name: &str) -> bool {
        let known = jiff::tz::TimeZone::get(name).is_ok();
        if known {
            self.service.state().account.zone_name = name.to_owned();
        }
        known
    }

    /// The whole account, deleted tasks included, without the times of modification.
    pub fn dump(&self) -> Value {
        self.service.state().dump()
    }
}
