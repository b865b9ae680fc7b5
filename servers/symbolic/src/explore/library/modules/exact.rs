//! Functions of `math` on known floats whose results are exact with every C library.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, Zero};

use crate::explore::machine::{Machine, OrTrap};
use crate::explore::numeric::division::divide;
use crate::values::{Float, Value};

/// Intermediate sums beyond this may overflow, and CPython reports it.
const LARGEST_SUM: f64 = 1e300;

/// Beyond this exponent every float is infinite or zero.
const FARTHEST: i64 = 5000;

impl Machine {
    pub(super) fn exact_function(&mut self, name: &str, args: &[Value]) -> OrTrap<Value> {
        match (name, args) {
            ("math.fsum", [items]) => {
                let items = self.collect(items)?;
                let numbers = self.known_floats(name, &items)?;
                self.exact_sum(&numbers)
            }
            ("math.hypot", coordinates) => {
                let numbers = self.known_floats(name, coordinates)?;
                self.distance(name, &numbers)
            }
            ("math.dist", [p, q]) => {
                let (p, q) = (self.collect(p)?, self.collect(q)?);
                if p.len() != q.len() {
                    return self.raise("ValueError", "both points must have the same number of dimensions");
                }
                let (p, q) = (self.known_floats(name, &p)?, self.known_floats(name, &q)?);
                let along: Vec<f64> = p.iter().zip(&q).map(|(a, b)| a - b).collect();
                self.distance(name, &along)
            }
            ("math.modf", [value]) => {
                let value = self.known_float(name, value)?;
                let part = if value.is_infinite() { 0.0 } else { value - value.trunc() };
                let (part, whole) = (part.copysign(value), value.trunc());
                Ok(Value::tuple(vec![Value::float(part), Value::float(whole)]))
            }
            ("math.frexp", [value]) => {
                let (part, power) = decompose(self.known_float(name, value)?);
                Ok(Value::tuple(vec![Value::float(part), Value::int(power)]))
            }
            ("math.ulp", [value]) => {
                let value = self.known_float(name, value)?.abs();
                let up = value.next_up();
                let step = if up.is_infinite() && value.is_finite() {
                    value - value.next_down()
                } else {
                    up - value
                };
                Ok(Value::float(if value.is_infinite() { value } else { step }))
            }
            ("math.ldexp", [value, power]) => {
                let Some(power) = self.as_index(power) else {
                    return self.raise("TypeError", "Expected an int as second argument to ldexp.");
                };
                let Some(power) = power.small() else { return self.unsupported("math.ldexp of this power") };
                let value = self.known_float(name, value)?;
                self.scaled(value, power)
            }
            ("math.nextafter" | "math.remainder", [a, b]) => {
                let (a, b) = (self.known_float(name, a)?, self.known_float(name, b)?);
                if name == "math.remainder" {
                    return self.nearest_remainder(a, b);
                }
                let next = if a < b { a.next_up() } else { a.next_down() };
                Ok(Value::float(if a.is_nan() || b.is_nan() {
                    f64::NAN
                } else if a == b {
                    b
                } else {
                    next
                }))
            }
            _ => self.wrong_arguments(name),
        }
    }

    fn known_float(&mut self, name: &str, value: &Value) -> OrTrap<f64> {
        match self.require_float(value)? {
            Float::Known(value) => Ok(value),
            Float::Term(_) => self.unsupported(format!("{name} of an unknown number")),
        }
    }

    fn known_floats(&mut self, name: &str, values: &[Value]) -> OrTrap<Vec<f64>> {
        values.iter().map(|value| self.known_float(name, value)).collect()
    }

    fn exact_sum(&mut self, numbers: &[f64]) -> OrTrap<Value> {
        let special: Vec<f64> = numbers.iter().copied().filter(|number| !number.is_finite()).collect();
        if !special.is_empty() {
            if special.contains(&f64::INFINITY) && special.contains(&f64::NEG_INFINITY) {
                return self.raise("ValueError", "-inf + inf in fsum");
            }
            return Ok(Value::float(special.iter().sum()));
        }
        if numbers.iter().map(|number| number.abs()).sum::<f64>() > LARGEST_SUM {
            return self.unsupported("math.fsum of numbers this large");
        }
        let mut total = DyadicRational::of(0.0);
        for number in numbers {
            total = total.plus(&DyadicRational::of(*number));
        }
        match total.nearest() {
            Some(total) => Ok(Value::float(total)),
            None => self.unsupported("math.fsum of numbers this large"),
        }
    }

    /// Returns only exact distances. If CPython has to round, the last bit depends on its C library.
    fn distance(&mut self, name: &str, along: &[f64]) -> OrTrap<Value> {
        if along.iter().any(|number| number.is_infinite()) {
            return Ok(Value::float(f64::INFINITY));
        }
        if along.iter().any(|number| number.is_nan()) {
            return Ok(Value::float(f64::NAN));
        }
        let mut total = DyadicRational::of(0.0);
        for number in along {
            let one = DyadicRational::of(*number);
            total = total.plus(&DyadicRational { top: &one.top * &one.top, halvings: one.halvings * 2 });
        }
        if total.halvings % 2 == 1 {
            total = DyadicRational { top: total.top * 2, halvings: total.halvings + 1 };
        }
        let root = DyadicRational { top: total.top.sqrt(), halvings: total.halvings / 2 };
        let is_square = &root.top * &root.top == total.top;
        match root.nearest().filter(|found| is_square && DyadicRational::of(*found).equals(&root)) {
            Some(found) => Ok(Value::float(found)),
            None => self.unsupported(format!("{name} that is no float")),
        }
    }

    fn scaled(&mut self, value: f64, power: i64) -> OrTrap<Value> {
        if value == 0.0 || !value.is_finite() {
            return Ok(Value::float(value));
        }
        let ratio = DyadicRational::of(value);
        let found = match u32::try_from(power.abs()).ok().filter(|_| power.abs() <= FARTHEST) {
            Some(shift) if power >= 0 => {
                DyadicRational { top: ratio.top << shift, halvings: ratio.halvings }.nearest()
            }
            Some(shift) => DyadicRational { top: ratio.top, halvings: ratio.halvings + shift }.nearest(),
            None => (power < 0).then_some(0.0),
        };
        match found {
            Some(found) => Ok(Value::float(found.copysign(value))),
            None => self.raise("OverflowError", "math range error"),
        }
    }

    /// The IEEE remainder: the distance to the nearest multiple, ties to even.
    fn nearest_remainder(&mut self, a: f64, b: f64) -> OrTrap<Value> {
        if a.is_nan() || b.is_nan() {
            return Ok(Value::float(f64::NAN));
        }
        if a.is_infinite() || b == 0.0 {
            return self.raise("ValueError", "math domain error");
        }
        if b.is_infinite() {
            return Ok(Value::float(a));
        }
        let (x, y) = (DyadicRational::of(a), DyadicRational::of(b.abs()));
        let halvings = x.halvings.max(y.halvings);
        let (top, unit) = (x.top << (halvings - x.halvings), y.top << (halvings - y.halvings));
        let (mut times, mut rest) = top.div_mod_floor(&unit);
        let twice: BigInt = &rest * 2;
        if twice > unit || (twice == unit && times.is_odd()) {
            times += 1;
            rest -= &unit;
        }
        match (DyadicRational { top: rest, halvings }).nearest() {
            Some(0.0) => Ok(Value::float(0.0_f64.copysign(a))),
            Some(found) => Ok(Value::float(found)),
            None => self.unsupported("math.remainder of these numbers"),
        }
    }
}

/// A finite float as an exact fraction: an integer divided by a power of two.
struct DyadicRational {
    top: BigInt,
    halvings: u32,
}

impl DyadicRational {
    fn of(value: f64) -> Self {
        let (mut whole, mut halvings) = (value, 0);
        while whole.fract() != 0.0 {
            whole *= 2.0;
            halvings += 1;
        }
        Self { top: crate::terms::exact(whole).unwrap_or_default(), halvings }
    }

    fn plus(&self, other: &Self) -> Self {
        let halvings = self.halvings.max(other.halvings);
        let top = (&self.top << (halvings - self.halvings)) + (&other.top << (halvings - other.halvings));
        Self { top, halvings }
    }

    fn equals(&self, other: &Self) -> bool {
        self.plus(&Self { top: -&other.top, halvings: other.halvings }).top.is_zero()
    }

    fn nearest(&self) -> Option<f64> {
        divide(&self.top, &(BigInt::from(1) << self.halvings))
    }
}

/// A part in `[0.5, 1)` and its power of two.
fn decompose(value: f64) -> (f64, i64) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    let ratio = DyadicRational::of(value);
    let bits = i64::try_from(ratio.top.abs().bits()).unwrap_or_default();
    let part = divide(&ratio.top, &(BigInt::from(1) << bits)).unwrap_or(value);
    (part, bits - i64::from(ratio.halvings))
}
