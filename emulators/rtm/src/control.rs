//! The handle with which tests steer a running emulator. `routes` offers the same over HTTP.

mod routes;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use failwell_emulator_http::{Control as CommonControl, SharedState};
use jiff::Timestamp;

use crate::http::limiter::{Limiter, Rate};
use crate::state::clock::Clock;
use crate::state::seed::{Seed, plant};
use crate::state::{FrobState, Permission, State};

pub(crate) use routes::answer;

/// Steers a running emulator: the login, the clock and the account. Faults, call log, reset and dump are those of every
/// emulator, which it dereferences to.
#[derive(Clone)]
pub struct Control(CommonControl<State>);

impl Deref for Control {
    type Target = CommonControl<State>;

    fn deref(&self) -> &CommonControl<State> {
        &self.0
    }
}

impl Control {
    pub(crate) fn new(shared: Arc<SharedState<State>>) -> Control {
        Control(CommonControl::new(shared))
    }

    /// Adds lists and tasks to the account. The error says what in the seed cannot be.
    pub fn seed(&self, seed: &Seed) -> Result<(), String> {
        plant(seed, &mut self.shared().lock())
    }

    /// Approves a login, as the page would. False when no login waits with this frob.
    pub fn approve(&self, frob: &str, permission: Permission) -> bool {
        self.shared().lock().decide(frob, FrobState::Approved(permission))
    }

    /// Denies a login, as the page would. False when no login waits with this frob.
    pub fn deny(&self, frob: &str) -> bool {
        self.shared().lock().decide(frob, FrobState::Denied)
    }

    /// A token without the way through frob and page.
    pub fn token(&self, permission: Permission) -> String {
        self.shared().lock().new_token(permission)
    }

    /// Ends a token. False when there is none such.
    pub fn revoke(&self, token: &str) -> bool {
        self.shared().lock().tokens.remove(token).is_some()
    }

    /// Changes what a token is good for. False when there is none such.
    pub fn set_permission(&self, token: &str, permission: Permission) -> bool {
        self.shared().lock().tokens.get_mut(token).map(|known| *known = permission).is_some()
    }

    /// Sets the clock, which then stands.
    pub fn set_clock(&self, now: Timestamp) {
        self.shared().lock().clock = Clock::Standing(now);
    }

    /// Puts the clock on. One that stands goes on standing.
    pub fn advance_clock(&self, by: Duration) {
        self.shared().lock().clock.advance(by);
    }

    /// Goes by the machine's clock again.
    pub fn run_clock(&self) {
        self.shared().lock().clock = Clock::real();
    }

    /// The time it is.
    pub fn now(&self) -> Timestamp {
        self.shared().lock().clock.now()
    }

    /// Limits the rate, or no longer.
    pub fn set_rate(&self, rate: Option<Rate>) {
        self.shared().lock().limiter = Limiter::new(rate);
    }

    /// Whether the account is a paid one, which sub-tasks need.
    pub fn set_pro(&self, is_pro: bool) {
        self.shared().lock().account.is_pro = is_pro;
    }

    /// Another time zone for the account. False when there is none such.
    pub fn set_time_zone(&self, name: &str) -> bool {
        let known = jiff::tz::TimeZone::get(name).is_ok();
        if known {
            self.shared().lock().account.zone_name = name.to_owned();
        }
        known
    }
}
