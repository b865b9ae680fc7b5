//! The state of the service, under one lock.

pub(crate) mod account;
pub(crate) mod clock;
mod dump;
mod login;
pub(crate) mod seed;
pub(crate) mod undo;

use std::collections::BTreeMap;

use failwell_emulator_http::{CallLog, EmulatorState, FaultQueue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::signature::opaque;
use crate::call::Call;
use crate::fault_kind::FaultKind;
use crate::http::limiter::Limiter;
use crate::state::account::Account;
use crate::state::clock::Clock;
use crate::state::undo::Transaction;

/// The permission of a token. Each includes those before it.
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

/// The state of a login request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrobState {
    Waiting,
    Approved(Permission),
    Denied,
}

pub struct State {
    pub(crate) api_key: String,
    pub(crate) secret: String,
    pub(crate) account: Account,
    pub(crate) tokens: BTreeMap<String, Permission>,
    pub(crate) frobs: BTreeMap<String, FrobState>,
    /// The owner of each timeline.
    pub(crate) timelines: BTreeMap<String, String>,
    pub(crate) transactions: BTreeMap<u64, Transaction>,
    pub(crate) clock: Clock,
    pub(crate) faults: FaultQueue<FaultKind>,
    pub(crate) limiter: Limiter,
    pub(crate) calls: CallLog<Call>,
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
            faults: FaultQueue::default(),
            limiter,
            calls: CallLog::default(),
            given_out: 0,
        }
    }

    fn opaque(&mut self, what: &str) -> String {
        self.given_out += 1;
        opaque(&[&self.secret, what, &self.given_out.to_string()])
    }

    pub(crate) fn new_frob(&mut self) -> String {
        let frob = self.opaque("frob");
        keep(&mut self.frobs, frob.clone(), FrobState::Waiting);
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

impl EmulatorState for State {
    type Kind = FaultKind;
    type Call = Call;

    const ACTIONS: &'static [&'static str] = &[
        "reset", "seed", "approve", "deny", "token", "revoke", "perms", "clock", "fail", "delay", "calls",
        "rate", "pro", "timezone", "dump",
    ];

    /// Forgets account, tokens, faults and log. The key, the clock and the rate stay.
    fn reset(&mut self) {
        let limiter = self.limiter.renewed();
        let (key, secret) = (self.api_key.clone(), self.secret.clone());
        // Earlier values are not issued again: an old token must not open the new account.
        let given_out = self.given_out;
        *self = State { given_out, ..State::new(key, secret, limiter, self.clock) };
    }

    fn faults(&mut self) -> &mut FaultQueue<FaultKind> {
        &mut self.faults
    }

    fn calls(&mut self) -> &mut CallLog<Call> {
        &mut self.calls
    }

    fn dump(&self) -> Value {
        self.content()
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
