//! `min`, `max`, `sum`, `sorted`, `round`, `pow`, and parsing integers.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, Zero};

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap};
use crate::explore::numeric::numbers::Number;
use crate::explore::text::strings::is_space_of_number;
use crate::explore::text::unicode::ascii_digits;
use crate::frontend::ir::{BinaryOp, CompareOp};
use crate::terms::{RoundingMode, Term};
use crate::values::{Float, Int, Str, Value};

impl Machine {
    pub(crate) fn extreme(
        &mut self,
        name: &'static str,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        let (mut key, mut default) = (Value::None, None);
        for (name, value) in keywords {
            match &*name {
                "key" => key = value,
                "default" => default = Some(value),
                _ => return self.wrong_arguments("max"),
            }
        }
        let items = match args.as_slice() {
            [] => return self.raise("TypeError", format!("{name} expected at least 1 argument, got 0")),
            [items] => self.collect_unordered(items)?,
            items => items.to_vec(),
        };
        let op = if name == "max" { CompareOp::Gt } else { CompareOp::Lt };
        let mut items = items.into_iter();
        let Some(mut best) = items.next() else {
            return match default {
                Some(default) => Ok(default),
                None => self.raise("ValueError", format!("{name}() arg is an empty sequence")),
            };
        };
        let mut best_key = self.key_of(&key, &best)?;
        for item in items {
            self.tick()?;
            let item_key = self.key_of(&key, &item)?;
            let better = self.order(op, &item_key, &best_key)?;
            let truth = self.truth(&better)?;
            if key.is_none()
                && let crate::values::Bool::Term(term) = truth
                && let Some(merged) = self.merge_numbers(term, &item, &best)
            {
                best = merged.clone();
                best_key = merged;
            } else if self.decide(truth)? {
                (best, best_key) = (item, item_key);
            }
        }
        Ok(best)
    }

    /// Selects one of two numbers of the same type without forking the state.
    pub(crate) fn merge_numbers(&mut self, condition: Term, a: &Value, b: &Value) -> Option<Value> {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => {
                let (a, b) = (self.int_term(a), self.int_term(b));
                let term = self.terms.ite(condition, a, b);
                Some(self.int_value(term))
            }
            (Value::Float(a), Value::Float(b)) => {
                let (a, b) = (self.float_term(*a), self.float_term(*b));
                let term = self.terms.ite(condition, a, b);
                Some(Value::Float(self.float_of(term)))
            }
            _ => None,
        }
    }

    fn key_of(&mut self, key: &Value, item: &Value) -> OrTrap<Value> {
        if key.is_none() { Ok(item.clone()) } else { self.call(key, vec![item.clone()], Vec::new()) }
    }

    pub(crate) fn sorted(&mut self, args: Vec<Value>, keywords: Keywords) -> OrTrap<Value> {
        let [items] = args.as_slice() else { return self.wrong_arguments("sorted") };
        let items = self.collect_unordered(items)?;
        let items = self.sort(items, &keywords)?;
        Ok(self.list(items))
    }

    pub(crate) fn sort(&mut self, items: Vec<Value>, keywords: &Keywords) -> OrTrap<Vec<Value>> {
        let (mut key, mut reverse) = (Value::None, false);
        for (name, value) in keywords {
            match &**name {
                "key" => key = value.clone(),
                "reverse" => reverse = self.decide_value(value)?,
                _ => return self.wrong_arguments("sort"),
            }
        }
        let mut keyed = Vec::new();
        for item in items {
            let key = self.key_of(&key, &item)?;
            if matches!(&key, Value::Float(Float::Known(value)) if value.is_nan()) {
                return self.unsupported("sorting nan");
            }
            keyed.push((key, item));
        }
        if reverse {
            keyed.reverse();
        }
        let mut sorted: Vec<Value> = self.merge_sort(keyed)?.into_iter().map(|(_, item)| item).collect();
        if reverse {
            sorted.reverse();
        }
        Ok(sorted)
    }

    fn merge_sort(&mut self, mut items: Vec<(Value, Value)>) -> OrTrap<Vec<(Value, Value)>> {
        if items.len() < 2 {
            return Ok(items);
        }
        let right = items.split_off(items.len() / 2);
        let (left, right) = (self.merge_sort(items)?, self.merge_sort(right)?);
        let mut merged = Vec::with_capacity(left.len() + right.len());
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            self.tick()?;
            let next = if self.is_less(&b.0.clone(), &a.0.clone())? { right.next() } else { left.next() };
            merged.extend(next);
        }
        merged.extend(left);
        merged.extend(right);
        Ok(merged)
    }

    pub(crate) fn sum(&mut self, args: Vec<Value>, keywords: Keywords) -> OrTrap<Value> {
        let start = args.get(1).cloned().or_else(|| keywords.first().map(|(_, value)| value.clone()));
        let [items, ..] = args.as_slice() else { return self.wrong_arguments("sum") };
        let mut total = start.unwrap_or_else(|| Value::int(0));
        if matches!(total, Value::Str(_)) {
            return self.raise("TypeError", "sum() can't sum strings [use ''.join(seq) instead]");
        }
        if let Some(items) = self.set_items(items)? {
            let is_float = items.iter().any(|item| matches!(item, Value::Float(_)));
            let items = if is_float { self.in_set_order(&items)? } else { items };
            for item in items {
                total = self.binary(BinaryOp::Add, &total, &item)?;
            }
            return Ok(total);
        }
        let iterator = self.iterator(items)?;
        while let Some(item) = self.next(&iterator)? {
            self.tick()?;
            total = self.binary(BinaryOp::Add, &total, &item)?;
        }
        Ok(total)
    }

    pub(crate) fn round(&mut self, args: Vec<Value>, keywords: Keywords) -> OrTrap<Value> {
        let digits = args.get(1).cloned().or_else(|| keywords.first().map(|(_, value)| value.clone()));
        let Some(value) = args.first() else { return self.wrong_arguments("round") };
        let digits = match digits {
            None | Some(Value::None) => None,
            Some(digits) => match self.as_index(&digits) {
                Some(digits) => Some(self.choose_small(&digits)?),
                None => return self.wrong_arguments("round"),
            },
        };
        match (self.as_number(value), digits) {
            (Some(Number::Int(value)), None) => Ok(Value::Int(value)),
            (Some(Number::Int(value)), Some(digits)) if digits >= 0 => Ok(Value::Int(value)),
            (Some(Number::Int(Int::Known(value))), Some(digits)) => {
                let places = u32::try_from(-digits).unwrap_or(u32::MAX);
                if places > 400 {
                    return Ok(Value::int(0));
                }
                Ok(Value::int(round_to(&value, &BigInt::from(10).pow(places))))
            }
            (Some(Number::Int(_)), Some(_)) => self.unsupported("rounding an unknown integer to tens"),
            (Some(Number::Float(value)), None) => self.rounded(value, RoundingMode::Even),
            (Some(Number::Float(Float::Known(value))), Some(digits)) => {
                if !value.is_finite() || digits > 400 {
                    return Ok(Value::float(value));
                }
                match usize::try_from(digits) {
                    Ok(digits) => Ok(Value::float(format!("{value:.digits$}").parse().unwrap_or(value))),
                    Err(_) => self.unsupported("rounding a float to tens"),
                }
            }
            (Some(Number::Float(_)), Some(_)) => self.unsupported("rounding an unknown float to digits"),
            (None, _) => match self.special(value, "__round__")? {
                Some(method) => self.call(&method, args.get(1).cloned().into_iter().collect(), Vec::new()),
                None => {
                    let name = self.type_name(value);
                    self.raise("TypeError", format!("type {name} doesn't define __round__ method"))
                }
            },
        }
    }

    pub(crate) fn pow(&mut self, args: Vec<Value>, keywords: Keywords) -> OrTrap<Value> {
        let mut all = args;
        all.extend(keywords.into_iter().map(|(_, value)| value));
        match all.as_slice() {
            [base, exponent] | [base, exponent, Value::None] => self.binary(BinaryOp::Pow, base, exponent),
            [base, exponent, modulus] => {
                match (self.as_index(base), self.as_index(exponent), self.as_index(modulus)) {
                    (Some(a), Some(b), Some(m)) => self.power_modulo(&a, &b, &m),
                    _ => self.raise(
                        "TypeError",
                        "pow() 3rd argument not allowed unless all arguments are integers",
                    ),
                }
            }
            _ => self.wrong_arguments("pow"),
        }
    }

    /// `int(text, base)`.
    pub(crate) fn parse_int(&mut self, text: &Str, base: i64) -> OrTrap<Value> {
        if let Str::Known(points) = text {
            let Ok(points) = ascii_digits(points) else {
                return self.unsupported("int() of these characters");
            };
            if points.len() > 4300 {
                return self.unsupported("a number of more than 4300 digits");
            }
            return match parse_known(&points, base) {
                Some(value) => Ok(Value::int(value)),
                None => {
                    let shown = crate::values::text::repr(&points);
                    self.raise("ValueError", format!("invalid literal for int() with base {base}: {shown}"))
                }
            };
        }
        if base != 10 {
            return self.unsupported("int() of an unknown text in another base");
        }
        let points = self.points_of(text)?;
        self.parse_unknown(&points)
    }

    /// Parses decimal digits among unknown characters. CPython handles spaces and underscores.
    fn parse_unknown(&mut self, points: &[Term]) -> OrTrap<Value> {
        let Some((first, rest)) = points.split_first() else {
            return self.raise("ValueError", "invalid literal for int() with base 10: ''");
        };
        let is_ascii = self.all_ascii(points)?;
        let mut odd = crate::terms::Terms::FALSE;
        for point in points {
            let underscore = self.in_ranges(*point, &[(95, 95)]);
            let space = self.is_space_term(*point);
            let here = self.terms.or(underscore, space);
            odd = self.terms.or(odd, here);
        }
        if self.decide_term(odd)? {
            return self.unsupported("int() of a text with spaces or underscores");
        }
        let minus = self.in_ranges(*first, &[(45, 45)]);
        let plus = self.in_ranges(*first, &[(43, 43)]);
        let is_negative = self.decide_term(minus)?;
        let digits = if is_negative || self.decide_term(plus)? { rest } else { points };
        let mut all = self.terms.bool(!digits.is_empty());
        let (ten, zero) = (self.terms.int(10), self.terms.int(48));
        let mut values = Vec::new();
        for point in digits {
            let (is_digit, value) = if is_ascii {
                (self.in_ranges(*point, &[(48, 57)]), self.terms.sub(*point, zero))
            } else {
                self.digit_of(*point)?
            };
            all = self.terms.and(all, is_digit);
            values.push(value);
        }
        if !self.decide_term(all)? {
            return self.raise("ValueError", "invalid literal for int() with base 10");
        }
        let mut value = self.terms.int(0);
        for digit in values {
            let scaled = self.terms.mul(value, ten);
            value = self.terms.add(scaled, digit);
        }
        if is_negative {
            value = self.terms.neg(value);
        }
        Ok(self.int_value(value))
    }
}

/// Rounds to the nearest multiple, ties to even.
fn round_to(value: &BigInt, unit: &BigInt) -> BigInt {
    let (quotient, rest) = value.div_mod_floor(unit);
    let twice: BigInt = &rest * 2;
    let up = twice > *unit || (twice == *unit && quotient.is_odd());
    (if up { quotient + 1 } else { quotient }) * unit
}

fn parse_known(points: &[u32], base: i64) -> Option<BigInt> {
    let text = crate::values::text::to_string(points)?;
    let text = text.trim_matches(|c: char| is_space_of_number(u32::from(c)));
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let prefixed = |prefix: &str| {
        lower.strip_prefix(prefix).map(|rest| rest.strip_prefix('_').unwrap_or(rest).to_owned())
    };
    let (digits, radix) = match base {
        16 => (prefixed("0x").unwrap_or(lower), 16),
        8 => (prefixed("0o").unwrap_or(lower), 8),
        2 => (prefixed("0b").unwrap_or(lower), 2),
        0 => match (prefixed("0x"), prefixed("0o"), prefixed("0b")) {
            (Some(rest), _, _) => (rest, 16),
            (_, Some(rest), _) => (rest, 8),
            (_, _, Some(rest)) => (rest, 2),
            _ => (lower, 10),
        },
        base => (lower, u32::try_from(base).ok().filter(|base| (2..=36).contains(base))?),
    };
    let is_grouped = !digits.starts_with('_') && !digits.ends_with('_') && !digits.contains("__");
    if digits.is_empty() || !is_grouped || !digits.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let value = BigInt::parse_bytes(digits.replace('_', "").as_bytes(), radix)?;
    if base == 0 && radix == 10 && digits.starts_with('0') && !value.is_zero() {
        return None;
    }
    Some(if negative { -value.abs() } else { value })
}
