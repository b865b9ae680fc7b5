//! `math.gcd`, `math.lcm` and `math.isqrt`, also of unknown integers.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::terms::{Interval, Sort, Term};
use crate::values::{Int, Value};

/// The largest known number whose divisors are enumerated, and the maximum number of divisors.
const LARGEST: u64 = 1 << 32;
const MOST: usize = 48;

impl Machine {
    pub(super) fn gcd_or_lcm(&mut self, name: &str, values: &[Value]) -> OrTrap<Value> {
        let is_gcd = name == "math.gcd";
        let mut total = Int::from(i64::from(!is_gcd));
        for value in values {
            let Some(value) = self.as_index(value) else {
                let name = self.type_name(value);
                return self
                    .raise("TypeError", format!("'{name}' object cannot be interpreted as an integer"));
            };
            total = self.gcd_or_lcm_of_two(is_gcd, total, value)?;
        }
        Ok(Value::Int(total))
    }

    fn gcd_or_lcm_of_two(&mut self, is_gcd: bool, a: Int, b: Int) -> OrTrap<Int> {
        let (known, unknown) = match (&a, &b) {
            (Int::Known(a), Int::Known(b)) => {
                return Ok(Int::from(if is_gcd { a.gcd(b) } else { a.lcm(b).abs() }));
            }
            (Int::Known(known), Int::Term(unknown)) | (Int::Term(unknown), Int::Known(known)) => {
                (known.abs(), *unknown)
            }
            _ => return self.divide_on(is_gcd, a, b),
        };
        if known.is_zero() && !is_gcd {
            return Ok(Int::from(0));
        }
        let size = self.magnitude(unknown);
        if known.is_zero() {
            return Ok(self.int_of(size));
        }
        match divisors(&known) {
            Some(all) => Ok(self.by_divisors(is_gcd, size, &known, &all)),
            None => self.divide_on(is_gcd, a, b),
        }
    }

    /// The greatest of these divisors that divides the number, or the corresponding multiple. It forks no
    /// path.
    fn by_divisors(&mut self, is_gcd: bool, size: Term, known: &BigInt, divisors: &[BigInt]) -> Int {
        let mut answer = None;
        for divisor in divisors {
            let value = if is_gcd {
                self.terms.int(divisor.clone())
            } else {
                let factor = self.terms.int(known / divisor);
                self.terms.mul(size, factor)
            };
            answer = Some(match answer {
                // One divides every number.
                None => value,
                Some(smaller) => {
                    let divisor = self.terms.int(divisor.clone());
                    let (rest, zero) = (self.terms.floor_mod(size, divisor), self.terms.int(0));
                    let divides = self.terms.int_eq(rest, zero);
                    self.terms.ite(divides, value, smaller)
                }
            });
        }
        answer.map_or(Int::from(1), |term| self.int_of(term))
    }

    /// Euclid's algorithm, with one path for every number of steps.
    fn divide_on(&mut self, is_gcd: bool, a: Int, b: Int) -> OrTrap<Int> {
        let function = if is_gcd { "_euclid" } else { "_multiple" };
        match self.call_library("math", function, vec![Value::Int(a), Value::Int(b)])? {
            Value::Int(found) => Ok(found),
            _ => Err(Trap::Bug("no divisor")),
        }
    }

    fn magnitude(&mut self, term: Term) -> Term {
        let (zero, negated) = (self.terms.int(0), self.terms.neg(term));
        let negative = self.terms.int_lt(term, zero);
        self.terms.ite(negative, negated, term)
    }

    /// The root is the only integer whose square does not exceed the value while the next square does.
    pub(super) fn integer_root(&mut self, value: &Int) -> OrTrap<Value> {
        let term = match value {
            Int::Known(value) => return Ok(Value::int(value.sqrt())),
            Int::Term(term) => *term,
        };
        let name = self.named_after("isqrt", &[term]);
        let root = self.terms.var(&name, Sort::Int, Interval::from(0));
        let one = self.terms.int(1);
        let next = self.terms.add(root, one);
        let (square, above) = (self.terms.mul(root, root), self.terms.mul(next, next));
        let (low, high) = (self.terms.int_le(square, term), self.terms.int_lt(term, above));
        let is_root = self.terms.and(low, high);
        if !self.decide_term(is_root)? {
            return Err(Trap::Discard);
        }
        Ok(self.int_value(root))
    }
}

/// All divisors in ascending order. `None` if there are too many.
fn divisors(number: &BigInt) -> Option<Vec<BigInt>> {
    let number = number.to_u64().filter(|number| *number <= LARGEST)?;
    let (mut low, mut high) = (Vec::new(), Vec::new());
    let mut candidate = 1;
    while candidate * candidate <= number {
        if number.is_multiple_of(candidate) {
            low.push(BigInt::from(candidate));
            if candidate * candidate != number {
                high.push(BigInt::from(number / candidate));
            }
        }
        candidate += 1;
    }
    high.reverse();
    low.append(&mut high);
    (low.len() <= MOST).then_some(low)
}
