//! The values of a message that a verdict names. Each value is visited once, for any number of pointers.

use std::collections::HashMap;

use super::verdict::MessagePart;

/// The pointers of a verdict as a tree of reference tokens.
#[derive(Debug, Default)]
pub(super) struct PointerTree {
    steps: Vec<TreeNode>,
}

#[derive(Debug, Default)]
struct TreeNode {
    next: HashMap<String, usize>,
    /// The value and everything below it is redacted.
    whole: bool,
    /// Byte ranges of the string at this node.
    ranges: Vec<(usize, usize)>,
    was_met: bool,
}

/// The position of the scan in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreePosition {
    /// No pointer leads here or below.
    Nowhere,
    /// A pointer leads here or below.
    At(usize),
    /// An ancestor is redacted as a whole.
    Within,
}

impl PointerTree {
    /// Returns `None` if one of the pointers is invalid.
    pub(super) fn new(parts: &[MessagePart]) -> Option<PointerTree> {
        let mut places = PointerTree { steps: vec![TreeNode::default()] };
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
            self.steps.push(TreeNode::default());
        }
        next
    }

    pub(super) fn root(&mut self) -> TreePosition {
        self.meet(0)
    }

    /// The position of a member or an array element.
    pub(super) fn below(&mut self, here: TreePosition, name: &str) -> TreePosition {
        match here {
            TreePosition::Nowhere | TreePosition::Within => here,
            TreePosition::At(at) => match self.steps.get(at).and_then(|step| step.next.get(name)) {
                Some(next) => self.meet(*next),
                None => TreePosition::Nowhere,
            },
        }
    }

    fn meet(&mut self, at: usize) -> TreePosition {
        match self.steps.get_mut(at) {
            Some(step) => {
                step.was_met = true;
                if step.whole { TreePosition::Within } else { TreePosition::At(at) }
            }
            None => TreePosition::Nowhere,
        }
    }

    /// The byte ranges to redact in the string at this position.
    pub(super) fn ranges(&self, here: TreePosition) -> &[(usize, usize)] {
        match here {
            TreePosition::At(at) => self.steps.get(at).map_or(&[], |step| step.ranges.as_slice()),
            TreePosition::Nowhere | TreePosition::Within => &[],
        }
    }

    /// Returns true if the message contains every named value. Values below a redacted ancestor count as
    /// found.
    pub(super) fn were_met(&self) -> bool {
        self.meets(0)
    }

    fn meets(&self, at: usize) -> bool {
        let Some(step) = self.steps.get(at) else { return true };
        step.was_met && (step.whole || step.next.values().all(|next| self.meets(*next)))
    }
}
