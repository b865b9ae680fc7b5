//! `math`.

use num_bigint::BigInt;

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap};
use crate::explore::numeric::numbers::Number;
use crate::frontend::ir::BinaryOp;
use crate::terms::{FloatOp, RoundingMode};
use crate::values::{Float, Int, Value};

/// The largest argument of `factorial`.
const LARGEST_FACTORIAL: i64 = 2000;

impl Machine {
    pub(super) fn call_math(
        &mut self,
        name: &'static str,
        args: &[Value],
        keywords: &Keywords,
    ) -> OrTrap<Value> {
        match (name, args) {
            ("math.floor", [value]) => self.round_to_int(value, RoundingMode::Down, "__floor__"),
            ("math.ceil", [value]) => self.round_to_int(value, RoundingMode::Up, "__ceil__"),
            ("math.trunc", [value]) => self.round_to_int(value, RoundingMode::Zero, "__trunc__"),
            ("math.gcd" | "math.lcm", values) => self.gcd_or_lcm(name, values),
            ("math.factorial" | "math.isqrt", [value]) => self.int_function(name, value),
            ("math.perm", [n] | [n, Value::None]) => self.int_function("math.factorial", n),
            ("math.comb" | "math.perm", [n, k]) => self.choices(name, n, k),
            (
                "math.fsum" | "math.hypot" | "math.dist" | "math.modf" | "math.frexp" | "math.ldexp"
                | "math.ulp" | "math.nextafter" | "math.remainder",
                args,
            ) => self.exact_function(name, args),
            ("math.prod", [items]) => {
                let mut total = match keywords.first() {
                    Some((_, start)) => start.clone(),
                    None => Value::int(1),
                };
                for item in self.collect(items)? {
                    total = self.binary(BinaryOp::Mul, &total, &item)?;
                }
                Ok(total)
            }
            ("math.pow" | "math.atan2" | "math.copysign" | "math.fmod", [a, b]) => {
                let (a, b) = (self.require_float(a)?, self.require_float(b)?);
                self.float_function_of_two(name, a, b)
            }
            ("math.isclose", [a, b]) => self.is_close(a, b, keywords),
            ("math.log", [value, base]) => {
                let value = self.require_for_logarithm(name, value)?;
                let base = self.require_for_logarithm(name, base)?;
                match (value, base) {
                    (Float::Known(value), Float::Known(base)) if value > 0.0 && base > 0.0 => {
                        let divisor = base.ln();
                        if divisor == 0.0 {
                            return self.raise("ZeroDivisionError", "float division by zero");
                        }
                        self.rounds_as_here();
                        Ok(Value::float(value.ln() / divisor))
                    }
                    (Float::Known(_), Float::Known(_)) => self.raise("ValueError", "math domain error"),
                    _ => self.unsupported("math.log of an unknown number"),
                }
            }
            ("math.log" | "math.log2" | "math.log10", [value]) => {
                let value = self.require_for_logarithm(name, value)?;
                self.float_function(name, value)
            }
            (name, [value]) => {
                let value = self.require_float(value)?;
                self.float_function(name, value)
            }
            _ => self.unsupported(format!("this call of {name}")),
        }
    }

    /// Like the C function: equal, or finite and within one of the two tolerances.
    fn is_close(&mut self, a: &Value, b: &Value, keywords: &Keywords) -> OrTrap<Value> {
        let (mut relative, mut absolute) = (1e-9, 0.0);
        for (name, value) in keywords {
            let Float::Known(value) = self.require_float(value)? else {
                return self.unsupported("an unknown tolerance");
            };
            match &**name {
                "rel_tol" => relative = value,
                "abs_tol" => absolute = value,
                _ => return self.unsupported("this call of math.isclose"),
            }
        }
        if relative < 0.0 || absolute < 0.0 {
            return self.raise("ValueError", "tolerances must be non-negative");
        }
        let (a, b) = (self.require_float(a)?, self.require_float(b)?);
        let (a, b) = (self.float_term(a), self.float_term(b));
        let (relative, absolute) = (self.terms.float(relative), self.terms.float(absolute));
        let distance = self.terms.float_op(FloatOp::Sub, b, a);
        let distance = self.terms.float_abs(distance);
        let mut close = self.terms.float_le(distance, absolute);
        for side in [b, a] {
            let most = self.terms.float_op(FloatOp::Mul, relative, side);
            let most = self.terms.float_abs(most);
            let here = self.terms.float_le(distance, most);
            close = self.terms.or(close, here);
        }
        for side in [a, b] {
            let infinite = self.terms.float_is_inf(side);
            let finite = self.terms.not(infinite);
            close = self.terms.and(close, finite);
        }
        let equal = self.terms.float_eq(a, b);
        let answer = self.terms.or(equal, close);
        Ok(Value::Bool(self.truth_of(answer)))
    }

    pub(super) fn require_float(&mut self, value: &Value) -> OrTrap<Float> {
        match self.as_number(value) {
            Some(Number::Int(value)) => self.nearest_float(&value),
            Some(Number::Float(value)) => Ok(value),
            None => match self.special(value, "__float__")? {
                Some(method) => match self.call(&method, Vec::new(), Vec::new())? {
                    Value::Float(value) => Ok(value),
                    _ => self.unsupported("a __float__ that gives no float"),
                },
                None => {
                    let name = self.type_name(value);
                    self.raise("TypeError", format!("must be real number, not {name}"))
                }
            },
        }
    }

    /// Logarithms of integers are defined beyond the range of floats.
    fn require_for_logarithm(&mut self, name: &str, value: &Value) -> OrTrap<Float> {
        let is_large = match self.as_index(value) {
            Some(Int::Known(value)) => value.bits() > 1023,
            _ => false,
        };
        if is_large {
            return self.unsupported(format!("{name} of an integer this large"));
        }
        self.require_float(value)
    }

    fn round_to_int(&mut self, value: &Value, mode: RoundingMode, method: &str) -> OrTrap<Value> {
        match self.as_number(value) {
            Some(Number::Int(value)) => Ok(Value::Int(value)),
            Some(Number::Float(value)) => self.rounded(value, mode),
            None => match self.special(value, method)? {
                Some(method) => self.call(&method, Vec::new(), Vec::new()),
                None => {
                    let name = self.type_name(value);
                    self.raise("TypeError", format!("must be real number, not {name}"))
                }
            },
        }
    }

    fn int_function(&mut self, name: &str, value: &Value) -> OrTrap<Value> {
        let Some(value) = self.as_index(value) else {
            let name = self.type_name(value);
            return self.raise("TypeError", format!("'{name}' object cannot be interpreted as an integer"));
        };
        let negative = self.number_compare(
            crate::frontend::ir::CompareOp::Lt,
            &Value::Int(value.clone()),
            &Value::int(0),
        )?;
        if self.decide(negative)? {
            let text = match name {
                "math.isqrt" => "isqrt() argument must be nonnegative",
                _ => "factorial() not defined for negative values",
            };
            return self.raise("ValueError", text);
        }
        if name == "math.isqrt" {
            return self.integer_root(&value);
        }
        let count = self.choose_small(&value)?;
        if count > LARGEST_FACTORIAL {
            return Err(crate::explore::machine::Trap::Bound("a factorial this large".to_owned()));
        }
        Ok(Value::int((1..=count).fold(BigInt::from(1), |total, factor| total * factor)))
    }

    fn choices(&mut self, name: &str, n: &Value, k: &Value) -> OrTrap<Value> {
        let (Some(n), Some(k)) = (self.as_index(n), self.as_index(k)) else {
            return self.wrong_arguments(name);
        };
        let (n, k) = (self.choose_small(&n)?, self.choose_small(&k)?);
        for (value, which) in [(n, "n"), (k, "k")] {
            if value < 0 {
                return self.raise("ValueError", format!("{which} must be a non-negative integer"));
            }
        }
        if k > n {
            return Ok(Value::int(0));
        }
        if n > LARGEST_FACTORIAL {
            return self.unsupported("this many choices");
        }
        let mut total = BigInt::from(1);
        for step in 0..k {
            total *= n - step;
            if name == "math.comb" {
                total /= step + 1;
            }
        }
        Ok(Value::int(total))
    }

    fn float_function_of_two(&mut self, name: &str, a: Float, b: Float) -> OrTrap<Value> {
        let (Float::Known(a), Float::Known(b)) = (a, b) else {
            return self.unsupported(format!("{name} of an unknown number"));
        };
        if matches!(name, "math.atan2" | "math.pow") {
            self.rounds_as_here();
        }
        Ok(Value::float(match name {
            "math.copysign" => a.copysign(b),
            "math.atan2" => a.atan2(b),
            "math.fmod" if a.is_nan() || b.is_nan() => f64::NAN,
            "math.fmod" if b == 0.0 || a.is_infinite() => {
                return self.raise("ValueError", "math domain error");
            }
            "math.fmod" => a % b,
            "math.pow" if a > 0.0 && a.is_finite() && b.is_finite() && a.powf(b).is_finite() => a.powf(b),
            _ => return self.unsupported(format!("{name} of these numbers")),
        }))
    }

    fn float_function(&mut self, name: &str, value: Float) -> OrTrap<Value> {
        let term = self.float_term(value);
        let result = match name {
            "math.fabs" => self.terms.float_abs(term),
            "math.sqrt" => {
                let zero = self.terms.float(0.0);
                let negative = self.terms.float_lt(term, zero);
                if self.decide_term(negative)? {
                    return self.raise("ValueError", "math domain error");
                }
                self.terms.float_sqrt(term)
            }
            "math.isnan" | "math.isinf" | "math.isfinite" => {
                let (nan, infinite) = (self.terms.float_is_nan(term), self.terms.float_is_inf(term));
                let answer = match name {
                    "math.isnan" => nan,
                    "math.isinf" => infinite,
                    _ => {
                        let either = self.terms.or(nan, infinite);
                        self.terms.not(either)
                    }
                };
                return Ok(Value::Bool(self.truth_of(answer)));
            }
            _ => return self.known_function(name, value),
        };
        Ok(Value::Float(self.float_of(result)))
    }

    fn known_function(&mut self, name: &str, value: Float) -> OrTrap<Value> {
        let Float::Known(value) = value else {
            return self.unsupported(format!("{name} of an unknown number"));
        };
        if name.starts_with("math.log") && (value <= 0.0 || value.is_nan()) {
            if value.is_nan() {
                return Ok(Value::float(f64::NAN));
            }
            return self.raise("ValueError", "math domain error");
        }
        let result = match name {
            "math.exp" => value.exp(),
            "math.log" => value.ln(),
            "math.log2" => value.log2(),
            "math.log10" => value.log10(),
            "math.sin" if value.is_finite() => value.sin(),
            "math.cos" if value.is_finite() => value.cos(),
            "math.tan" if value.is_finite() => value.tan(),
            "math.atan" => value.atan(),
            "math.degrees" => value * (180.0 / std::f64::consts::PI),
            "math.radians" => value * (std::f64::consts::PI / 180.0),
            _ => return self.unsupported(format!("{name} of this number")),
        };
        self.rounds_as_here();
        if result.is_infinite() && value.is_finite() {
            return self.raise("OverflowError", "math range error");
        }
        Ok(Value::float(result))
    }
}
