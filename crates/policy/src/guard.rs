//! Content guards: they scan messages in both directions for secrets, personal data and prompt injection.
//!
//! A first pass over the raw bytes looks for literals, escapes, characters that fold to ASCII, and runs of
//! base64. Most messages need no more. Otherwise each string is decoded and matched exactly and as a whole,
//! at any size.

mod category;
mod chain;
pub mod custom;
mod detect;
mod escapes;
mod examine;
mod finding;
mod fold;
mod pointer;
mod redact;
mod settings;
mod tokens;
mod view;

use std::borrow::Cow;

use failwell_fault::Fault;

pub use category::{Category, Guard};
pub use failwell_rpc::Direction;
pub use finding::{GuardFinding, Verdict};
pub use settings::{Action, GuardRule, GuardSettings, Sensitivity};

use detect::{Detectors, bits};
use examine::{Hit, ScanScope};

/// Rounds of scan and redaction for one message. A redaction can expose a new match next to it.
const MOST_ROUNDS: usize = 4;
/// Maximum number of findings reported for one message.
const MOST_FINDINGS: usize = 64;

#[derive(Debug)]
pub struct Guards {
    settings: GuardSettings,
    detectors: Detectors,
    categories: [u64; 3],
    /// Categories that the configuration marks as private for any direction or server.
    private: u64,
}

/// The categories to scan for in one message, as bit sets.
#[derive(Debug, Clone, Copy)]
struct Plan {
    wanted: u64,
    redacted: u64,
    blocked: u64,
}

impl Guards {
    pub fn compile(settings: GuardSettings) -> Result<Guards, Fault> {
        let detectors = Detectors::compile(settings.sensitivity)?;
        let categories = Guard::ALL.map(|guard| settings.rule(guard).categories_of(guard));
        let private = [Guard::Secrets, Guard::Pii]
            .into_iter()
            .filter(|guard| settings.rule(*guard).redacts_or_blocks())
            .fold(0, |all, guard| all | settings.rule(guard).categories_of(guard));
        Ok(Guards { settings, detectors, categories, private })
    }

    /// Returns true if any guard scans messages of this direction.
    pub fn applies(&self, direction: Direction, server: &str) -> bool {
        self.plan(direction, server).wanted != 0
    }

    /// The guards that scan messages of this direction.
    pub fn active_guards(&self, direction: Direction, server: &str) -> impl Iterator<Item = Guard> {
        let on = Guard::ALL.map(|guard| self.action(guard, direction, server) != Action::Off);
        Guard::ALL.into_iter().zip(on).filter_map(|(guard, on)| on.then_some(guard))
    }

    fn action(&self, guard: Guard, direction: Direction, server: &str) -> Action {
        let rule = self.settings.rule(guard);
        if rule.directions.contains(&direction) { rule.action_for(server) } else { Action::Off }
    }

    /// Returns true if a guard has a separate action for some server.
    pub fn has_server_rules(&self) -> bool {
        Guard::ALL.into_iter().any(|guard| !self.settings.rule(guard).servers.is_empty())
    }

    /// Scans a message of a server from byte `from`, which must lie outside of any string. Bytes before it
    /// stay unchanged: an id, for example, must be echoed exactly.
    pub fn inspect(&self, direction: Direction, server: &str, json: &[u8], from: usize) -> Verdict {
        let plan = self.plan(direction, server);
        let part = json.get(from..).unwrap_or_default();
        if plan.wanted == 0 {
            return Verdict::Pass;
        }
        let hits = match examine::scope(&self.detectors, part, plan.wanted) {
            ScanScope::Nothing => return Verdict::Pass,
            ScanScope::Chains => examine::in_chains(&self.detectors, json, from, plan.wanted),
            ScanScope::All => examine::in_json(&self.detectors, json, from, plan.wanted),
        };
        if hits.is_empty() {
            return Verdict::Pass;
        }
        let findings = self.findings(json, &hits, direction, plan);
        if hits.iter().any(|hit| plan.blocked & hit.category.bit() != 0) {
            return Verdict::Blocked { findings };
        }
        match self.redact(json, from, hits, plan) {
            Some(bytes) => Verdict::Redacted { bytes, findings },
            None => Verdict::Noted { findings },
        }
    }

    /// Removes all secrets from a line for the operator, even if the guards are off, because logs are stored.
    /// Private categories are removed too. Prompt injection stays, because it is not private and shows what
    /// happened.
    pub fn scrub<'a>(&self, line: &'a str) -> Cow<'a, str> {
        self.without(line, always() | self.private)
    }

    /// Removes secrets only. An approver sees everything else that is approved.
    pub fn scrub_secrets<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.without(text, always() | self.private & bits(Guard::Secrets))
    }

    /// Redacts a message, or the beginning of one, for storage. Removes secrets, and everything that the
    /// guards redact or block in this direction.
    pub fn redact_for_storage<'a>(&self, direction: Direction, server: &str, text: &'a str) -> Cow<'a, str> {
        let plan = self.plan(direction, server);
        self.without(text, always() | self.private | plan.redacted | plan.blocked)
    }

    fn without<'a>(&self, line: &'a str, wanted: u64) -> Cow<'a, str> {
        if examine::scope(&self.detectors, line.as_bytes(), wanted) == ScanScope::Nothing {
            return Cow::Borrowed(line);
        }
        // Only a whole document consists of strings and numbers. Any other text is read as it stands, however
        // it begins.
        let is_json = line.starts_with('{') && is_document(line);
        let mut bytes = Cow::Borrowed(line.as_bytes());
        for _ in 0..MOST_ROUNDS {
            let hits = match is_json {
                true => examine::in_json(&self.detectors, &bytes, 0, wanted),
                false => examine::in_text(&self.detectors, &bytes, wanted),
            };
            if hits.is_empty() {
                break;
            }
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

    /// Redacts the hits and scans the output again, until a scan finds no more.
    fn redact(&self, json: &[u8], from: usize, hits: Vec<Hit>, plan: Plan) -> Option<Vec<u8>> {
        let mut bytes: Option<Vec<u8>> = None;
        let mut hits = hits;
        for _ in 0..MOST_ROUNDS {
            hits.retain(|hit| plan.redacted & hit.category.bit() != 0);
            if hits.is_empty() {
                break;
            }
            let clean = redact::from_json(bytes.as_deref().unwrap_or(json), &hits);
            hits = examine::in_json(&self.detectors, &clean, from, plan.redacted);
            bytes = Some(clean);
        }
        bytes
    }

    /// Merges hits of the same category in the same place. Blocking findings come first.
    fn findings(&self, json: &[u8], hits: &[Hit], direction: Direction, plan: Plan) -> Vec<GuardFinding> {
        let action = |category: Category| match category.bit() {
            bit if plan.blocked & bit != 0 => Action::Block,
            bit if plan.redacted & bit != 0 => Action::Redact,
            _ => Action::AuditOnly,
        };
        let tokens: Vec<&[Hit]> = hits.chunk_by(|one, other| one.token == other.token).collect();
        let firsts: Vec<Hit> = tokens.iter().filter_map(|of_token| of_token.first().copied()).collect();
        let mut findings: Vec<GuardFinding> = Vec::new();
        for (of_token, place) in tokens.iter().zip(pointer::places(json, &firsts, direction)) {
            let known = findings.len().saturating_sub(8);
            for hit in of_token.iter() {
                let near = findings.iter_mut().skip(known);
                match near.into_iter().find(|known| known.category == hit.category && known.place == place) {
                    Some(known) => known.count += 1,
                    None => findings.push(GuardFinding {
                        category: hit.category,
                        action: action(hit.category),
                        place: place.clone(),
                        count: 1,
                    }),
                }
            }
        }
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.action));
        findings.truncate(MOST_FINDINGS);
        findings
    }
}

fn is_document(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// The secrets that are never stored: all categories with a recognisable shape.
fn always() -> u64 {
    bits(Guard::Secrets) & !Category::Entropy.bit()
}
