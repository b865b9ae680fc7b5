//! Which values of a message a verdict points at. Every value is met once, however many places are named.

use std::collections::HashMap;

use super::opinion::Part;

/// The named places as a tree of their steps.
#[derive(Debug, Default)]
pub(super) struct Places {
    steps: Vec<Step>,
}

#[derive(Debug, Default)]
struct Step {
    next: HashMap<String, usize>,
    /// All that stands here or below.
    whole: bool,
    /// Stretches of the text that stands here.
    ranges: Vec<(usize, usize)>,
    was_met: bool,
}

/// Where the walk through a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Here {
    /// At no named place, and none is below.
    Nowhere,
    /// On the way to one, or at one.
    At(usize),
    /// Below a place that is named as a whole.
    Within,
}

impl Places {
    /// `None` when one of them is no JSON Pointer.
    pub(super) fn of(parts: &[Part]) -> Option<Places> {
        let mut places = Places { steps: vec![Step::default()] };
        for part in parts {
            let mut at = 0;
            let steps = match part.at.as_str() {
                "" => "",
                pointer => pointer.strip_prefix('/')?,
            };
            let named = steps.split('/').filter(|_| !part.at.is_empty());
            for step in named.map(|step| step.replace("~1", "/").replace("~0", "~")) {
                at = places.enter(at, step);
            }
            let step = places.steps.get_mut(at)?;
            match part.range {
                Some(range) => step.ranges.push(range),
                None => step.whole = true,
            }
        }
        Some(places)
    }

    fn enter(&mut self, at: usize, name: String) -> usize {
        let fresh = self.steps.len();
        let Some(step) = self.steps.get_mut(at) else { return at };
        let next = *step.next.entry(name).or_insert(fresh);
        if next == fresh {
            self.steps.push(Step::default());
        }
        next
    }

    /// Where a whole message stands.
    pub(super) fn root(&mut self) -> Here {
        self.meet(0)
    }

    /// The value under a name or a number.
    pub(super) fn below(&mut self, here: Here, name: &str) -> Here {
        match here {
            Here::Nowhere | Here::Within => here,
            Here::At(at) => match self.steps.get(at).and_then(|step| step.next.get(name)) {
                Some(next) => self.meet(*next),
                None => Here::Nowhere,
            },
        }
    }

    fn meet(&mut self, at: usize) -> Here {
        match self.steps.get_mut(at) {
            Some(step) => {
                step.was_met = true;
                if step.whole { Here::Within } else { Here::At(at) }
            }
            None => Here::Nowhere,
        }
    }

    /// The stretches named of the text that stands here.
    pub(super) fn ranges(&self, here: Here) -> &[(usize, usize)] {
        match here {
            Here::At(at) => self.steps.get(at).map_or(&[], |step| step.ranges.as_slice()),
            Here::Nowhere | Here::Within => &[],
        }
    }

    /// Whether every named place is there. One below another that is taken out whole is.
    pub(super) fn were_met(&self) -> bool {
        self.meets(0)
    }

    fn meets(&self, at: usize) -> bool {
        let Some(step) = self.steps.get(at) else { return true };
        step.was_met && (step.whole || step.next.values().all(|next| self.meets(*next)))
    }
}
