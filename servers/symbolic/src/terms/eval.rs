//! The value of a term under an assignment of its variables.

use std::cell::RefCell;
use std::collections::HashMap;

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{FromPrimitive, ToPrimitive, Zero};

use super::arena::{BitOp, FloatOp, Sort, Term, TermNode, Terms, Var};

/// A concrete value of a sort.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Scalar {
    Bool(bool),
    Int(BigInt),
    Float(f64),
}

/// An assignment. Variables that it does not contain are false, zero and 0.0.
#[derive(Default, Debug)]
pub(crate) struct Model {
    values: HashMap<Var, Scalar>,
    seen: RefCell<HashMap<Term, Scalar>>,
}

impl Model {
    pub(crate) fn new(values: HashMap<Var, Scalar>) -> Self {
        Self { values, seen: RefCell::default() }
    }

    /// The assigned variables.
    pub(crate) fn values(&self) -> &HashMap<Var, Scalar> {
        &self.values
    }

    pub(crate) fn truth(&self, terms: &Terms, term: Term) -> bool {
        matches!(self.value(terms, term), Some(Scalar::Bool(true)))
    }

    pub(crate) fn int(&self, terms: &Terms, term: Term) -> BigInt {
        if let Some(Scalar::Int(value)) = self.value(terms, term) { value } else { BigInt::zero() }
    }

    pub(crate) fn float(&self, terms: &Terms, term: Term) -> f64 {
        if let Some(Scalar::Float(value)) = self.value(terms, term) { value } else { 0.0 }
    }

    /// The value of a term. `None` if an operation has no value, such as a division by zero.
    pub(crate) fn value(&self, terms: &Terms, term: Term) -> Option<Scalar> {
        if let Some(found) = self.seen.borrow().get(&term) {
            return Some(found.clone());
        }
        let found = self.compute(terms, term)?;
        self.seen.borrow_mut().insert(term, found.clone());
        Some(found)
    }

    fn compute(&self, terms: &Terms, term: Term) -> Option<Scalar> {
        let b = |term: &Term| match self.value(terms, *term) {
            Some(Scalar::Bool(value)) => Some(value),
            _ => None,
        };
        let i = |term: &Term| match self.value(terms, *term) {
            Some(Scalar::Int(value)) => Some(value),
            _ => None,
        };
        let f = |term: &Term| match self.value(terms, *term) {
            Some(Scalar::Float(value)) => Some(value),
            _ => None,
        };
        Some(match terms.node(term) {
            TermNode::Bool(value) => Scalar::Bool(*value),
            TermNode::Int(value) => Scalar::Int(value.clone()),
            TermNode::Float(bits) => Scalar::Float(f64::from_bits(*bits)),
            TermNode::Var(var) => match self.values.get(var) {
                Some(value) => value.clone(),
                None => self.default_of(terms, *var),
            },
            TermNode::Not(a) => Scalar::Bool(!b(a)?),
            TermNode::And(x, y) => Scalar::Bool(b(x)? && b(y)?),
            TermNode::Or(x, y) => Scalar::Bool(b(x)? || b(y)?),
            TermNode::Ite(c, x, y) => return self.value(terms, if b(c)? { *x } else { *y }),
            TermNode::IntEq(x, y) => Scalar::Bool(i(x)? == i(y)?),
            TermNode::IntLe(x, y) => Scalar::Bool(i(x)? <= i(y)?),
            TermNode::Add(x, y) => Scalar::Int(i(x)? + i(y)?),
            TermNode::Mul(x, y) => Scalar::Int(i(x)? * i(y)?),
            TermNode::Neg(x) => Scalar::Int(-i(x)?),
            TermNode::FloorDiv(x, y) => Scalar::Int(i(x)?.div_floor(&non_zero(i(y)?)?)),
            TermNode::FloorMod(x, y) => Scalar::Int(i(x)?.mod_floor(&non_zero(i(y)?)?)),
            TermNode::Bits(op, x, y) => {
                let (x, y) = (i(x)?, i(y)?);
                Scalar::Int(match op {
                    BitOp::And => x & y,
                    BitOp::Or => x | y,
                    BitOp::Xor => x ^ y,
                })
            }
            TermNode::FloatOp(op, x, y) => {
                let (x, y) = (f(x)?, f(y)?);
                Scalar::Float(match op {
                    FloatOp::Add => x + y,
                    FloatOp::Sub => x - y,
                    FloatOp::Mul => x * y,
                    FloatOp::Div => x / y,
                })
            }
            TermNode::FloatNeg(x) => Scalar::Float(-f(x)?),
            TermNode::FloatAbs(x) => Scalar::Float(f(x)?.abs()),
            TermNode::FloatSqrt(x) => Scalar::Float(f(x)?.sqrt()),
            TermNode::FloatRound(mode, x) => Scalar::Float(super::fold::round(*mode, f(x)?)),
            TermNode::FloatEq(x, y) => Scalar::Bool(f(x)? == f(y)?),
            TermNode::FloatLt(x, y) => Scalar::Bool(f(x)? < f(y)?),
            TermNode::FloatLe(x, y) => Scalar::Bool(f(x)? <= f(y)?),
            TermNode::FloatIsNan(x) => Scalar::Bool(f(x)?.is_nan()),
            TermNode::FloatIsInf(x) => Scalar::Bool(f(x)?.is_infinite()),
            TermNode::FloatOfInt(x) => Scalar::Float(nearest(&i(x)?)?),
            TermNode::IntOfFloat(x) => Scalar::Int(exact(f(x)?)?),
        })
    }

    fn default_of(&self, terms: &Terms, var: Var) -> Scalar {
        let Some(declared) = terms.declared(var) else { return Scalar::Bool(false) };
        match declared.sort {
            Sort::Bool => Scalar::Bool(false),
            Sort::Float => Scalar::Float(0.0),
            Sort::Int => {
                let low = declared.interval.low.clone().filter(|low| low > &BigInt::zero());
                let high = declared.interval.high.clone().filter(|high| high < &BigInt::zero());
                Scalar::Int(low.or(high).unwrap_or_default())
            }
        }
    }
}

fn non_zero(value: BigInt) -> Option<BigInt> {
    (!value.is_zero()).then_some(value)
}

/// The double nearest to an integer, ties to even. `None` if it is infinite, where Python raises an
/// exception.
pub(crate) fn nearest(value: &BigInt) -> Option<f64> {
    let bits = value.bits();
    if bits <= 53 {
        return value.to_i64().map(|small| {
            #[allow(clippy::cast_precision_loss)] // 53 bits are exact
            let exact = small as f64;
            exact
        });
    }
    if bits > 1024 {
        return None;
    }
    let shift = bits - 54;
    let magnitude = value.magnitude();
    let mut top = (magnitude >> shift).to_u64()?;
    let sticky = (magnitude >> shift) << shift != *magnitude;
    // 54 bits, one more than a double has. Ties are rounded to even with the remaining bits.
    let half = top & 1 == 1;
    top >>= 1;
    if half && (sticky || top & 1 == 1) {
        top += 1;
    }
    #[allow(clippy::cast_precision_loss)] // at most 2^53
    let scaled = top as f64 * 2f64.powi(i32::try_from(shift + 1).ok()?);
    let signed = if value.sign() == Sign::Minus { -scaled } else { scaled };
    signed.is_finite().then_some(signed)
}

/// The integer part of a finite double.
pub(crate) fn exact(value: f64) -> Option<BigInt> {
    BigInt::from_f64(value.trunc())
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::nearest;

    #[test]
    fn integers_round_to_even() {
        let two = |bits: u32| BigInt::from(1) << bits;
        assert_eq!(nearest(&(two(53) + 1)), Some(9_007_199_254_740_992.0));
        assert_eq!(nearest(&(two(53) + 3)), Some(9_007_199_254_740_996.0));
        assert_eq!(nearest(&(-two(54) - 3)), Some(-18_014_398_509_481_988.0));
        assert_eq!(nearest(&(two(1024) - 1)), None);
        assert_eq!(nearest(&(two(1024) - two(970))), None);
        assert_eq!(nearest(&(two(1024) - two(971))), Some(f64::MAX));
    }
}
