//! Strings: known ones directly, others as vectors of code points that are terms.

use std::rc::Rc;

use crate::explore::machine::{LONGEST, Machine, OrTrap, Trap, fits};
use crate::explore::objects::compare::holds;
use crate::frontend::ir::CompareOp;
use crate::terms::{Interval, Sort, Term, Terms};
use crate::values::{Bool, Str, UnboundedStr, Value};

/// Code points that `str.strip` and `str.split` treat as white space.
const SPACES: &[(u32, u32)] = &[
    (9, 13),
    (28, 32),
    (0x85, 0x85),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
];

/// Number of characters compared one by one in texts of unknown length.
const CLOSELY: usize = 2;

pub(crate) fn is_space(point: u32) -> bool {
    SPACES.iter().any(|(low, high)| (*low..=*high).contains(&point))
}

/// White space around a number, for `int` and `float`. It excludes the ASCII separators.
pub(crate) fn is_space_of_number(point: u32) -> bool {
    is_space(point) && !(28..=31).contains(&point)
}

impl Machine {
    /// The length of a string, as a term.
    pub(crate) fn str_length(&mut self, text: &Str) -> Term {
        match text {
            Str::Known(points) => self.terms.int(points.len()),
            Str::Chars(points) => self.terms.int(points.len()),
            Str::Open(open) => open.length,
        }
    }

    /// The code points of a string. The length of an open one is decided.
    pub(crate) fn points_of(&mut self, text: &Str) -> OrTrap<Vec<Term>> {
        Ok(match text {
            Str::Known(points) => points.iter().map(|point| self.terms.int(*point)).collect(),
            Str::Chars(points) => points.to_vec(),
            Str::Open(open) => {
                let length = self.choose_length(open.length)?;
                (0..length).map(|place| self.open_at(open, place)).collect()
            }
        })
    }

    /// The string of these code points. It is known if all of them are.
    pub(crate) fn str_of_points(&mut self, points: Vec<Term>) -> Value {
        let known: Option<Vec<u32>> = points
            .iter()
            .map(|point| self.terms.as_small(*point).and_then(|value| u32::try_from(value).ok()))
            .collect();
        Value::Str(match known {
            Some(known) => Str::Known(Rc::new(known)),
            None => Str::Chars(Rc::new(points)),
        })
    }

    pub(crate) fn str_equal_terms(&mut self, a: &Str, b: &Str) -> OrTrap<Bool> {
        let (open, other) = match (a, b) {
            (Str::Open(a), Str::Open(b)) => {
                let differ = self.open_differ(a, b);
                let equal = self.terms.not(differ);
                return Ok(self.truth_of(equal));
            }
            (Str::Open(open), other) | (other, Str::Open(open)) => (open, other),
            _ => {
                let (a, b) = (self.points_of(a)?, self.points_of(b)?);
                let equal = self.points_equal(&a, &b);
                return Ok(self.truth_of(equal));
            }
        };
        let points = self.points_of(other)?;
        let length = self.terms.int(points.len());
        let mut equal = self.terms.int_eq(open.length, length);
        for (place, point) in points.iter().enumerate() {
            let own = self.open_at(open, place);
            let same = self.terms.int_eq(own, *point);
            equal = self.terms.and(equal, same);
        }
        Ok(self.truth_of(equal))
    }

    /// Whether two texts of unknown length differ: in length, in one of their first characters, or later. A
    /// later difference is a free variable. This is an over-approximation.
    fn open_differ(&mut self, a: &UnboundedStr, b: &UnboundedStr) -> Term {
        let key = |open: &UnboundedStr| (open.name.clone(), open.offset, Terms::number(open.length));
        let (a, b) = if key(a) <= key(b) { (a, b) } else { (b, a) };
        let same_length = self.terms.int_eq(a.length, b.length);
        let mut differ = self.terms.not(same_length);
        if (&a.name, a.offset) == (&b.name, b.offset) {
            return differ;
        }
        self.abstracted("what follows the second character of two texts may be the same or not");
        for place in 0..CLOSELY {
            let at = self.terms.int(place);
            let exists = self.terms.int_lt(at, a.length);
            let (x, y) = (self.open_at(a, place), self.open_at(b, place));
            let same = self.terms.int_eq(x, y);
            let other = self.terms.not(same);
            let here = self.terms.and(exists, other);
            differ = self.terms.or(differ, here);
        }
        let limit = self.terms.int(CLOSELY);
        let is_long = self.terms.int_lt(limit, a.length);
        let (left, right) = (key(a), key(b));
        let rest = format!("{}[{}:]#{} != {}[{}:]#{}", left.0, left.1, left.2, right.0, right.1, right.2);
        let rest = self.terms.var(&rest, Sort::Bool, Interval::ALL);
        let further = self.terms.and(is_long, rest);
        self.terms.or(differ, further)
    }

    pub(crate) fn points_equal(&mut self, a: &[Term], b: &[Term]) -> Term {
        if a.len() != b.len() {
            return Terms::FALSE;
        }
        let mut equal = Terms::TRUE;
        for (a, b) in a.iter().zip(b) {
            let same = self.terms.int_eq(*a, *b);
            equal = self.terms.and(equal, same);
        }
        equal
    }

    pub(crate) fn str_order(&mut self, op: CompareOp, a: &Str, b: &Str) -> OrTrap<Bool> {
        if let (Str::Known(a), Str::Known(b)) = (a, b) {
            return Ok(Bool::Known(holds(op, a.cmp(b))));
        }
        let (a, b) = (self.points_of(a)?, self.points_of(b)?);
        let (a, b, is_strict) = match op {
            CompareOp::Lt => (a, b, true),
            CompareOp::Le => (a, b, false),
            CompareOp::Gt => (b, a, true),
            _ => (b, a, false),
        };
        let at_end = if is_strict { a.len() < b.len() } else { a.len() <= b.len() };
        let mut term = self.terms.bool(at_end);
        let pairs: Vec<(Term, Term)> = a.iter().copied().zip(b.iter().copied()).collect();
        for (x, y) in pairs.into_iter().rev() {
            let (equal, less) = (self.terms.int_eq(x, y), self.terms.int_lt(x, y));
            term = self.terms.ite(equal, term, less);
        }
        Ok(self.truth_of(term))
    }

    pub(crate) fn str_contains(&mut self, text: &Str, part: &Str) -> OrTrap<Bool> {
        if let (Str::Known(text), Str::Known(part)) = (text, part) {
            return Ok(Bool::Known(find_known(text, part, 0).is_some()));
        }
        if let (Some(open), Str::Known(part)) = (self.stays_open(text), part) {
            let has = self.open_has(&open, part)?;
            return Ok(self.truth_of(has));
        }
        let (text, part) = (self.points_of(text)?, self.points_of(part)?);
        let mut any = self.terms.bool(part.is_empty());
        if !part.is_empty() {
            for window in text.windows(part.len()) {
                let equal = self.points_equal(window, &part);
                any = self.terms.or(any, equal);
            }
        }
        Ok(self.truth_of(any))
    }

    /// The position of a part, searched from `from` to the last position where it ends before `to`.
    pub(crate) fn find_points(
        &mut self,
        text: &[Term],
        part: &[Term],
        from: usize,
        to: usize,
    ) -> OrTrap<Option<usize>> {
        let mut at = from;
        while at + part.len() <= to {
            let window = text.get(at..at + part.len()).unwrap_or_default();
            let equal = self.points_equal(window, part);
            if self.decide_term(equal)? {
                return Ok(Some(at));
            }
            at += 1;
        }
        Ok(None)
    }

    pub(crate) fn concatenate(&mut self, parts: &[Value]) -> OrTrap<Value> {
        if let [one] = parts {
            return Ok(one.clone());
        }
        // An empty part changes nothing, so an open one is not decided for it.
        let filled: Vec<&Value> = parts
            .iter()
            .filter(|part| !matches!(part, Value::Str(Str::Known(points)) if points.is_empty()))
            .collect();
        if let [one] = filled.as_slice() {
            return Ok((*one).clone());
        }
        let known: Option<Vec<&Rc<Vec<u32>>>> = parts
            .iter()
            .map(|part| if let Value::Str(Str::Known(points)) = part { Some(points) } else { None })
            .collect();
        if let Some(known) = known {
            let length = known.iter().fold(0_usize, |sum, points| sum.saturating_add(points.len()));
            if length > LONGEST {
                return Err(Trap::Bound("a string of a million characters".to_owned()));
            }
            let points: Vec<u32> = known.into_iter().flat_map(|points| points.iter().copied()).collect();
            return Ok(Value::points(points));
        }
        if self.induction.is_on && parts.iter().any(|part| matches!(part, Value::Str(Str::Open(_)))) {
            return self.open_sum(parts);
        }
        let mut points = Vec::new();
        for part in parts {
            let Value::Str(part) = part else { return Err(Trap::Bug("no string")) };
            points.extend(self.points_of(part)?);
            fits(points.len())?;
        }
        Ok(self.str_of_points(points))
    }

    /// Whether a code point is within one of the ranges, as a term.
    pub(crate) fn in_ranges(&mut self, point: Term, ranges: &[(u32, u32)]) -> Term {
        let mut any = Terms::FALSE;
        for (low, high) in ranges {
            let (low, high) = (self.terms.int(*low), self.terms.int(*high));
            let (above, below) = (self.terms.int_le(low, point), self.terms.int_le(point, high));
            let inside = self.terms.and(above, below);
            any = self.terms.or(any, inside);
        }
        any
    }

    pub(crate) fn is_space_term(&mut self, point: Term) -> Term {
        self.in_ranges(point, SPACES)
    }

    /// Requires all code points to be ASCII. Otherwise the path is beyond the engine.
    pub(crate) fn require_ascii(&mut self, points: &[Term], what: &str) -> OrTrap<()> {
        let mut all = Terms::TRUE;
        for point in points {
            let ascii = self.in_ranges(*point, &[(0, 127)]);
            all = self.terms.and(all, ascii);
        }
        if self.decide_term(all)? { Ok(()) } else { self.unsupported(format!("{what} beyond ASCII")) }
    }

    /// The decimal digits of an integer. An unknown one forks by sign and number of digits.
    pub(crate) fn digits_of(&mut self, value: &crate::values::Int) -> OrTrap<Str> {
        let term = match value {
            crate::values::Int::Known(value) => return Ok(Str::of(&value.to_string())),
            crate::values::Int::Term(term) => *term,
        };
        if self.induction.is_on {
            return self.open_digits(term);
        }
        let zero = self.terms.int(0);
        let negative = self.terms.int_lt(term, zero);
        let is_negative = self.decide_term(negative)?;
        let magnitude = if is_negative { self.terms.neg(term) } else { term };
        let mut power = num_bigint::BigInt::from(10);
        let mut count = 1;
        loop {
            let limit = self.terms.int(power.clone());
            let fits = self.terms.int_lt(magnitude, limit);
            if self.decide_term(fits)? {
                break;
            }
            power *= 10;
            count += 1;
            self.induction.is_wanted |= count > 3;
            if count > 4300 {
                return self
                    .raise("ValueError", "Exceeds the limit (4300 digits) for integer string conversion");
            }
        }
        let (ten, first) = (self.terms.int(10), self.terms.int(48));
        let mut points = Vec::new();
        let mut rest = magnitude;
        for _ in 0..count {
            let digit = self.terms.floor_mod(rest, ten);
            points.push(self.terms.add(digit, first));
            rest = self.terms.floor_div(rest, ten);
        }
        if is_negative {
            points.push(self.terms.int(45));
        }
        points.reverse();
        match self.str_of_points(points) {
            Value::Str(text) => Ok(text),
            _ => Err(Trap::Bug("no string")),
        }
    }
}

/// The position of a known part in a known text.
pub(crate) fn find_known(text: &[u32], part: &[u32], from: usize) -> Option<usize> {
    if part.is_empty() {
        return (from <= text.len()).then_some(from);
    }
    let rest = text.get(from..)?;
    rest.windows(part.len()).position(|window| window == part).map(|at| at + from)
}
