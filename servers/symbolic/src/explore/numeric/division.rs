//! CPython's division of known numbers.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};

/// The double nearest to `a / b`. `None` if it is infinite. The divisor is not zero.
pub(crate) fn divide(a: &BigInt, b: &BigInt) -> Option<f64> {
    if a.is_zero() {
        return Some(if b.sign() == Sign::Minus { -0.0 } else { 0.0 });
    }
    let negative = a.sign() != b.sign();
    let (a, b) = (a.magnitude(), b.magnitude());
    // Scale so that the quotient has 55 or 56 bits: one or two more than a double, and a sticky bit.
    let shift = 55 - (i64::try_from(a.bits()).ok()? - i64::try_from(b.bits()).ok()?);
    // Subnormal results have fewer bits.
    let shift = shift.min(1074 + 2);
    let (a, b): (BigUint, BigUint) =
        if shift >= 0 { (a << shift, b.clone()) } else { (a.clone(), b << -shift) };
    let (quotient, remainder) = a.div_rem(&b);
    let sticky = !remainder.is_zero();
    let mut mantissa = quotient.to_u64()?;
    let mut exponent = -shift;
    let mut lost = sticky;
    let bits = 64 - mantissa.leading_zeros();
    let keep = if exponent + i64::from(bits) - 53 < -1074 {
        u32::try_from(exponent + i64::from(bits) + 1074).unwrap_or(0)
    } else {
        53
    };
    let drop = bits.saturating_sub(keep);
    if drop > 0 {
        let half = 1u64 << (drop - 1);
        let cut = mantissa & ((1u64 << drop) - 1);
        mantissa >>= drop;
        exponent += i64::from(drop);
        lost |= cut & (half - 1) != 0;
        if cut & half != 0 && (lost || mantissa & 1 == 1) {
            mantissa += 1;
        }
    }
    #[allow(clippy::cast_precision_loss)] // at most 2^53
    let value = scale(mantissa as f64, i32::try_from(exponent).ok()?);
    let value = if negative { -value } else { value };
    value.is_finite().then_some(value)
}

/// `value * 2^exponent`, exact in two steps where one would overflow or underflow.
fn scale(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * 2f64.powi(half) * 2f64.powi(exponent - half)
}

/// Python's floor division and remainder of doubles.
pub(crate) fn float_divmod(a: f64, b: f64) -> (f64, f64) {
    let mut remainder = a % b;
    let mut quotient = (a - remainder) / b;
    if remainder == 0.0 {
        remainder = 0f64.copysign(b);
    } else if (b < 0.0) != (remainder < 0.0) {
        remainder += b;
        quotient -= 1.0;
    }
    let floored = if quotient == 0.0 {
        0f64.copysign(a / b)
    } else {
        let floor = quotient.floor();
        if quotient - floor > 0.5 { floor + 1.0 } else { floor }
    };
    (floored, remainder)
}
