//! Arithmetic operators.

use std::rc::Rc;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

use super::numbers::{Number, exact_limit};
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::frontend::ir::{BinaryOp, CompareOp, UnaryOp};
use crate::terms::{BitOp, FloatOp, Interval, Sort, Term};
use crate::values::{Bool, Float, Int, Object, Value};

/// Maximum size of an integer, in bits.
const LARGEST: u64 = 1 << 20;

impl Machine {
    pub(crate) fn unary(&mut self, op: UnaryOp, value: &Value) -> OrTrap<Value> {
        let (name, symbol) = match op {
            UnaryOp::Neg => ("__neg__", "-"),
            UnaryOp::Pos => ("__pos__", "+"),
            _ => ("__invert__", "~"),
        };
        if let Some(method) = self.special(value, name)? {
            return self.call(&method, Vec::new(), Vec::new());
        }
        if let Value::Object(id) = value
            && let Object::Dict(dict) = self.state.get(*id).clone()
            && matches!(dict.kind, crate::values::DictKind::Counter)
            && let Some((a, b)) = match op {
                UnaryOp::Pos => Some((dict.entries, Vec::new())),
                UnaryOp::Neg => Some((Vec::new(), dict.entries)),
                _ => None,
            }
            && let Some(counts) = self.counter_operation(BinaryOp::Sub, &a, &b)?
        {
            return Ok(counts);
        }
        match (op, self.as_number(value)) {
            (UnaryOp::Pos, Some(Number::Int(value))) => Ok(Value::Int(value)),
            (UnaryOp::Pos, Some(Number::Float(value))) => Ok(Value::Float(value)),
            (UnaryOp::Neg, Some(Number::Int(value))) => {
                let term = self.int_term(&value);
                let term = self.terms.neg(term);
                Ok(self.int_value(term))
            }
            (UnaryOp::Neg, Some(Number::Float(value))) => {
                let term = self.float_term(value);
                let term = self.terms.float_neg(term);
                Ok(Value::Float(self.float_of(term)))
            }
            (UnaryOp::Invert, Some(Number::Int(value))) => {
                let term = self.int_term(&value);
                let negated = self.terms.neg(term);
                let one = self.terms.int(1);
                let term = self.terms.sub(negated, one);
                Ok(self.int_value(term))
            }
            _ => {
                let name = self.type_name(value);
                self.raise("TypeError", format!("bad operand type for unary {symbol}: '{name}'"))
            }
        }
    }

    pub(crate) fn in_place(&mut self, op: BinaryOp, left: &Value, right: &Value) -> OrTrap<Value> {
        if let Value::Object(id) = left {
            let name = method_name(op).replacen("__", "__i", 1);
            if let Some(method) = self.special(left, &name)? {
                let result = self.call(&method, vec![right.clone()], Vec::new())?;
                if !matches!(result, Value::NotImplemented) {
                    return Ok(result);
                }
            }
            match (op, self.state.get(*id)) {
                (BinaryOp::Add, Object::List(_) | Object::OpenList(_)) => {
                    if !self.is_iterable(right)? {
                        let name = self.type_name(right);
                        return self.raise("TypeError", format!("'{name}' object is not iterable"));
                    }
                    let items = self.collect(right)?;
                    self.list_extend(left, items)?;
                    return Ok(left.clone());
                }
                (BinaryOp::Add, Object::Deque(..)) => {
                    let extend: crate::frontend::ir::Name = Rc::from("extend");
                    let extend = Value::Method(Rc::new((left.clone(), extend)));
                    self.call(&extend, vec![right.clone()], Vec::new())?;
                    return Ok(left.clone());
                }
                (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::And, Object::Dict(dict))
                    if matches!(dict.kind, crate::values::DictKind::Counter) =>
                {
                    return self.counter_in_place(op, left, right);
                }
                (BinaryOp::Mul, Object::List(_) | Object::OpenList(_)) => {
                    let items = self.collect(left)?;
                    if let Some(count) = self.as_index(right) {
                        let items = self.repeat(&items, &count)?;
                        self.state.set(*id, Object::List(items));
                        return Ok(left.clone());
                    }
                }
                (
                    BinaryOp::Or | BinaryOp::And | BinaryOp::Sub | BinaryOp::Xor,
                    Object::Set(_) | Object::Dict(_),
                ) => {
                    return self.set_in_place(op, left, right);
                }
                _ => {}
            }
        }
        self.binary(op, left, right)
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, left: &Value, right: &Value) -> OrTrap<Value> {
        if let Some(result) = self.binary_special(op, left, right)? {
            return Ok(result);
        }
        if let (Value::Bool(a), Value::Bool(b)) = (left, right)
            && matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor)
        {
            return Ok(Value::Bool(self.truth_bits(op, *a, *b)));
        }
        if let (Some(a), Some(b)) = (self.as_number(left), self.as_number(right)) {
            return match (a, b) {
                (Number::Int(a), Number::Int(b)) => self.int_binary(op, &a, &b),
                (Number::Float(a), Number::Float(b)) => self.float_binary(op, a, b),
                (Number::Int(a), Number::Float(b)) => {
                    let a = self.nearest_float(&a)?;
                    self.float_binary(op, a, b)
                }
                (Number::Float(a), Number::Int(b)) => {
                    let b = self.nearest_float(&b)?;
                    self.float_binary(op, a, b)
                }
            };
        }
        match self.container_binary(op, left, right)? {
            Some(value) => Ok(value),
            None => self.no_operator(op, left, right),
        }
    }

    fn no_operator<T>(&mut self, op: BinaryOp, left: &Value, right: &Value) -> OrTrap<T> {
        let (a, b) = (self.type_name(left), self.type_name(right));
        if op == BinaryOp::Add && matches!(left, Value::Str(_)) {
            return self.raise("TypeError", format!("can only concatenate str (not \"{b}\") to str"));
        }
        let is_list = matches!(left, Value::Object(id) if matches!(self.state.get(*id), Object::List(_) | Object::OpenList(_)));
        if op == BinaryOp::Add && (is_list || matches!(left, Value::Tuple(_))) {
            return self.raise("TypeError", format!("can only concatenate {a} (not \"{b}\") to {a}"));
        }
        let text = format!("unsupported operand type(s) for {}: '{a}' and '{b}'", symbol(op));
        self.raise("TypeError", text)
    }

    /// Operator methods of classes of the analysed code.
    fn binary_special(&mut self, op: BinaryOp, left: &Value, right: &Value) -> OrTrap<Option<Value>> {
        let name = method_name(op);
        let reflected = name.replacen("__", "__r", 1);
        for (receiver, other, name) in [(left, right, name), (right, left, reflected.as_str())] {
            if !matches!(receiver, Value::Object(_)) {
                continue;
            }
            if let Some(method) = self.special(receiver, name)? {
                let result = self.call(&method, vec![other.clone()], Vec::new())?;
                if !matches!(result, Value::NotImplemented) {
                    return Ok(Some(result));
                }
            }
        }
        Ok(None)
    }

    fn truth_bits(&mut self, op: BinaryOp, a: Bool, b: Bool) -> Bool {
        let (a, b) = (self.truth_term(a), self.truth_term(b));
        let term = match op {
            BinaryOp::And => self.terms.and(a, b),
            BinaryOp::Or => self.terms.or(a, b),
            _ => {
                let same = self.terms.iff(a, b);
                self.terms.not(same)
            }
        };
        self.truth_of(term)
    }

    fn int_binary(&mut self, op: BinaryOp, a: &Int, b: &Int) -> OrTrap<Value> {
        match op {
            BinaryOp::Div => return self.true_division(a, b),
            BinaryOp::Pow => return self.int_power(a, b),
            BinaryOp::LShift | BinaryOp::RShift => return self.shift(op, a, b),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => return self.int_bits(op, a, b),
            BinaryOp::MatMul => return self.no_operator(op, &Value::int(0), &Value::int(0)),
            BinaryOp::FloorDiv | BinaryOp::Mod => self.refuse_zero(b, op)?,
            BinaryOp::Mul => self.refuse_huge(a, b)?,
            _ => {}
        }
        let (a, b) = (self.int_term(a), self.int_term(b));
        let term = match op {
            BinaryOp::Add => self.terms.add(a, b),
            BinaryOp::Sub => self.terms.sub(a, b),
            BinaryOp::Mul => self.terms.mul(a, b),
            BinaryOp::FloorDiv => self.terms.floor_div(a, b),
            _ => self.terms.floor_mod(a, b),
        };
        Ok(self.int_value(term))
    }

    fn refuse_huge(&self, a: &Int, b: &Int) -> OrTrap<()> {
        let bits = a.known().map_or(0, BigInt::bits) + b.known().map_or(0, BigInt::bits);
        if bits > LARGEST { Err(Trap::Bound("an integer of a million bits".to_owned())) } else { Ok(()) }
    }

    fn refuse_zero(&mut self, divisor: &Int, op: BinaryOp) -> OrTrap<()> {
        let zero = Value::int(0);
        let is_zero = self.number_compare(CompareOp::Eq, &Value::Int(divisor.clone()), &zero)?;
        if self.decide(is_zero)? {
            let text = match op {
                BinaryOp::Div => "division by zero",
                _ => "integer division or modulo by zero",
            };
            let text = if op == BinaryOp::Mod { "integer modulo by zero" } else { text };
            return self.raise("ZeroDivisionError", text);
        }
        Ok(())
    }

    fn true_division(&mut self, a: &Int, b: &Int) -> OrTrap<Value> {
        self.refuse_zero(b, BinaryOp::Div)?;
        if let (Int::Known(a), Int::Known(b)) = (a, b) {
            return match super::division::divide(a, b) {
                Some(value) => Ok(Value::float(value)),
                None => self.raise("OverflowError", "integer division result too large for a float"),
            };
        }
        // Below 2**53 both are exact floats, and the division rounds once.
        let limit = exact_limit();
        let (top, bottom) = (self.int_term(a), self.int_term(b));
        if self.is_between(top, &-limit.clone(), &limit)?
            && !self.is_between(bottom, &-limit.clone(), &limit)?
        {
            return self.small_quotient(top, bottom);
        }
        for side in [a, b] {
            let term = self.int_term(side);
            if !self.is_between(term, &-limit.clone(), &limit)? {
                return self.large_quotient(top, bottom);
            }
        }
        let (a, b) = (self.nearest_float(a)?, self.nearest_float(b)?);
        let (a, b) = (self.float_term(a), self.float_term(b));
        let term = self.terms.float_op(FloatOp::Div, a, b);
        Ok(Value::Float(self.float_of(term)))
    }

    /// An overflow, or an arbitrary float.
    fn large_quotient(&mut self, top: Term, bottom: Term) -> OrTrap<Value> {
        let sized = |machine: &mut Self, term: Term| {
            let (zero, negated) = (machine.terms.int(0), machine.terms.neg(term));
            let is_negative = machine.terms.int_lt(term, zero);
            machine.terms.ite(is_negative, negated, term)
        };
        let (top_size, bottom_size) = (sized(self, top), sized(self, bottom));
        let factor = self.terms.int(BigInt::from(1) << 1024);
        let least = self.terms.mul(bottom_size, factor);
        let is_too_large = self.terms.int_le(least, top_size);
        if self.decide_term(is_too_large)? {
            return self.raise("OverflowError", "integer division result too large for a float");
        }
        self.induction.is_wanted = true;
        if !self.induction.is_on {
            return self.unsupported("division of integers beyond 2**53");
        }
        // Near the limit it may overflow after rounding.
        let near = self.terms.int(BigInt::from(1) << 1023);
        let near = self.terms.mul(bottom_size, near);
        let is_small = self.terms.int_le(top_size, near);
        if !self.decide_term(is_small)? {
            return self.unsupported("a quotient close to the largest float");
        }
        self.abstracted("a quotient of integers beyond 2**53 may be any finite float");
        let name = self.named_after("quotient", &[top, bottom]);
        let quotient = self.terms.var(&name, Sort::Float, Interval::ALL);
        let (nan, infinite) = (self.terms.float_is_nan(quotient), self.terms.float_is_inf(quotient));
        let odd = self.terms.or(nan, infinite);
        if self.decide_term(odd)? { Err(Trap::Discard) } else { Ok(Value::Float(Float::Term(quotient))) }
    }

    /// A small number divided by a large one: an arbitrary float between -1 and 1. This is an
    /// over-approximation.
    fn small_quotient(&mut self, top: Term, bottom: Term) -> OrTrap<Value> {
        self.abstracted("a quotient by an integer beyond 2**53 may be any float from -1.0 to 1.0");
        let name = self.named_after("quotient", &[top, bottom]);
        let quotient = self.terms.var(&name, Sort::Float, Interval::ALL);
        let (low, high) = (self.terms.float(-1.0), self.terms.float(1.0));
        let (above, below) = (self.terms.float_le(low, quotient), self.terms.float_le(quotient, high));
        let inside = self.terms.and(above, below);
        if self.decide_term(inside)? { Ok(Value::Float(Float::Term(quotient))) } else { Err(Trap::Discard) }
    }

    fn int_power(&mut self, a: &Int, b: &Int) -> OrTrap<Value> {
        let exponent = self.choose(b)?;
        if exponent.is_negative() {
            let base = self.nearest_float(a)?;
            let exponent = self.nearest_float(&Int::from(exponent))?;
            return self.float_power(base, exponent);
        }
        let exponent = exponent.to_u64().unwrap_or(u64::MAX);
        if let Int::Known(base) = a {
            if base.bits() > 1 && base.bits().saturating_mul(exponent) > LARGEST {
                return Err(Trap::Bound("an integer of a million bits".to_owned()));
            }
            let power = match u32::try_from(exponent) {
                Ok(exponent) => num_traits::pow::Pow::pow(&**base, exponent),
                // Only 0, 1 and -1 reach this line.
                Err(_) if exponent % 2 == 0 => base.abs(),
                Err(_) => (**base).clone(),
            };
            return Ok(Value::int(power));
        }
        if exponent > 16 {
            return self.unsupported("an unknown integer to a power above 16");
        }
        let base = self.int_term(a);
        let mut term = self.terms.int(1);
        for _ in 0..exponent {
            term = self.terms.mul(term, base);
        }
        Ok(self.int_value(term))
    }

    fn shift(&mut self, op: BinaryOp, a: &Int, b: &Int) -> OrTrap<Value> {
        let count = self.choose(b)?;
        if count.is_negative() {
            return self.raise("ValueError", "negative shift count");
        }
        let zero = BigInt::zero();
        if a.known() == Some(&zero) {
            return Ok(Value::int(0));
        }
        let Some(count) = count.to_u64().filter(|count| *count < LARGEST) else {
            return match (op, a) {
                (BinaryOp::RShift, Int::Known(value)) => {
                    Ok(Value::int(if value.is_negative() { -1 } else { 0 }))
                }
                _ => Err(Trap::Bound("a shift by a million bits".to_owned())),
            };
        };
        let factor = BigInt::from(1) << count;
        let (a, factor) = (self.int_term(a), self.terms.int(factor));
        let term = match op {
            BinaryOp::LShift => self.terms.mul(a, factor),
            _ => self.terms.floor_div(a, factor),
        };
        Ok(self.int_value(term))
    }

    fn int_bits(&mut self, op: BinaryOp, a: &Int, b: &Int) -> OrTrap<Value> {
        let bit_op = match op {
            BinaryOp::And => BitOp::And,
            BinaryOp::Or => BitOp::Or,
            _ => BitOp::Xor,
        };
        if let (Int::Known(a), Int::Known(b)) = (a, b) {
            return Ok(Value::int(match bit_op {
                BitOp::And => &**a & &**b,
                BitOp::Or => &**a | &**b,
                BitOp::Xor => &**a ^ &**b,
            }));
        }
        if bit_op == BitOp::And {
            // A mask of low bits is a remainder, also for negative numbers.
            for (mask, other) in [(a, b), (b, a)] {
                if let Some(mask) = mask.known()
                    && !mask.is_negative()
                    && (mask & (mask + BigInt::from(1))).is_zero()
                {
                    let (other, modulus) = (self.int_term(other), self.terms.int(mask + 1));
                    let term = self.terms.floor_mod(other, modulus);
                    return Ok(self.int_value(term));
                }
            }
        }
        let limit = (BigInt::from(1) << 63) - 1;
        let mut sides: Vec<Term> = Vec::new();
        for side in [a, b] {
            let term = self.int_term(side);
            if !self.is_between(term, &BigInt::zero(), &limit)? {
                return self.unsupported("bits of an unknown integer outside 0 to 2**63 - 1");
            }
            sides.push(term);
        }
        let &[a, b] = sides.as_slice() else { return Err(Trap::Bug("two sides")) };
        let term = self.terms.bits(bit_op, a, b);
        Ok(self.int_value(term))
    }

    fn float_binary(&mut self, op: BinaryOp, a: Float, b: Float) -> OrTrap<Value> {
        let float_op = match op {
            BinaryOp::Add => FloatOp::Add,
            BinaryOp::Sub => FloatOp::Sub,
            BinaryOp::Mul => FloatOp::Mul,
            BinaryOp::Div => {
                self.refuse_float_zero(b, "float division by zero")?;
                FloatOp::Div
            }
            BinaryOp::FloorDiv | BinaryOp::Mod => return self.float_floor(op, a, b),
            BinaryOp::Pow => return self.float_power(a, b),
            op => return self.no_operator(op, &Value::Float(a), &Value::Float(b)),
        };
        let (a, b) = (self.float_term(a), self.float_term(b));
        let term = self.terms.float_op(float_op, a, b);
        Ok(Value::Float(self.float_of(term)))
    }

    fn refuse_float_zero(&mut self, divisor: Float, text: &str) -> OrTrap<()> {
        let zero = Value::float(0.0);
        let is_zero = self.number_compare(CompareOp::Eq, &Value::Float(divisor), &zero)?;
        if self.decide(is_zero)? {
            return self.raise("ZeroDivisionError", text);
        }
        Ok(())
    }

    fn float_floor(&mut self, op: BinaryOp, a: Float, b: Float) -> OrTrap<Value> {
        let text = if op == BinaryOp::Mod { "float modulo" } else { "float floor division by zero" };
        self.refuse_float_zero(b, text)?;
        match (a, b) {
            (Float::Known(a), Float::Known(b)) => {
                let (quotient, remainder) = super::division::float_divmod(a, b);
                Ok(Value::float(if op == BinaryOp::Mod { remainder } else { quotient }))
            }
            (a, b) => self.free_remainder(op, a, b),
        }
    }

    /// No term expresses the rounding of `//` and `%` of floats. Only the range of a remainder is known.
    fn free_remainder(&mut self, op: BinaryOp, a: Float, b: Float) -> OrTrap<Value> {
        self.induction.is_wanted = true;
        if !self.induction.is_on {
            return self.unsupported("// or % of an unknown float");
        }
        let (a, b) = (self.float_term(a), self.float_term(b));
        let (what, words) = match op {
            BinaryOp::Mod => {
                ("remainder", "a remainder of floats may be any float between zero and the divisor")
            }
            _ => ("floored", "// of floats may be any float"),
        };
        self.abstracted(words);
        let name = self.named_after(what, &[a, b]);
        let result = self.terms.var(&name, Sort::Float, Interval::ALL);
        if op == BinaryOp::Mod {
            // Only infinity and nan give nan. Otherwise the sign is the divisor's, and the size at most its
            // size.
            let zero = self.terms.float(0.0);
            let (above, below) = (self.terms.float_le(zero, result), self.terms.float_le(result, b));
            let up = self.terms.and(above, below);
            let (above, below) = (self.terms.float_le(b, result), self.terms.float_le(result, zero));
            let down = self.terms.and(above, below);
            let between = self.terms.or(up, down);
            let (a_nan, b_nan) = (self.terms.float_is_nan(a), self.terms.float_is_nan(b));
            let a_infinite = self.terms.float_is_inf(a);
            let odd = self.terms.or(a_nan, b_nan);
            let odd = self.terms.or(odd, a_infinite);
            let possible = self.terms.or(odd, between);
            if !self.decide_term(possible)? {
                return Err(Trap::Discard);
            }
        }
        Ok(Value::Float(Float::Term(result)))
    }

    pub(crate) fn float_power(&mut self, a: Float, b: Float) -> OrTrap<Value> {
        let (a, b) = match (a, b) {
            (Float::Known(a), Float::Known(b)) => (a, b),
            // As C defines it, including nan.
            (_, Float::Known(0.0)) => return Ok(Value::float(1.0)),
            (a, Float::Known(1.0)) => return Ok(Value::Float(a)),
            _ => return self.unsupported("a power of an unknown float"),
        };
        if a == 0.0 && b < 0.0 {
            return self.raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
        }
        if a < 0.0 && a.is_finite() && b.is_finite() && b.fract() != 0.0 {
            return self.unsupported("a complex number");
        }
        self.rounds_as_here();
        let result = a.powf(b);
        if result.is_infinite() && a.is_finite() && b.is_finite() {
            return self.raise("OverflowError", "(34, 'Numerical result out of range')");
        }
        Ok(Value::float(result))
    }

    /// `divmod` of numbers.
    pub(crate) fn divmod(&mut self, a: &Value, b: &Value) -> OrTrap<Value> {
        let quotient = self.binary(BinaryOp::FloorDiv, a, b)?;
        let remainder = self.binary(BinaryOp::Mod, a, b)?;
        Ok(Value::Tuple(Rc::new(vec![quotient, remainder])))
    }

    /// `pow(a, b, modulus)`.
    pub(crate) fn power_modulo(&mut self, a: &Int, b: &Int, modulus: &Int) -> OrTrap<Value> {
        let (Int::Known(a), Int::Known(b), Int::Known(m)) = (a, b, modulus) else {
            return self.unsupported("pow with a modulus on unknown integers");
        };
        if m.is_zero() {
            return self.raise("ValueError", "pow() 3rd argument cannot be 0");
        }
        let (base, exponent) = if b.is_negative() {
            let inverse = a.mod_floor(m).modinv(&m.abs());
            match inverse {
                Some(inverse) => (inverse, -&**b),
                None => return self.raise("ValueError", "base is not invertible for the given modulus"),
            }
        } else {
            ((**a).clone(), (**b).clone())
        };
        Ok(Value::int(base.modpow(&exponent, m)))
    }
}

pub(crate) fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::FloorDiv => "//",
        BinaryOp::Mod => "%",
        BinaryOp::Pow => "** or pow()",
        BinaryOp::LShift => "<<",
        BinaryOp::RShift => ">>",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::MatMul => "@",
    }
}

fn method_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "__add__",
        BinaryOp::Sub => "__sub__",
        BinaryOp::Mul => "__mul__",
        BinaryOp::Div => "__truediv__",
        BinaryOp::FloorDiv => "__floordiv__",
        BinaryOp::Mod => "__mod__",
        BinaryOp::Pow => "__pow__",
        BinaryOp::LShift => "__lshift__",
        BinaryOp::RShift => "__rshift__",
        BinaryOp::And => "__and__",
        BinaryOp::Or => "__or__",
        BinaryOp::Xor => "__xor__",
        BinaryOp::MatMul => "__matmul__",
    }
}
