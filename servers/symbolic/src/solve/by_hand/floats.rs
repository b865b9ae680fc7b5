//! Floats compared with constants: what is left for each of them. Comparisons of two unknown floats say nothing here.

use std::collections::BTreeMap;

use crate::terms::{Node, Term, Terms};

/// What a float can still be.
#[derive(Clone, Debug)]
pub(super) struct Range {
    /// The least and the greatest number, both included.
    low: f64,
    high: f64,
    /// Numbers it is not.
    not: Vec<f64>,
    can_be_nan: bool,
    can_be_number: bool,
    must_be_infinite: bool,
}

impl Range {
    const ALL: Self = Self {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        not: Vec::new(),
        can_be_nan: true,
        can_be_number: true,
        must_be_infinite: false,
    };

    fn at_least(&mut self, bound: f64) {
        self.low = self.low.max(bound);
    }

    fn at_most(&mut self, bound: f64) {
        self.high = self.high.min(bound);
    }

    fn has(&self, value: f64) -> bool {
        if value.is_nan() {
            return self.can_be_nan;
        }
        self.can_be_number
            && self.low <= value
            && value <= self.high
            && !self.not.contains(&value)
            && (!self.must_be_infinite || value.is_infinite())
    }

    /// Something it can be, near to this if that can be; `None` only when there is nothing.
    pub(super) fn pick(&self, near: f64) -> Option<f64> {
        let (inside, within) = (self.low.next_up(), self.high.next_down());
        let plain =
            [near, 0.0, 1.0, -1.0, self.low + 1.0, self.high - 1.0, self.low, self.high, inside, within];
        let infinite = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let found = plain.into_iter().chain(infinite).find(|value| self.has(*value));
        found.or_else(|| self.first())
    }

    /// The least number it can be, when numbers it is not crowd the others out.
    fn first(&self) -> Option<f64> {
        let mut value = self.low;
        for _ in 0..=self.not.len() {
            if self.has(value) {
                return Some(value);
            }
            value = value.next_up();
        }
        None
    }
}

/// What the truths leave of each float that is compared with a constant. `None` when nothing is left of one.
pub(super) fn ranges(terms: &Terms, truths: &BTreeMap<Term, bool>) -> Option<BTreeMap<Term, Range>> {
    let mut found: BTreeMap<Term, Range> = BTreeMap::new();
    for (term, truth) in truths {
        let (subject, rule) = match *terms.node(*term) {
            Node::FloatEq(a, b) => match (terms.as_float(a), terms.as_float(b)) {
                (Some(constant), None) => (b, Rule::Equal(constant)),
                (None, Some(constant)) => (a, Rule::Equal(constant)),
                _ => continue,
            },
            Node::FloatLt(a, b) => match (terms.as_float(a), terms.as_float(b)) {
                (Some(constant), None) => (b, Rule::Above(constant)),
                (None, Some(constant)) => (a, Rule::Below(constant)),
                _ => continue,
            },
            Node::FloatLe(a, b) => match (terms.as_float(a), terms.as_float(b)) {
                (Some(constant), None) => (b, Rule::AtLeast(constant)),
                (None, Some(constant)) => (a, Rule::AtMost(constant)),
                _ => continue,
            },
            Node::FloatIsNan(a) => (a, Rule::Nan),
            Node::FloatIsInf(a) => (a, Rule::Infinite),
            _ => continue,
        };
        found.entry(subject).or_insert(Range::ALL).narrow(&rule, *truth);
    }
    found.values().all(|range| range.pick(0.0).is_some()).then_some(found)
}

/// What is said of a float.
enum Rule {
    Equal(f64),
    Above(f64),
    Below(f64),
    AtLeast(f64),
    AtMost(f64),
    Nan,
    Infinite,
}

impl Range {
    fn narrow(&mut self, rule: &Rule, truth: bool) {
        if let Rule::Equal(it) | Rule::Above(it) | Rule::Below(it) | Rule::AtLeast(it) | Rule::AtMost(it) =
            rule
        {
            if it.is_nan() {
                // Nothing compares with it.
                self.can_be_nan &= !truth;
                self.can_be_number &= !truth;
                return;
            }
            // No comparison with a number is true of it, so all of them may be false.
            self.can_be_nan &= !truth;
        }
        match (rule, truth) {
            (Rule::Equal(it), true) => {
                self.at_least(*it);
                self.at_most(*it);
            }
            (Rule::Equal(it), false) => self.not.push(*it),
            (Rule::Above(it), true) | (Rule::AtMost(it), false) => {
                self.at_least(*it);
                self.not.push(*it);
            }
            (Rule::Below(it), true) | (Rule::AtLeast(it), false) => {
                self.at_most(*it);
                self.not.push(*it);
            }
            (Rule::AtLeast(it), true) | (Rule::Below(it), false) => self.at_least(*it),
            (Rule::AtMost(it), true) | (Rule::Above(it), false) => self.at_most(*it),
            (Rule::Nan, true) => self.can_be_number = false,
            (Rule::Nan, false) => self.can_be_nan = false,
            (Rule::Infinite, true) => {
                self.can_be_nan = false;
                self.must_be_infinite = true;
            }
            (Rule::Infinite, false) => {
                self.at_least(f64::MIN);
                self.at_most(f64::MAX);
            }
        }
    }
}
