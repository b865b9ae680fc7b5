//! Floats compared with constants, and their remaining ranges. Comparisons of two unknown floats give no
//! information here.

use std::collections::BTreeMap;

use crate::terms::{Term, TermNode, Terms};

/// The remaining values of a float.
#[derive(Clone, Debug)]
pub(super) struct FloatRange {
    /// The least and the greatest number, inclusive.
    low: f64,
    high: f64,
    /// Excluded numbers.
    not: Vec<f64>,
    can_be_nan: bool,
    can_be_number: bool,
    must_be_infinite: bool,
}

impl FloatRange {
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

    /// A possible value, near to `near` if possible. `None` only if there is none.
    pub(super) fn pick(&self, near: f64) -> Option<f64> {
        let (inside, within) = (self.low.next_up(), self.high.next_down());
        let plain =
            [near, 0.0, 1.0, -1.0, self.low + 1.0, self.high - 1.0, self.low, self.high, inside, within];
        let infinite = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let found = plain.into_iter().chain(infinite).find(|value| self.has(*value));
        found.or_else(|| self.first())
    }

    /// The least possible number, if the excluded numbers leave no other choice.
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

/// The range of each float that is compared with a constant. `None` when a range is empty.
pub(super) fn ranges(terms: &Terms, truths: &BTreeMap<Term, bool>) -> Option<BTreeMap<Term, FloatRange>> {
    let mut found: BTreeMap<Term, FloatRange> = BTreeMap::new();
    for (term, truth) in truths {
        let (subject, rule) = match *terms.node(*term) {
            TermNode::FloatEq(a, b) => match (terms.as_float(a), terms.as_float(b)) {
                (Some(constant), None) => (b, FloatConstraint::Equal(constant)),
                (None, Some(constant)) => (a, FloatConstraint::Equal(constant)),
                _ => continue,
            },
            TermNode::FloatLt(a, b) => match (terms.as_float(a), terms.as_float(b)) {
                (Some(constant), None) => (b, FloatConstraint::Above(constant)),
                (None, Some(constant)) => (a, FloatConstraint::Below(constant)),
                _ => continue,
            },
            TermNode::FloatLe(a, b) => match (terms.as_float(a), terms.as_float(b)) {
                (Some(constant), None) => (b, FloatConstraint::AtLeast(constant)),
                (None, Some(constant)) => (a, FloatConstraint::AtMost(constant)),
                _ => continue,
            },
            TermNode::FloatIsNan(a) => (a, FloatConstraint::Nan),
            TermNode::FloatIsInf(a) => (a, FloatConstraint::Infinite),
            _ => continue,
        };
        found.entry(subject).or_insert(FloatRange::ALL).narrow(&rule, *truth);
    }
    found.values().all(|range| range.pick(0.0).is_some()).then_some(found)
}

/// A constraint on one float.
enum FloatConstraint {
    Equal(f64),
    Above(f64),
    Below(f64),
    AtLeast(f64),
    AtMost(f64),
    Nan,
    Infinite,
}

impl FloatRange {
    fn narrow(&mut self, rule: &FloatConstraint, truth: bool) {
        if let FloatConstraint::Equal(it)
        | FloatConstraint::Above(it)
        | FloatConstraint::Below(it)
        | FloatConstraint::AtLeast(it)
        | FloatConstraint::AtMost(it) = rule
        {
            if it.is_nan() {
                // Every comparison with nan is false.
                self.can_be_nan &= !truth;
                self.can_be_number &= !truth;
                return;
            }
            // Every comparison of nan with a number is false, so nan is possible if all of them are.
            self.can_be_nan &= !truth;
        }
        match (rule, truth) {
            (FloatConstraint::Equal(it), true) => {
                self.at_least(*it);
                self.at_most(*it);
            }
            (FloatConstraint::Equal(it), false) => self.not.push(*it),
            (FloatConstraint::Above(it), true) | (FloatConstraint::AtMost(it), false) => {
                self.at_least(*it);
                self.not.push(*it);
            }
            (FloatConstraint::Below(it), true) | (FloatConstraint::AtLeast(it), false) => {
                self.at_most(*it);
                self.not.push(*it);
            }
            (FloatConstraint::AtLeast(it), true) | (FloatConstraint::Below(it), false) => self.at_least(*it),
            (FloatConstraint::AtMost(it), true) | (FloatConstraint::Above(it), false) => self.at_most(*it),
            (FloatConstraint::Nan, true) => self.can_be_number = false,
            (FloatConstraint::Nan, false) => self.can_be_nan = false,
            (FloatConstraint::Infinite, true) => {
                self.can_be_nan = false;
                self.must_be_infinite = true;
            }
            (FloatConstraint::Infinite, false) => {
                self.at_least(f64::MIN);
                self.at_most(f64::MAX);
            }
        }
    }
}
