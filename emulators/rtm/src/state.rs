//! Everything the service knows, behind one lock.

mod dump;
mod enter;

use std::collections::BTreeMap;

use failwell_emulator_props::{Calls, Faults};
use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::calls::Call;
use crate::clock::Clock;
use crate::fault::Fault;
use crate::limiter::Limiter;
use crate::signature::opaque;
use crate::undo::Transaction;

/// What a token is good for. Each includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// Seeing lists and tasks.
    Read,
    /// Adding and changing them too.
    Write,
    /// Deleting them too.
    Delete,
}

impl Permission {
    pub(crate) fn read(text: &str) -> Option<Permission> {
        match text {
            "read" => Some(Permission::Read),
            "write" => Some(Permission::Write),
            "delete" => Some(Permission::Delete),
            _ => None,
        }
    }

    /// As the service writes it.
    pub fn name(self) -> &'static str {
        match self {
            Permission::Read => "read",
            Permission::Write => "write",
            Permission::Delete => "delete",
        }
    }
}

/// What became of a request to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frob {
    Waiting,
    Approved(Permission),
    Denied,
}

pub(crate) struct State {
    pub(crate) api_key: String,
    pub(crate) secret: String,
    pub(crate) account: Account,
    pub(crate) tokens: BTreeMap<String, Permission>,
    pub(crate) frobs: BTreeMap<String, Frob>,
    /// Whose each timeline is.
    pub(crate) timelines: BTreeMap<String, String>,
    pub(crate) transactions: BTreeMap<u64, Transaction>,
    pub(crate) clock: Clock,
    pub(crate) faults: Faults<Fault>,
    pub(crate) limiter: Limiter,
    pub(crate) calls: Calls<Call>,
    given_out: u64,
}

/// How many transactions, frobs, tokens and timelines are kept each; beyond that the first by name is forgotten.
const MOST_KEPT: usize = 200_000;

impl State {
    pub(crate) fn new(api_key: String, secret: String, limiter: Limiter, clock: Clock) -> State {
        State {
            api_key,
            secret,
            account: Account::empty(),
            tokens: BTreeMap::new(),
            frobs: BTreeMap::new(),
            timelines: BTreeMap::new(),
            transactions: BTreeMap::new(),
            clock,
            faults: Faults::default(),
            limiter,
            calls: Calls::default(),
            given_out: 0,
        }
    }

    /// Forgets everything but the key, the clock and the rate.
    pub(crate) fn reset(&mut self) {
        let limiter = self.limiter.renewed();
        let (key, secret) = (self.api_key.clone(), self.secret.clone());
        // What was given out before is not given out again: an old token must not open the new account.
        let given_out = self.given_out;
        *self = State { given_out, ..State::new(key, secret, limiter, self.clock) };
    }

    fn opaque(&mut self, what: &str) -> String {
        self.given_out += 1;
        opaque(&[&self.secret, what, &self.given_out.to_string()])
    }

    pub(crate) fn new_frob(&mut self) -> String {
        let frob = self.opaque("frob");
        keep(&mut self.frobs, frob.clone(), Frob::Waiting);
        frob
    }

    pub(crate) fn new_token(&mut self, permission: Permission) -> String {
        let token = self.opaque("token");
        keep(&mut self.tokens, token.clone(), permission);
        token
    }

    pub(crate) fn new_timeline(&mut self, token: &str) -> String {
        let timeline = self.account.fresh().to_string();
        keep(&mut self.timelines, timeline.clone(), token.to_owned());
        timeline
    }

    pub(crate) fn keep(&mut self, transaction: Transaction) -> u64 {
        let id = self.account.fresh();
        keep(&mut self.transactions, id, transaction);
        id
    }
}

fn keep<K: Ord + Clone, V>(map: &mut BTreeMap<K, V>, key: K, value: V) {
    if map.len() >= MOST_KEPT {
        map.pop_first();
    }
    map.insert(key, value);
}

#[cfg(test)]
impl State {
    /// A state whose clock stands.
    pub(crate) fn for_tests(now: &str) -> State {
        let clock = Clock::Standing(now.parse().unwrap());
        State::new("key".to_owned(), "secret".to_owned(), Limiter::new(None), clock)
    }
}
