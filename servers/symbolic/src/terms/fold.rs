//! Creates terms. Constants are folded and equal terms are recognised.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::arena::{BitOp, FloatOp, RoundingMode, Sort, Term, TermNode, Terms};

impl Terms {
    pub(crate) fn not(&mut self, a: Term) -> Term {
        match self.node(a) {
            TermNode::Bool(value) => {
                let value = !*value;
                self.bool(value)
            }
            TermNode::Not(inner) => *inner,
            _ => self.keep(TermNode::Not(a), Sort::Bool),
        }
    }

    pub(crate) fn and(&mut self, a: Term, b: Term) -> Term {
        match (self.as_bool(a), self.as_bool(b)) {
            (Some(false), _) | (_, Some(false)) => Self::FALSE,
            (Some(true), _) => b,
            (_, Some(true)) => a,
            _ if a == b => a,
            _ if self.not(a) == b => Self::FALSE,
            _ => self.keep(TermNode::And(a.min(b), a.max(b)), Sort::Bool),
        }
    }

    pub(crate) fn or(&mut self, a: Term, b: Term) -> Term {
        match (self.as_bool(a), self.as_bool(b)) {
            (Some(true), _) | (_, Some(true)) => Self::TRUE,
            (Some(false), _) => b,
            (_, Some(false)) => a,
            _ if a == b => a,
            _ if self.not(a) == b => Self::TRUE,
            _ => self.keep(TermNode::Or(a.min(b), a.max(b)), Sort::Bool),
        }
    }

    pub(crate) fn ite(&mut self, c: Term, a: Term, b: Term) -> Term {
        if let Some(value) = self.as_bool(c) {
            return if value { a } else { b };
        }
        if a == b {
            return a;
        }
        let sort = self.sort(a);
        if sort == Sort::Bool {
            match (self.as_bool(a), self.as_bool(b)) {
                (Some(true), Some(false)) => return c,
                (Some(false), Some(true)) => return self.not(c),
                _ => {}
            }
        }
        self.keep(TermNode::Ite(c, a, b), sort)
    }

    /// Equality of two bools.
    pub(crate) fn iff(&mut self, a: Term, b: Term) -> Term {
        let other = self.not(b);
        self.ite(a, b, other)
    }

    pub(crate) fn int_of_bool(&mut self, a: Term) -> Term {
        let (one, zero) = (self.int(1), self.int(0));
        self.ite(a, one, zero)
    }

    pub(crate) fn int_eq(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return Self::TRUE;
        }
        if let (Some(a), Some(b)) = (self.as_int(a), self.as_int(b)) {
            let equal = a == b;
            return self.bool(equal);
        }
        if self.is_below(a, b) || self.is_below(b, a) {
            return Self::FALSE;
        }
        // A bool converted to 0 or 1 and compared with one of them is that bool again.
        for (ite, constant) in [(a, b), (b, a)] {
            if let (TermNode::Ite(c, x, y), Some(value)) =
                (self.node(ite).clone(), self.as_int(constant).cloned())
                && let (Some(x), Some(y)) = (self.as_int(x).cloned(), self.as_int(y).cloned())
            {
                let (x, y) = (self.bool(x == value), self.bool(y == value));
                return self.ite(c, x, y);
            }
        }
        self.keep(TermNode::IntEq(a.min(b), a.max(b)), Sort::Bool)
    }

    /// Whether the intervals imply `a < b`.
    fn is_below(&self, a: Term, b: Term) -> bool {
        let (a, b) = (self.interval(a), self.interval(b));
        matches!((&a.high, &b.low), (Some(high), Some(low)) if high < low)
    }

    pub(crate) fn int_le(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return Self::TRUE;
        }
        if let (Some(high), Some(low)) = (&self.interval(a).high, &self.interval(b).low)
            && high <= low
        {
            return Self::TRUE;
        }
        if self.is_below(b, a) {
            return Self::FALSE;
        }
        self.keep(TermNode::IntLe(a, b), Sort::Bool)
    }

    pub(crate) fn int_lt(&mut self, a: Term, b: Term) -> Term {
        let le = self.int_le(b, a);
        self.not(le)
    }

    pub(crate) fn add(&mut self, a: Term, b: Term) -> Term {
        match (self.as_int(a).cloned(), self.as_int(b).cloned()) {
            (Some(a), Some(b)) => return self.int(a + b),
            (Some(zero), None) if zero.is_zero() => return b,
            (None, Some(zero)) if zero.is_zero() => return a,
            (Some(_), None) => return self.add(b, a),
            // Constants are collected on the right, so that `x + 1 - 1` is `x`.
            (None, Some(right)) => {
                if let TermNode::Add(x, y) = *self.node(a)
                    && let Some(y) = self.as_int(y).cloned()
                {
                    let constant = self.int(y + right);
                    return self.add(x, constant);
                }
            }
            (None, None) => {
                if self.neg(a) == b {
                    return self.int(0);
                }
                return self.keep(TermNode::Add(a.min(b), a.max(b)), Sort::Int);
            }
        }
        self.keep(TermNode::Add(a, b), Sort::Int)
    }

    pub(crate) fn neg(&mut self, a: Term) -> Term {
        match self.node(a).clone() {
            TermNode::Int(value) => self.int(-value),
            TermNode::Neg(inner) => inner,
            _ => self.keep(TermNode::Neg(a), Sort::Int),
        }
    }

    pub(crate) fn sub(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return self.int(0);
        }
        let b = self.neg(b);
        self.add(a, b)
    }

    pub(crate) fn mul(&mut self, a: Term, b: Term) -> Term {
        match (self.as_int(a).cloned(), self.as_int(b).cloned()) {
            (Some(a), Some(b)) => self.int(a * b),
            (Some(_), None) => self.mul(b, a),
            (None, Some(value)) if value.is_zero() => self.int(0),
            (None, Some(value)) if value.is_one() => a,
            (None, Some(value)) if (-&value).is_one() => self.neg(a),
            (None, Some(_)) => self.keep(TermNode::Mul(a, b), Sort::Int),
            (None, None) => self.keep(TermNode::Mul(a.min(b), a.max(b)), Sort::Int),
        }
    }

    pub(crate) fn floor_div(&mut self, a: Term, b: Term) -> Term {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) if !y.is_zero() => {
                let result = x.div_floor(y);
                self.int(result)
            }
            (_, Some(one)) if one.is_one() => a,
            _ => self.keep(TermNode::FloorDiv(a, b), Sort::Int),
        }
    }

    pub(crate) fn floor_mod(&mut self, a: Term, b: Term) -> Term {
        match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) if !y.is_zero() => {
                let result = x.mod_floor(y);
                self.int(result)
            }
            (_, Some(one)) if one.is_one() => self.int(0),
            (None, Some(y)) if y.is_positive() && self.interval(a).is_within(&BigInt::zero(), &(y - 1)) => a,
            _ => self.keep(TermNode::FloorMod(a, b), Sort::Int),
        }
    }

    pub(crate) fn bits(&mut self, op: BitOp, a: Term, b: Term) -> Term {
        if let (Some(x), Some(y)) = (self.as_int(a), self.as_int(b)) {
            let result = match op {
                BitOp::And => x & y,
                BitOp::Or => x | y,
                BitOp::Xor => x ^ y,
            };
            return self.int(result);
        }
        self.keep(TermNode::Bits(op, a.min(b), a.max(b)), Sort::Int)
    }

    pub(crate) fn float_op(&mut self, op: FloatOp, a: Term, b: Term) -> Term {
        if let (Some(x), Some(y)) = (self.as_float(a), self.as_float(b)) {
            return self.float(match op {
                FloatOp::Add => x + y,
                FloatOp::Sub => x - y,
                FloatOp::Mul => x * y,
                FloatOp::Div => x / y,
            });
        }
        // A division by a power of two is a multiplication by another: both round the same number once.
        if let (FloatOp::Div, Some(divisor)) = (op, self.as_float(b))
            && is_power_of_two(divisor)
            && (1.0 / divisor).is_normal()
        {
            let factor = self.float(1.0 / divisor);
            return self.float_op(FloatOp::Mul, a, factor);
        }
        self.keep(TermNode::FloatOp(op, a, b), Sort::Float)
    }

    pub(crate) fn float_neg(&mut self, a: Term) -> Term {
        match self.as_float(a) {
            Some(value) => self.float(-value),
            None => self.keep(TermNode::FloatNeg(a), Sort::Float),
        }
    }

    pub(crate) fn float_abs(&mut self, a: Term) -> Term {
        match self.as_float(a) {
            Some(value) => self.float(value.abs()),
            None => self.keep(TermNode::FloatAbs(a), Sort::Float),
        }
    }

    pub(crate) fn float_sqrt(&mut self, a: Term) -> Term {
        match self.as_float(a) {
            Some(value) => self.float(value.sqrt()),
            None => self.keep(TermNode::FloatSqrt(a), Sort::Float),
        }
    }

    pub(crate) fn float_round(&mut self, mode: RoundingMode, a: Term) -> Term {
        match self.as_float(a) {
            Some(value) => self.float(round(mode, value)),
            None => self.keep(TermNode::FloatRound(mode, a), Sort::Float),
        }
    }

    pub(crate) fn float_eq(&mut self, a: Term, b: Term) -> Term {
        match (self.as_float(a), self.as_float(b)) {
            (Some(x), Some(y)) => self.bool(x == y),
            _ => self.keep(TermNode::FloatEq(a.min(b), a.max(b)), Sort::Bool),
        }
    }

    pub(crate) fn float_lt(&mut self, a: Term, b: Term) -> Term {
        match (self.as_float(a), self.as_float(b)) {
            (Some(x), Some(y)) => self.bool(x < y),
            _ => self.keep(TermNode::FloatLt(a, b), Sort::Bool),
        }
    }

    pub(crate) fn float_le(&mut self, a: Term, b: Term) -> Term {
        match (self.as_float(a), self.as_float(b)) {
            (Some(x), Some(y)) => self.bool(x <= y),
            _ => self.keep(TermNode::FloatLe(a, b), Sort::Bool),
        }
    }

    pub(crate) fn float_is_nan(&mut self, a: Term) -> Term {
        match self.as_float(a) {
            Some(value) => self.bool(value.is_nan()),
            None if matches!(self.node(a), TermNode::FloatOfInt(_)) => Self::FALSE,
            None => self.keep(TermNode::FloatIsNan(a), Sort::Bool),
        }
    }

    pub(crate) fn float_is_inf(&mut self, a: Term) -> Term {
        match self.as_float(a) {
            Some(value) => self.bool(value.is_infinite()),
            None if matches!(self.node(a), TermNode::FloatOfInt(_)) => Self::FALSE,
            None => self.keep(TermNode::FloatIsInf(a), Sort::Bool),
        }
    }

    pub(crate) fn float_of_int(&mut self, a: Term) -> Term {
        match self.as_int(a).and_then(super::eval::nearest) {
            Some(value) => self.float(value),
            None => self.keep(TermNode::FloatOfInt(a), Sort::Float),
        }
    }

    pub(crate) fn int_of_float(&mut self, a: Term) -> Term {
        match self.as_float(a).and_then(super::eval::exact) {
            Some(value) => self.int(value),
            None => self.keep(TermNode::IntOfFloat(a), Sort::Int),
        }
    }

    /// A small constant, for shifts and counts.
    pub(crate) fn as_small(&self, a: Term) -> Option<i64> {
        self.as_int(a).and_then(ToPrimitive::to_i64)
    }
}

fn is_power_of_two(value: f64) -> bool {
    value.is_normal() && value.to_bits() & 0xF_FFFF_FFFF_FFFF == 0
}

pub(super) fn round(mode: RoundingMode, value: f64) -> f64 {
    match mode {
        RoundingMode::Even => value.round_ties_even(),
        RoundingMode::Down => value.floor(),
        RoundingMode::Up => value.ceil(),
        RoundingMode::Zero => value.trunc(),
    }
}
