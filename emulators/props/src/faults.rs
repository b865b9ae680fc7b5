//! Faults on demand: which of those that wait strikes a call, and how often.

use serde::{Deserialize, Serialize};

/// Whether a fault strikes before anything is done, or after.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing has happened.
    #[default]
    Before,
    /// All has happened, but the answer is lost.
    After,
}

/// A fault that waits to strike.
pub trait Strikes: Clone {
    /// What it strikes: a name in which `*` stands for anything.
    fn pattern(&self) -> &str;
    /// How many matching calls it lets pass first.
    fn skip(&mut self) -> &mut u32;
    /// How many calls it strikes; without a number, all until it is cleared.
    fn times(&mut self) -> &mut Option<u32>;
}

/// How many can wait.
const MOST: usize = 1_000;

/// Those that wait to strike. The first that matches does, and no other.
#[derive(Debug)]
pub struct Faults<F>(Vec<F>);

impl<F> Default for Faults<F> {
    fn default() -> Self {
        Faults(Vec::new())
    }
}

impl<F: Strikes> Faults<F> {
    /// One more.
    pub fn push(&mut self, fault: F) {
        if self.0.len() < MOST {
            self.0.push(fault);
        }
    }

    /// None any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The fault that strikes this call, if one does.
    pub fn strike(&mut self, name: &str) -> Option<F> {
        let place = self.0.iter_mut().position(|fault| {
            let matches = matches_pattern(fault.pattern(), name);
            if matches && *fault.skip() > 0 {
                *fault.skip() -= 1;
                return false;
            }
            matches
        })?;
        let fault = self.0.get_mut(place)?;
        let struck = fault.clone();
        if let Some(times) = fault.times() {
            *times = times.saturating_sub(1);
            if *times == 0 {
                self.0.remove(place);
            }
        }
        Some(struck)
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
    use super::{Faults, Strikes, matches_pattern};

    #[derive(Clone)]
    struct Fault {
        pattern: &'static str,
        skip: u32,
        times: Option<u32>,
    }

    impl Strikes for Fault {
        fn pattern(&self) -> &str {
            self.pattern
        }

        fn skip(&mut self) -> &mut u32 {
            &mut self.skip
        }

        fn times(&mut self) -> &mut Option<u32> {
            &mut self.times
        }
    }

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
    fn a_fault_strikes_as_often_as_it_says() {
        let mut faults = Faults::default();
        faults.push(Fault { pattern: "GET *", skip: 1, times: Some(2) });
        let struck: Vec<bool> = (0..5).map(|_| faults.strike("GET /source").is_some()).collect();
        assert_eq!(struck, [false, true, true, false, false]);
        assert!(faults.strike("POST /source").is_none());
    }
}
