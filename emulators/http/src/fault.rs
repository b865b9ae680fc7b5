//! Fault injection: which pending fault applies to a call, and how often.

use serde::{Deserialize, Serialize};

/// Whether a fault happens before or after the call is executed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultStage {
    /// The call is not executed.
    #[default]
    Before,
    /// The call is executed, but its response is lost.
    After,
}

/// A fault to inject: its kind, the calls it applies to, and how often.
#[derive(Debug, Clone, Deserialize)]
pub struct Fault<K> {
    #[serde(flatten)]
    pub kind: K,
    /// Whether the call is executed first. Only for kinds that replace the response.
    #[serde(default)]
    pub stage: FaultStage,
    /// The calls it applies to: a name in which `*` stands for anything. JSON calls it `methods` or `commands`, as the
    /// emulated service does.
    #[serde(alias = "methods", alias = "commands", default = "every_call")]
    pub pattern: String,
    /// How many calls it applies to; without a number, all until it is cleared.
    #[serde(default)]
    pub times: Option<u32>,
    /// How many matching calls pass first.
    #[serde(default)]
    pub skip: u32,
}

fn every_call() -> String {
    "*".to_owned()
}

impl<K> Fault<K> {
    /// A fault of every call until it is cleared.
    pub fn new(kind: K) -> Fault<K> {
        Fault { kind, stage: FaultStage::Before, pattern: every_call(), times: None, skip: 0 }
    }

    /// Only for these calls.
    pub fn on(self, pattern: &str) -> Fault<K> {
        Fault { pattern: pattern.to_owned(), ..self }
    }

    /// Only so often.
    pub fn times(self, times: u32) -> Fault<K> {
        Fault { times: Some(times), ..self }
    }

    /// Only after so many matching calls.
    pub fn skip(self, skip: u32) -> Fault<K> {
        Fault { skip, ..self }
    }

    /// After the call was executed.
    pub fn after(self) -> Fault<K> {
        Fault { stage: FaultStage::After, ..self }
    }
}

/// Pending faults at most.
const MOST: usize = 1_000;

/// Pending faults. The first that matches a call applies to it, and no other.
#[derive(Debug)]
pub struct FaultQueue<K>(Vec<Fault<K>>);

impl<K> Default for FaultQueue<K> {
    fn default() -> Self {
        FaultQueue(Vec::new())
    }
}

impl<K: Clone> FaultQueue<K> {
    /// Adds a fault.
    pub fn push(&mut self, fault: Fault<K>) {
        if self.0.len() < MOST {
            self.0.push(fault);
        }
    }

    /// Removes all faults.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes the fault of this call, if there is one.
    pub fn take(&mut self, name: &str) -> Option<Fault<K>> {
        let place = self.0.iter_mut().position(|fault| {
            let matches = matches_pattern(&fault.pattern, name);
            if matches && fault.skip > 0 {
                fault.skip -= 1;
                return false;
            }
            matches
        })?;
        let fault = self.0.get_mut(place)?;
        let taken = fault.clone();
        if let Some(times) = &mut fault.times {
            *times = times.saturating_sub(1);
            if *times == 0 {
                self.0.remove(place);
            }
        }
        Some(taken)
    }
}

/// Whether a name matches a pattern in which `*` stands for anything.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{Fault, FaultQueue, matches_pattern};

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("*", "rtm.tasks.add", true),
            ("rtm.tasks.add", "rtm.tasks.add", true),
            ("rtm.tasks.add", "rtm.tasks.addTags", false),
            ("rtm.tasks.*", "rtm.tasks.notes.add", true),
            ("*.add", "rtm.tasks.notes.add", true),
            ("rtm.*.notes.*", "rtm.tasks.notes.add", true),
            ("rtm.*.getList", "rtm.lists.getList", true),
            ("*lists*", "rtm.tasks.add", false),
            ("GET /status", "GET /status/x", false),
            ("POST */click", "POST /element/1/click", true),
            ("POST */click", "POST /element/1/clear", false),
            ("POST /element/*/click", "POST /element/1/click", true),
            ("* /screenshot", "GET /screenshot", true),
            ("*/element*/va*", "POST /element/7/value", true),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_fault_applies_as_often_as_it_says() {
        let mut faults = FaultQueue::default();
        faults.push(Fault::new(()).on("GET *").skip(1).times(2));
        let struck: Vec<bool> = (0..5).map(|_| faults.take("GET /source").is_some()).collect();
        assert_eq!(struck, [false, true, true, false, false]);
        assert!(faults.take("POST /source").is_none());
    }
}
