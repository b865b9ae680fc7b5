//! Comparison and conversion of numbers.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use crate::explore::machine::{Machine, OrTrap};
use crate::explore::objects::compare::{holds, mirrored};
use crate::frontend::ir::CompareOp;
use crate::terms::Term;
use crate::values::{Bool, Float, Int, Value};

/// A number of any type.
#[derive(Clone, Debug)]
pub(crate) enum Number {
    Int(Int),
    Float(Float),
}

/// 2 to the 53: every integer below it is a float.
pub(crate) fn exact_limit() -> BigInt {
    BigInt::from(1) << 53
}

impl Machine {
    /// The number of a value. A bool counts as an integer.
    pub(crate) fn as_number(&mut self, value: &Value) -> Option<Number> {
        match value {
            Value::Bool(truth) => Some(Number::Int(self.int_of_truth(*truth))),
            Value::Int(value) => Some(Number::Int(value.clone())),
            Value::Float(value) => Some(Number::Float(*value)),
            Value::Object(_) => match self.underlying(value) {
                Some(inner @ (Value::Bool(_) | Value::Int(_) | Value::Float(_))) => self.as_number(&inner),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn int_of_truth(&mut self, truth: Bool) -> Int {
        match truth {
            Bool::Known(value) => Int::from(i64::from(value)),
            Bool::Term(term) => {
                let term = self.terms.int_of_bool(term);
                self.int_of(term)
            }
        }
    }

    /// An integer used as an index or a count. `None` if the value is not an integer.
    pub(crate) fn as_index(&mut self, value: &Value) -> Option<Int> {
        match self.as_number(value) {
            Some(Number::Int(value)) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn float_term(&mut self, value: Float) -> Term {
        match value {
            Float::Known(value) => self.terms.float(value),
            Float::Term(term) => term,
        }
    }

    pub(crate) fn float_of(&self, term: Term) -> Float {
        self.terms.as_float(term).map_or(Float::Term(term), Float::Known)
    }

    pub(crate) fn is_not_nan(&mut self, value: &Value) -> Bool {
        match value {
            Value::Float(Float::Known(value)) => Bool::Known(!value.is_nan()),
            Value::Float(Float::Term(term)) => {
                let nan = self.terms.float_is_nan(*term);
                let not = self.terms.not(nan);
                self.truth_of(not)
            }
            _ => Bool::Known(true),
        }
    }

    /// The float nearest to an integer, or `OverflowError`.
    pub(crate) fn nearest_float(&mut self, value: &Int) -> OrTrap<Float> {
        match value {
            Int::Known(value) => match crate::terms::nearest(value) {
                Some(value) => Ok(Float::Known(value)),
                None => self.raise("OverflowError", "int too large to convert to float"),
            },
            Int::Term(term) => {
                // The greatest integer that does not round to infinity.
                let limit: BigInt = (BigInt::from(1) << 1024) - (BigInt::from(1) << 970) - 1;
                if !self.is_between(*term, &-limit.clone(), &limit)? {
                    return self.raise("OverflowError", "int too large to convert to float");
                }
                let term = self.terms.float_of_int(*term);
                Ok(self.float_of(term))
            }
        }
    }

    /// Decides whether a term is within bounds.
    pub(crate) fn is_between(&mut self, term: Term, low: &BigInt, high: &BigInt) -> OrTrap<bool> {
        let (low, high) = (self.terms.int(low.clone()), self.terms.int(high.clone()));
        let (above, below) = (self.terms.int_le(low, term), self.terms.int_le(term, high));
        let inside = self.terms.and(above, below);
        self.decide_term(inside)
    }

    pub(crate) fn number_compare(&mut self, op: CompareOp, left: &Value, right: &Value) -> OrTrap<Bool> {
        let (Some(left), Some(right)) = (self.as_number(left), self.as_number(right)) else {
            return Ok(Bool::Known(false));
        };
        match (left, right) {
            (Number::Int(Int::Known(a)), Number::Int(Int::Known(b))) => Ok(Bool::Known(holds(op, a.cmp(&b)))),
            (Number::Int(a), Number::Int(b)) => {
                let (a, b) = (self.int_term(&a), self.int_term(&b));
                let term = match op {
                    CompareOp::Eq => self.terms.int_eq(a, b),
                    CompareOp::Lt => self.terms.int_lt(a, b),
                    CompareOp::Le => self.terms.int_le(a, b),
                    CompareOp::Gt => self.terms.int_lt(b, a),
                    CompareOp::Ge => self.terms.int_le(b, a),
                    _ => {
                        let equal = self.terms.int_eq(a, b);
                        self.terms.not(equal)
                    }
                };
                Ok(self.truth_of(term))
            }
            (Number::Float(a), Number::Float(b)) => Ok(self.float_compare(op, a, b)),
            (Number::Int(a), Number::Float(b)) => self.mixed_compare(op, &a, b),
            (Number::Float(a), Number::Int(b)) => self.mixed_compare(mirrored(op), &b, a),
        }
    }

    fn float_compare(&mut self, op: CompareOp, a: Float, b: Float) -> Bool {
        let (a, b) = (self.float_term(a), self.float_term(b));
        let term = match op {
            CompareOp::Lt => self.terms.float_lt(a, b),
            CompareOp::Le => self.terms.float_le(a, b),
            CompareOp::Gt => self.terms.float_lt(b, a),
            CompareOp::Ge => self.terms.float_le(b, a),
            CompareOp::Ne => {
                let equal = self.terms.float_eq(a, b);
                self.terms.not(equal)
            }
            _ => self.terms.float_eq(a, b),
        };
        self.truth_of(term)
    }

    /// Integers and floats compare by their exact values.
    fn mixed_compare(&mut self, op: CompareOp, a: &Int, b: Float) -> OrTrap<Bool> {
        match (a, b) {
            (Int::Known(a), Float::Known(b)) => {
                Ok(Bool::Known(compare_exactly(a, b).map_or(op == CompareOp::Ne, |order| holds(op, order))))
            }
            (Int::Term(a), Float::Known(b)) => Ok(self.term_against_float(op, *a, b)),
            (Int::Known(a), Float::Term(_)) => {
                if a.abs() > exact_limit() {
                    return self.unsupported("a float compared with an integer beyond 2**53");
                }
                let a = self.nearest_float(&Int::Known(a.clone()))?;
                Ok(self.float_compare(op, a, b))
            }
            (Int::Term(term), Float::Term(_)) => {
                let limit = exact_limit();
                if !self.is_between(*term, &-limit.clone(), &limit)? {
                    return self.unsupported("a float compared with an integer beyond 2**53");
                }
                let a = self.nearest_float(a)?;
                Ok(self.float_compare(op, a, b))
            }
        }
    }

    fn term_against_float(&mut self, op: CompareOp, a: Term, b: f64) -> Bool {
        if !b.is_finite() {
            let order = if b > 0.0 { Ordering::Less } else { Ordering::Greater };
            return Bool::Known(if b.is_nan() { op == CompareOp::Ne } else { holds(op, order) });
        }
        let exact = |value: f64| crate::terms::exact(value).unwrap_or_else(BigInt::zero);
        let (floor, ceiling) = (self.terms.int(exact(b.floor())), self.terms.int(exact(b.ceil())));
        let is_integral = b.fract() == 0.0;
        let term = match op {
            CompareOp::Le => self.terms.int_le(a, floor),
            CompareOp::Lt => self.terms.int_lt(a, ceiling),
            CompareOp::Ge => self.terms.int_le(ceiling, a),
            CompareOp::Gt => self.terms.int_lt(floor, a),
            op if !is_integral => return Bool::Known(op == CompareOp::Ne),
            op => {
                let equal = self.terms.int_eq(a, floor);
                if op == CompareOp::Ne { self.terms.not(equal) } else { equal }
            }
        };
        self.truth_of(term)
    }
}

/// `None` if the float is nan.
fn compare_exactly(a: &BigInt, b: f64) -> Option<Ordering> {
    if b.is_nan() {
        return None;
    }
    if b.is_infinite() {
        return Some(if b > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let whole = crate::terms::exact(b)?;
    Some(match a.cmp(&whole) {
        Ordering::Equal if b.fract() > 0.0 => Ordering::Less,
        Ordering::Equal if b.fract() < 0.0 => Ordering::Greater,
        order => order,
    })
}
