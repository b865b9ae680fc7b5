//! Texts whose length stays unknown.
//!
//! Parts of a text are exact. All other operations here are over-approximations, so they are used only for
//! induction: a proof with them is valid, a finding with them may be false.

use std::rc::Rc;

use num_bigint::BigInt;

use crate::explore::inputs::InputType;
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::terms::{Interval, Sort, Term};
use crate::values::{Object, Str, UnboundedList, UnboundedStr, Value};

/// Maximum number of digits of an integer that Python prints.
const MOST_DIGITS: u32 = 4300;

impl Machine {
    /// The text, if its length is unknown and need not be decided.
    pub(crate) fn stays_open(&mut self, text: &Str) -> Option<Rc<UnboundedStr>> {
        let Str::Open(open) = text else { return None };
        self.induction.is_wanted = true;
        self.induction.is_on.then(|| open.clone())
    }

    /// Adds an assumption about a free variable.
    fn assume(&mut self, term: Term) -> OrTrap<()> {
        if self.decide_term(term)? { Ok(()) } else { Err(Trap::Discard) }
    }

    /// A name for the result of an operation on a text.
    fn derived(open: &UnboundedStr, what: &str) -> String {
        format!("{}[{}:]#{}.{what}", open.name, open.offset, crate::terms::Terms::number(open.length))
    }

    fn free_text(&mut self, name: String, what: &str) -> (Value, Term) {
        self.abstracted(&format!("{what} of a text without a bound may be any text of a possible length"));
        let length = self.terms.var(&format!("len({name})"), Sort::Int, Interval::from(0));
        (Value::Str(Str::Open(Rc::new(UnboundedStr { name, offset: 0, length }))), length)
    }

    /// A slice with known bounds, or from the beginning to an unknown position. `None` for other slices.
    pub(crate) fn open_slice(
        &mut self,
        open: &Rc<UnboundedStr>,
        parts: &Rc<[Value; 3]>,
    ) -> OrTrap<Option<Value>> {
        let [start, stop, step] = &**parts;
        let is_one = step.is_none() || self.as_index(step).and_then(|step| step.small()) == Some(1);
        let from =
            if start.is_none() { Some(0) } else { self.as_index(start).and_then(|start| start.small()) };
        let (Some(from), true) = (from.and_then(|from| usize::try_from(from).ok()), is_one) else {
            return Ok(None);
        };
        if from > 1_000_000 {
            return Ok(None);
        }
        let zero = self.terms.int(0);
        let end = if stop.is_none() {
            open.length
        } else {
            let Some(stop) = self.as_index(stop) else { return Ok(None) };
            let stop = self.int_term(&stop);
            let is_negative = self.terms.int_lt(stop, zero);
            if self.decide_term(is_negative)? {
                self.terms.add(open.length, stop)
            } else {
                let fits = self.terms.int_le(stop, open.length);
                self.terms.ite(fits, stop, open.length)
            }
        };
        let offset = self.terms.int(from);
        let rest = self.terms.sub(end, offset);
        let length = if from == 0 && stop.is_none() {
            open.length
        } else {
            let is_empty = self.terms.int_le(rest, zero);
            // Decided here to simplify the following terms.
            if self.decide_term(is_empty)? { zero } else { rest }
        };
        if self.terms.as_small(length) == Some(0) {
            return Ok(Some(Value::text("")));
        }
        let part = UnboundedStr { name: open.name.clone(), offset: open.offset + from, length };
        Ok(Some(Value::Str(Str::Open(Rc::new(part)))))
    }

    /// Whether a text contains a known part, as a free variable.
    pub(crate) fn open_has(&mut self, open: &Rc<UnboundedStr>, part: &[u32]) -> OrTrap<Term> {
        if part.is_empty() {
            return Ok(crate::terms::Terms::TRUE);
        }
        self.abstracted(
            "whether and where a text without a bound has a part may be anything its length allows",
        );
        let name = Self::derived(open, &format!("has({})", crate::values::text::repr(part)));
        let has = self.terms.var(&name, Sort::Bool, Interval::ALL);
        let needed = self.terms.int(part.len());
        let fits = self.terms.int_le(needed, open.length);
        let lacks = self.terms.not(has);
        let possible = self.terms.or(lacks, fits);
        self.assume(possible)?;
        Ok(has)
    }

    /// A method of a text. `None` if it must be evaluated character by character.
    pub(crate) fn open_method(
        &mut self,
        open: &Rc<UnboundedStr>,
        name: &str,
        args: &[Value],
    ) -> OrTrap<Option<Value>> {
        match (name, args) {
            ("find" | "rfind" | "index" | "rindex", [Value::Str(Str::Known(part))]) if !part.is_empty() => {
                self.open_find(open, name, part).map(Some)
            }
            ("count", [Value::Str(Str::Known(part))]) if !part.is_empty() => {
                let has = self.open_has(open, part)?;
                let counted = Self::derived(open, &format!("count({})", crate::values::text::repr(part)));
                let count = self.terms.var(&counted, Sort::Int, Interval::from(1));
                let size = self.terms.int(part.len());
                let taken = self.terms.mul(count, size);
                let fits = self.terms.int_le(taken, open.length);
                let lacks = self.terms.not(has);
                let possible = self.terms.or(lacks, fits);
                self.assume(possible)?;
                let zero = self.terms.int(0);
                let count = self.terms.ite(has, count, zero);
                Ok(Some(self.int_value(count)))
            }
            ("endswith", [Value::Str(Str::Known(part))]) if !part.is_empty() => {
                let asked = Self::derived(open, &format!("endswith({})", crate::values::text::repr(part)));
                self.open_question(open, asked, part.len()).map(Some)
            }
            (
                "isalnum" | "isalpha" | "isdecimal" | "isdigit" | "isidentifier" | "islower" | "isnumeric"
                | "isspace" | "istitle" | "isupper",
                [],
            ) => self.open_question(open, Self::derived(open, name), 1).map(Some),
            ("strip" | "lstrip" | "rstrip", [] | [Value::None | Value::Str(Str::Known(_))]) => {
                let (text, length) = self.free_text(Self::derived(open, &format!("{name}({args:?})")), name);
                let fits = self.terms.int_le(length, open.length);
                self.assume(fits)?;
                Ok(Some(text))
            }
            ("upper" | "lower" | "casefold" | "capitalize" | "swapcase" | "title", []) => {
                let (text, length) = self.free_text(Self::derived(open, name), name);
                // One character may become three.
                let three = self.terms.int(3);
                let most = self.terms.mul(open.length, three);
                let (above, below) =
                    (self.terms.int_le(open.length, length), self.terms.int_le(length, most));
                let fits = self.terms.and(above, below);
                self.assume(fits)?;
                Ok(Some(text))
            }
            ("replace", [Value::Str(Str::Known(old)), Value::Str(Str::Known(new))]) if !old.is_empty() => {
                let has = self.open_has(open, old)?;
                if !self.decide_term(has)? {
                    return Ok(Some(Value::Str(Str::Open(open.clone()))));
                }
                let (text, length) = self.free_text(Self::derived(open, &format!("replace({args:?})")), name);
                if old.len() == new.len() {
                    let same = self.terms.int_eq(length, open.length);
                    self.assume(same)?;
                }
                Ok(Some(text))
            }
            ("split", [] | [Value::None]) => {
                let (list, count) = self.open_pieces(open, "split()");
                let fits = self.terms.int_le(count, open.length);
                self.assume(fits)?;
                Ok(Some(list))
            }
            ("split", [Value::Str(Str::Known(separator))]) if !separator.is_empty() => {
                let has = self.open_has(open, separator)?;
                if !self.decide_term(has)? {
                    return Ok(Some(self.list(vec![Value::Str(Str::Open(open.clone()))])));
                }
                let (list, count) =
                    self.open_pieces(open, &format!("split({})", crate::values::text::repr(separator)));
                let (two, one) = (self.terms.int(2), self.terms.int(1));
                let most = self.terms.add(open.length, one);
                let (above, below) = (self.terms.int_le(two, count), self.terms.int_le(count, most));
                let fits = self.terms.and(above, below);
                self.assume(fits)?;
                Ok(Some(list))
            }
            _ => Ok(None),
        }
    }

    fn open_pieces(&mut self, open: &UnboundedStr, what: &str) -> (Value, Term) {
        self.abstracted("the pieces of a text without a bound may be any texts");
        let name = Self::derived(open, what);
        let length = self.terms.var(&format!("len({name})"), Sort::Int, Interval::from(0));
        let element = Rc::new(InputType::Str);
        let list = self.object(Object::OpenList(UnboundedList { name, element, length, prefix: Vec::new() }));
        (list, length)
    }

    fn open_find(&mut self, open: &Rc<UnboundedStr>, name: &str, part: &[u32]) -> OrTrap<Value> {
        let has = self.open_has(open, part)?;
        if name.ends_with("index") && !self.decide_term(has)? {
            return self.raise("ValueError", "substring not found");
        }
        let side = if name.starts_with('r') { "last" } else { "first" };
        let place = Self::derived(open, &format!("{side}({})", crate::values::text::repr(part)));
        let place = self.terms.var(&place, Sort::Int, Interval::from(0));
        let (size, minus) = (self.terms.int(part.len()), self.terms.int(-1));
        let end = self.terms.add(place, size);
        let fits = self.terms.int_le(end, open.length);
        let lacks = self.terms.not(has);
        let possible = self.terms.or(lacks, fits);
        self.assume(possible)?;
        let place = self.terms.ite(has, place, minus);
        Ok(self.int_value(place))
    }

    /// A predicate that is false for texts shorter than `least`.
    fn open_question(&mut self, open: &UnboundedStr, asked: String, least: usize) -> OrTrap<Value> {
        self.abstracted("questions about a text without a bound may be answered either way");
        let answer = self.terms.var(&asked, Sort::Bool, Interval::ALL);
        let least = self.terms.int(least);
        let fits = self.terms.int_le(least, open.length);
        let no = self.terms.not(answer);
        let possible = self.terms.or(no, fits);
        self.assume(possible)?;
        Ok(Value::Bool(self.truth_of(answer)))
    }

    /// Concatenates texts. The length is exact, the characters are not.
    pub(crate) fn open_sum(&mut self, parts: &[Value]) -> OrTrap<Value> {
        let mut names = Vec::new();
        let mut total = self.terms.int(0);
        for part in parts {
            let Value::Str(part) = part else { return Err(Trap::Bug("no string")) };
            let length = self.str_length(part);
            total = self.terms.add(total, length);
            names.push(match part {
                Str::Open(open) => Self::derived(open, ""),
                part => format!("{part:?}"),
            });
        }
        self.abstracted("texts put together may be any text of the same length");
        let name = names.join(" + ");
        Ok(Value::Str(Str::Open(Rc::new(UnboundedStr { name, offset: 0, length: total }))))
    }

    /// An integer as a text of a possible length.
    pub(crate) fn open_digits(&mut self, value: Term) -> OrTrap<Str> {
        let limit: BigInt = BigInt::from(10).pow(MOST_DIGITS) - 1;
        if !self.is_between(value, &-limit.clone(), &limit)? {
            return self.raise("ValueError", "Exceeds the limit (4300 digits) for integer string conversion");
        }
        self.abstracted("the text of an integer may be any text of a possible length");
        let name = self.named_after("str", &[value]);
        let longest = i64::from(MOST_DIGITS) + 1;
        let length = self.terms.var(&format!("len({name})"), Sort::Int, Interval::of(1, longest));
        Ok(Str::Open(Rc::new(UnboundedStr { name, offset: 0, length })))
    }
}
