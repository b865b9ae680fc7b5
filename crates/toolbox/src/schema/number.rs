//! Arithmetic on JSON numbers: by value, and exact wherever the number is.

use std::cmp::Ordering;

use serde_json::Number;

pub(super) fn is_integer(number: &Number) -> bool {
    integer(number).is_some() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

pub(super) fn compare(left: &Number, right: &Number) -> Ordering {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => compare_float(float(right), left).reverse(),
        (None, Some(right)) => compare_float(float(left), right),
        (None, None) => float(left).total_cmp(&float(right)),
    }
}

pub(super) fn is_multiple(number: &Number, divisor: &Number) -> bool {
    exact_remainder(number, divisor).unwrap_or_else(|| float(number) % float(divisor) == 0.0)
}

fn integer(number: &Number) -> Option<i128> {
    number.as_u64().map(i128::from).or_else(|| number.as_i64().map(i128::from))
}

/// Adding zero makes the two zeros one.
fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN) + 0.0
}

/// Exact: the integer has at most 65 bits, and the conversion of a larger float saturates beyond them.
fn compare_float(float: f64, integer: i128) -> Ordering {
    let fraction = float.fract();
    (float.trunc() as i128).cmp(&integer).then_with(|| fraction.partial_cmp(&0.0).unwrap_or(Ordering::Equal))
}

/// Whether the remainder is zero, in the decimals that people read: `0.3` is a multiple of `0.1`, although the floats
/// nearest to them are not. `None` when the digits do not fit.
fn exact_remainder(number: &Number, divisor: &Number) -> Option<bool> {
    let (number, divisor) = (Decimal::of(number)?, Decimal::of(divisor)?);
    let power = number.power.min(divisor.power);
    Some(number.digits_at(power)?.checked_rem(divisor.digits_at(power)?)? == 0)
}

/// `digits` × 10^`power`.
struct Decimal {
    digits: i128,
    power: i32,
}

impl Decimal {
    fn of(number: &Number) -> Option<Decimal> {
        if let Some(digits) = integer(number) {
            return Some(Decimal { digits, power: 0 });
        }
        let text = format!("{:e}", float(number));
        let (digits, power) = text.split_once('e')?;
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let power = power.parse::<i32>().ok()?.checked_sub(i32::try_from(decimals).ok()?)?;
        Some(Decimal { digits: digits.replace('.', "").parse().ok()?, power })
    }

    fn digits_at(&self, power: i32) -> Option<i128> {
        let places = u32::try_from(self.power.checked_sub(power)?).ok()?;
        self.digits.checked_mul(10_i128.checked_pow(places)?)
    }
}
