//! The least and the greatest value of an integer term, derived from its shape.

use num_bigint::BigInt;
use num_traits::Signed;

use super::arena::{BitOp, Term, TermNode, Terms};

/// Inclusive bounds. `None` means unbounded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Interval {
    pub(crate) low: Option<BigInt>,
    pub(crate) high: Option<BigInt>,
}

impl Interval {
    pub(crate) const ALL: Self = Self { low: None, high: None };

    pub(crate) fn of(low: i64, high: i64) -> Self {
        Self { low: Some(low.into()), high: Some(high.into()) }
    }

    pub(crate) fn from(low: i64) -> Self {
        Self { low: Some(low.into()), high: None }
    }

    fn exactly(value: &BigInt) -> Self {
        Self { low: Some(value.clone()), high: Some(value.clone()) }
    }

    pub(crate) fn is_within(&self, low: &BigInt, high: &BigInt) -> bool {
        self.low.as_ref().is_some_and(|found| found >= low)
            && self.high.as_ref().is_some_and(|found| found <= high)
    }

    /// Both bounds, if there are two.
    fn both(&self) -> Option<(&BigInt, &BigInt)> {
        Some((self.low.as_ref()?, self.high.as_ref()?))
    }
}

fn sum(a: Option<&BigInt>, b: Option<&BigInt>) -> Option<BigInt> {
    Some(a? + b?)
}

impl Terms {
    pub(super) fn interval_of(&self, node: &TermNode) -> Interval {
        match node {
            TermNode::Int(value) => Interval::exactly(value),
            TermNode::Var(var) => self.declared(*var).map_or(Interval::ALL, |found| found.interval.clone()),
            TermNode::Ite(_, a, b) => {
                let (a, b) = (self.interval(*a), self.interval(*b));
                let low = a.low.as_ref().zip(b.low.as_ref()).map(|(a, b)| a.min(b).clone());
                let high = a.high.as_ref().zip(b.high.as_ref()).map(|(a, b)| a.max(b).clone());
                Interval { low, high }
            }
            TermNode::Add(a, b) => {
                let (a, b) = (self.interval(*a), self.interval(*b));
                Interval {
                    low: sum(a.low.as_ref(), b.low.as_ref()),
                    high: sum(a.high.as_ref(), b.high.as_ref()),
                }
            }
            TermNode::Neg(a) => {
                let a = self.interval(*a);
                Interval { low: a.high.as_ref().map(|v| -v), high: a.low.as_ref().map(|v| -v) }
            }
            TermNode::Mul(a, b) => self.product(*a, *b),
            TermNode::FloorMod(_, b) => self.remainder(*b),
            TermNode::FloorDiv(a, b) => self.quotient(*a, *b),
            TermNode::Bits(op, a, b) => self.bit_bounds(*op, *a, *b),
            _ => Interval::ALL,
        }
    }

    fn product(&self, a: Term, b: Term) -> Interval {
        if a == b {
            return Interval { low: Some(0.into()), high: None };
        }
        let (Some((al, ah)), Some((bl, bh))) = (self.interval(a).both(), self.interval(b).both()) else {
            let both = [self.interval(a), self.interval(b)];
            let positive = both.iter().all(|i| i.low.as_ref().is_some_and(|low| !low.is_negative()));
            return if positive { Interval::from(0) } else { Interval::ALL };
        };
        let all = [al * bl, al * bh, ah * bl, ah * bh];
        Interval { low: all.iter().min().cloned(), high: all.iter().max().cloned() }
    }

    fn remainder(&self, divisor: Term) -> Interval {
        let found = self.interval(divisor);
        match (&found.low, &found.high) {
            (Some(low), high) if low.is_positive() => {
                Interval { low: Some(0.into()), high: high.as_ref().map(|high| high - 1) }
            }
            (low, Some(high)) if high.is_negative() => {
                Interval { low: low.as_ref().map(|low| low + 1), high: Some(0.into()) }
            }
            _ => Interval::ALL,
        }
    }

    fn quotient(&self, a: Term, b: Term) -> Interval {
        let Some(divisor) = self.as_int(b).filter(|divisor| divisor.is_positive()) else {
            return Interval::ALL;
        };
        let floor = |value: &BigInt| num_integer::Integer::div_floor(value, divisor);
        let a = self.interval(a);
        Interval { low: a.low.as_ref().map(floor), high: a.high.as_ref().map(floor) }
    }

    fn bit_bounds(&self, op: BitOp, a: Term, b: Term) -> Interval {
        let (a, b) = (self.interval(a), self.interval(b));
        let high = match op {
            BitOp::And => [&a.high, &b.high].into_iter().flatten().min().cloned(),
            BitOp::Or | BitOp::Xor => a.high.as_ref().zip(b.high.as_ref()).map(|(a, b)| {
                let bits = a.max(b).bits();
                (BigInt::from(1) << bits) - 1
            }),
        };
        Interval { low: Some(0.into()), high }
    }
}
