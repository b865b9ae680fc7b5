//! Content guards: what a message may not carry, whichever way it goes.
//!
//! A message is looked at once, quickly, as the bytes it is: literals, escapes, characters that fold, runs of
//! base64. Most messages end there. Otherwise its strings are decoded and matched exactly, each on its own and
//! whole, whatever its size.

mod category;
mod checks;
mod credentials;
pub mod custom;
mod detector;
mod encoded;
mod examine;
mod finding;
mod fold;
mod injection;
mod pattern;
mod pem;
mod pii;
mod pointer;
mod redact;
mod secrets;
mod settings;
mod tokens;
mod view;

use std::borrow::Cow;

use failwell_fault::Fault;

pub use category::{Category, Guard};
pub use finding::{Finding, Verdict};
pub use settings::{Action, Direction, GuardSettings, Rule, Sensitivity};

use detector::{Detectors, bits};
use examine::Hit;

/// How often what was taken out is looked through again: taking something out can set its neighbour free.
const MOST_ROUNDS: usize = 4;
/// The most findings that are told of one message.
const MOST_FINDINGS: usize = 64;

/// All guards, ready to look.
#[derive(Debug)]
pub struct Guards {
    settings: GuardSettings,
    detectors: Detectors,
    categories: [u64; 3],
    /// What is private by the file, in whatever direction and of whichever server.
    private: u64,
}

/// What is to be done with one message.
#[derive(Debug, Clone, Copy)]
struct Plan {
    wanted: u64,
    redacted: u64,
    blocked: u64,
}

impl Guards {
    /// Guards as they are set.
    pub fn compile(settings: GuardSettings) -> Result<Guards, Fault> {
        let detectors = Detectors::compile(settings.sensitivity)?;
        let categories = Guard::ALL.map(|guard| settings.rule(guard).categories_of(guard));
        let private = [Guard::Secrets, Guard::Pii]
            .into_iter()
            .filter(|guard| settings.rule(*guard).is_kept_back())
            .fold(0, |all, guard| all | settings.rule(guard).categories_of(guard));
        Ok(Guards { settings, detectors, categories, private })
    }

    /// Whether anything is looked for in messages of this direction.
    pub fn cares(&self, direction: Direction, server: &str) -> bool {
        self.plan(direction, server).wanted != 0
    }

    /// The guards that look at messages of this direction.
    pub fn watching(&self, direction: Direction, server: &str) -> impl Iterator<Item = Guard> {
        let on = Guard::ALL.map(|guard| self.action(guard, direction, server) != Action::Off);
        Guard::ALL.into_iter().zip(on).filter_map(|(guard, on)| on.then_some(guard))
    }

    fn action(&self, guard: Guard, direction: Direction, server: &str) -> Action {
        let rule = self.settings.rule(guard);
        if rule.directions.contains(&direction) { rule.action_for(server) } else { Action::Off }
    }

    /// Whether single servers have actions of their own.
    pub fn knows_servers(&self) -> bool {
        Guard::ALL.into_iter().any(|guard| !self.settings.rule(guard).servers.is_empty())
    }

    /// Looks through a message of a server from the given byte on, which is outside of any string: what stands
    /// before it, such as an id that must come back as it is, is left alone.
    pub fn inspect(&self, direction: Direction, server: &str, json: &[u8], from: usize) -> Verdict {
        let plan = self.plan(direction, server);
        let part = json.get(from..).unwrap_or_default();
        if plan.wanted == 0 || !examine::stirs(&self.detectors, part, plan.wanted) {
            return Verdict::Pass;
        }
        let mut hits = examine::in_json(&self.detectors, json, from, plan.wanted);
        if hits.is_empty() {
            return Verdict::Pass;
        }
        hits.sort_by_key(|hit| hit.token.start);
        let findings = self.findings(json, &hits, direction, plan);
        if hits.iter().any(|hit| plan.blocked & hit.category.bit() != 0) {
            return Verdict::Blocked { findings };
        }
        match self.redact(json, from, hits, plan) {
            Some(bytes) => Verdict::Redacted { bytes, findings },
            None => Verdict::Noted { findings },
        }
    }

    /// A line for the operator without secrets, whatever the guards are set to do: what is written down stays. What the
    /// file wants kept from callers as private is kept out of it as well; text that wants to command a model is not
    /// private, and shows what happened.
    pub fn scrub<'a>(&self, line: &'a str) -> Cow<'a, str> {
        self.without(line, always() | self.private)
    }

    /// A message, or the beginning of one, as it may be kept: without secrets, and without what the guards would not let
    /// pass that way.
    pub fn keepable<'a>(&self, direction: Direction, server: &str, text: &'a str) -> Cow<'a, str> {
        let plan = self.plan(direction, server);
        self.without(text, always() | self.private | plan.redacted | plan.blocked)
    }

    fn without<'a>(&self, line: &'a str, wanted: u64) -> Cow<'a, str> {
        if !examine::stirs(&self.detectors, line.as_bytes(), wanted) {
            return Cow::Borrowed(line);
        }
        let is_json = line.starts_with('{');
        let mut bytes = Cow::Borrowed(line.as_bytes());
        for _ in 0..MOST_ROUNDS {
            let mut hits = match is_json {
                true => examine::in_json(&self.detectors, &bytes, 0, wanted),
                false => examine::in_text(&self.detectors, &bytes, wanted),
            };
            if hits.is_empty() {
                break;
            }
            hits.sort_by_key(|hit| hit.token.start);
            bytes = Cow::Owned(if is_json {
                redact::from_json(&bytes, &hits)
            } else {
                redact::from_text(&bytes, &hits)
            });
        }
        match bytes {
            Cow::Borrowed(_) => Cow::Borrowed(line),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    fn plan(&self, direction: Direction, server: &str) -> Plan {
        let mut plan = Plan { wanted: 0, redacted: 0, blocked: 0 };
        for (guard, categories) in Guard::ALL.into_iter().zip(self.categories) {
            match self.action(guard, direction, server) {
                Action::Off => continue,
                Action::AuditOnly => {}
                Action::Redact => plan.redacted |= categories,
                Action::Block => plan.blocked |= categories,
            }
            plan.wanted |= categories;
        }
        plan
    }

    /// Takes out what is to be taken out, until nothing is left of it.
    fn redact(&self, json: &[u8], from: usize, hits: Vec<Hit>, plan: Plan) -> Option<Vec<u8>> {
        let mut bytes: Option<Vec<u8>> = None;
        let mut hits = hits;
        for _ in 0..MOST_ROUNDS {
            hits.retain(|hit| plan.redacted & hit.category.bit() != 0);
            if hits.is_empty() {
                break;
            }
            hits.sort_by_key(|hit| hit.token.start);
            let clean = redact::from_json(bytes.as_deref().unwrap_or(json), &hits);
            hits = examine::in_json(&self.detectors, &clean, from, plan.redacted);
            bytes = Some(clean);
        }
        bytes
    }

    /// What was found, each sort once per place, those that block first.
    fn findings(&self, json: &[u8], hits: &[Hit], direction: Direction, plan: Plan) -> Vec<Finding> {
        let action = |category: Category| match category.bit() {
            bit if plan.blocked & bit != 0 => Action::Block,
            bit if plan.redacted & bit != 0 => Action::Redact,
            _ => Action::AuditOnly,
        };
        let mut findings: Vec<Finding> = Vec::new();
        for (hit, place) in hits.iter().zip(pointer::places(json, hits, direction)) {
            let recent = findings.iter_mut().rev().take(8);
            match recent.into_iter().find(|known| known.category == hit.category && known.place == place) {
                Some(known) => known.count += 1,
                None => findings.push(Finding {
                    category: hit.category,
                    action: action(hit.category),
                    place,
                    count: 1,
                }),
            }
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.action));
        findings.truncate(MOST_FINDINGS);
        findings
    }
}

/// What is never written down: every secret that can be told by its shape.
fn always() -> u64 {
    bits(Guard::Secrets) & !Category::Entropy.bit()
}
