//! Questions that need no solver: truths and sums of whole numbers, which are most of what is asked.
//!
//! Asking Z3 takes longer than answering these. What holds is gathered as rows; a model of the rows is tried on the question
//! itself, and where it fails at an "or" the case is split there. An answer is given only when it is certain: a model that the
//! terms evaluate to true under, or a contradiction in every case. Whatever is more than that (bits, sums
//! of floats, quotients of unknowns) is taken as something that may have any value within its bounds, which can only make a
//! contradiction harder to find.

mod floats;
mod linear;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

use self::linear::{Column, Factors, Linear};
use self::rows::{Assignment, Rows, Solved};
use super::Answer;
use crate::terms::{Model, Node, Scalar, Sort, Term, Terms, Var};

/// Rows combined before a question is left to others: about half a millisecond.
const WORK: u32 = 3_000;
/// Cases looked at.
const CASES: u32 = 256;
/// Constants beyond this are not counted with.
const HUGE: i128 = 1 << 100;
/// Facts gathered.
const FACTS: usize = 2_000;

/// Something that holds in a case.
#[derive(Clone, Debug)]
enum Fact {
    Is(Term, bool),
    Zero(Linear),
    AtMostZero(Linear),
}

/// One of these lists holds.
type Split = Vec<Vec<Fact>>;

/// What is assumed together.
#[derive(Clone, Default)]
struct Case {
    todo: Vec<Fact>,
    truths: BTreeMap<Term, bool>,
    columns: BTreeSet<Column>,
    rows: Rows,
    splits: Vec<Split>,
    /// Values beyond what rows count with, and whose they could be.
    huge: Vec<(Term, BigInt)>,
    /// Factors that were given a value to see whether it does.
    chosen: BTreeSet<Term>,
}

/// Whether all of these can hold at once; `Unknown` leaves it open. `near` is a model to stay close to.
pub(super) fn decide(terms: &Terms, path: &[Term], more: Term, near: Option<&Model>) -> Answer {
    let all: Vec<Term> = path.iter().copied().chain([more]).collect();
    let first =
        Case { todo: all.iter().rev().map(|term| Fact::Is(*term, true)).collect(), ..Case::default() };
    let mut hand = Hand { terms, all, near, work: WORK, cases: CASES };
    hand.decide(first)
}

struct Hand<'a> {
    terms: &'a Terms,
    all: Vec<Term>,
    near: Option<&'a Model>,
    work: u32,
    cases: u32,
}

impl Hand<'_> {
    fn decide(&mut self, mut case: Case) -> Answer {
        let Some(cases) = self.cases.checked_sub(1) else { return Answer::Unknown };
        self.cases = cases;
        match case.gather(self.terms) {
            Some(true) => {}
            Some(false) => return Answer::Unsat,
            None => return Answer::Unknown,
        }
        let (terms, nothing) = (self.terms, Model::default());
        let model = self.near.unwrap_or(&nothing);
        let near = |column: Column| column.under(terms, model).unwrap_or(0);
        let numbers = match case.rows.solve(near, &mut self.work) {
            Solved::Never => return Answer::Unsat,
            Solved::With(numbers) => numbers,
            Solved::Open => return Answer::Unknown,
        };
        let Some(ranges) = floats::ranges(self.terms, &case.truths) else { return Answer::Unsat };
        let model = self.model(&case, &numbers, &ranges);
        if self.all.iter().all(|term| model.truth(self.terms, *term)) && self.is_within_bounds(&model) {
            return Answer::Sat(model);
        }
        // Only a split that the model fails at says more about it.
        let failing = case.splits.iter().position(|split| !self.holds(split, &model, &numbers));
        let Some(index) = failing else { return self.with_factors(case, &numbers) };
        let split = case.splits.swap_remove(index);
        let mut is_open = false;
        for facts in split {
            let mut part = case.clone();
            part.todo = facts;
            match self.decide(part) {
                Answer::Unsat => {}
                Answer::Unknown => is_open = true,
                found @ Answer::Sat(_) => return found,
            }
        }
        if is_open { Answer::Unknown } else { Answer::Unsat }
    }

    /// A model may be had once some factors of products are chosen; that there is none would say nothing.
    fn with_factors(&mut self, mut case: Case, numbers: &Assignment) -> Answer {
        let products = case.columns.iter().filter_map(|column| match column {
            Column::Product(factors) => factors.all().next(),
            _ => None,
        });
        let chosen: BTreeSet<Term> = products.filter(|term| !case.chosen.contains(term)).collect();
        for term in &chosen {
            let column = Column::Whole(*term);
            let Some(value) = numbers.get(&column).and_then(|value| value.checked_neg()) else { continue };
            case.todo.extend(Linear::of(column).plus_constant(value).map(Fact::Zero));
        }
        if case.todo.is_empty() {
            return Answer::Unknown;
        }
        case.chosen.extend(chosen);
        match self.decide(case) {
            Answer::Unsat => Answer::Unknown,
            answer => answer,
        }
    }

    fn model(&self, case: &Case, numbers: &Assignment, ranges: &BTreeMap<Term, floats::Range>) -> Model {
        let mut values: HashMap<Var, Scalar> =
            self.near.map(|near| near.values().clone()).unwrap_or_default();
        for (column, number) in numbers {
            if let Column::Whole(term) = column
                && let Node::Var(var) = self.terms.node(*term)
            {
                let huge = case.huge.iter().filter(|(of, _)| of == term).map(|(_, value)| value);
                let huge = if *number > 0 { huge.max() } else { huge.min() };
                let value = huge.filter(|_| number.abs() >= HUGE).cloned();
                values.insert(*var, Scalar::Int(value.unwrap_or_else(|| BigInt::from(*number))));
            }
        }
        for (term, truth) in &case.truths {
            if let Node::Var(var) = self.terms.node(*term) {
                values.insert(*var, Scalar::Bool(*truth));
            }
        }
        for (term, range) in ranges {
            if let Node::Var(var) = self.terms.node(*term) {
                let near = if let Some(Scalar::Float(value)) = values.get(var) { *value } else { 0.0 };
                values.extend(range.pick(near).map(|value| (*var, Scalar::Float(value))));
            }
        }
        Model::new(values)
    }

    fn is_within_bounds(&self, model: &Model) -> bool {
        model.values().iter().all(|(var, value)| match (self.terms.declared(*var), value) {
            (Some(declared), Scalar::Int(value)) => {
                declared.interval.low.as_ref().is_none_or(|low| low <= value)
                    && declared.interval.high.as_ref().is_none_or(|high| value <= high)
            }
            _ => true,
        })
    }

    fn holds(&self, split: &Split, model: &Model, numbers: &Assignment) -> bool {
        // By the rows' own numbers: under the model a choice between two numbers is always one of them.
        let number =
            |column: Column| numbers.get(&column).copied().or_else(|| column.under(self.terms, model));
        let sum = |row: &Linear| row.sum(number);
        split.iter().any(|facts| {
            facts.iter().all(|fact| match fact {
                Fact::Is(term, truth) => {
                    model.value(self.terms, *term).is_some_and(|value| value == Scalar::Bool(*truth))
                }
                Fact::Zero(row) => sum(row) == Some(0),
                Fact::AtMostZero(row) => sum(row).is_some_and(|sum| sum <= 0),
            })
        })
    }
}

impl Case {
    /// Takes every fact apart. `Some(false)` when two of them contradict each other.
    fn gather(&mut self, terms: &Terms) -> Option<bool> {
        while let Some(fact) = self.todo.pop() {
            let fits = match fact {
                Fact::Is(term, truth) => self.truth(terms, term, truth)?,
                Fact::Zero(row) => {
                    self.define(terms, &row)?;
                    self.rows.zero.push(row);
                    true
                }
                Fact::AtMostZero(row) => {
                    self.define(terms, &row)?;
                    self.rows.at_most_zero.push(row);
                    true
                }
            };
            if !fits {
                return Some(false);
            }
            if self.truths.len() + self.columns.len() > FACTS {
                return None;
            }
        }
        Some(true)
    }

    fn truth(&mut self, terms: &Terms, term: Term, truth: bool) -> Option<bool> {
        if let Some(known) = self.truths.insert(term, truth) {
            return Some(known == truth);
        }
        let is = |term: &Term, truth: bool| Fact::Is(*term, truth);
        match terms.node(term) {
            Node::Bool(value) => return Some(*value == truth),
            Node::Not(a) => self.todo.push(is(a, !truth)),
            // Both of an "and" that holds, both of an "or" that does not.
            Node::And(a, b) if truth => self.todo.extend([is(b, true), is(a, true)]),
            Node::Or(a, b) if !truth => self.todo.extend([is(b, false), is(a, false)]),
            Node::And(a, b) | Node::Or(a, b) => {
                self.splits.push(vec![vec![is(a, truth)], vec![is(b, truth), is(a, !truth)]]);
            }
            Node::Ite(c, a, b) => {
                self.splits.push(vec![vec![is(a, truth), is(c, true)], vec![is(b, truth), is(c, false)]]);
            }
            Node::IntLe(a, b) if is_huge(terms, *a) || is_huge(terms, *b) => {
                self.order_huge(terms, [*a, *b], truth)?
            }
            Node::IntLe(a, b) => {
                let difference = Linear::read(terms, *a)?.plus(&Linear::read(terms, *b)?, -1)?;
                self.todo.push(Fact::AtMostZero(if truth { difference } else { beyond(&difference)? }));
            }
            Node::IntEq(a, b) => {
                let difference = Linear::read(terms, *a)?.plus(&Linear::read(terms, *b)?, -1)?;
                if truth {
                    self.todo.push(Fact::Zero(difference));
                } else {
                    let less = difference.clone().plus_constant(1)?;
                    let more = beyond(&difference)?;
                    self.splits.push(vec![vec![Fact::AtMostZero(less)], vec![Fact::AtMostZero(more)]]);
                }
            }
            // A variable, or something about floats that is true or false as it likes.
            _ => {}
        }
        Some(true)
    }

    /// What holds of the columns of a row by themselves.
    fn define(&mut self, terms: &Terms, row: &Linear) -> Option<()> {
        for (column, _) in &row.parts {
            if !self.columns.insert(*column) {
                continue;
            }
            match *column {
                Column::Whole(term) => self.bound(terms, term)?,
                Column::Product(factors) => self.multiply(terms, factors)?,
                Column::Quotient(term, divisor) => {
                    // The remainder lies between zero and the divisor, without reaching it.
                    let times = divisor.checked_neg()?;
                    let remainder = Linear::read(terms, term)?.plus(&Linear::of(*column), times)?;
                    let (low, high) =
                        if divisor > 0 { (0, divisor.checked_sub(1)?) } else { (divisor.checked_add(1)?, 0) };
                    let above = Linear::default().plus(&remainder, -1)?.plus_constant(low)?;
                    let below = remainder.plus_constant(high.checked_neg()?)?;
                    self.todo.extend([Fact::AtMostZero(above), Fact::AtMostZero(below)]);
                }
            }
        }
        Some(())
    }

    /// Comparisons with numbers that are too large for this hold with a smaller one too, or say nothing.
    fn order_huge(&mut self, terms: &Terms, [a, b]: [Term; 2], truth: bool) -> Option<()> {
        let (small, large) = if truth { (a, b) } else { (b, a) };
        let far = |term: Term| terms.as_int(term).map(|value| value.is_negative());
        match (far(small), far(large)) {
            // At least something huge.
            (Some(false), None) => {
                self.huge.extend(terms.as_int(small).map(|value| (large, value + i32::from(!truth))));
                let row = Linear::default().plus(&Linear::read(terms, large)?, -1)?.plus_constant(HUGE)?;
                self.todo.push(Fact::AtMostZero(row));
            }
            // At most something hugely negative.
            (None, Some(true)) => {
                self.huge.extend(terms.as_int(large).map(|value| (small, value - i32::from(!truth))));
                let row = Linear::read(terms, small)?.plus_constant(HUGE)?;
                self.todo.push(Fact::AtMostZero(row));
            }
            _ => {}
        }
        Some(())
    }

    fn multiply(&mut self, terms: &Terms, factors: Factors) -> Option<()> {
        let is_positive =
            |term: Term| terms.interval(term).low.as_ref().is_some_and(|low| !low.is_negative());
        if factors.is_square() || factors.all().all(is_positive) {
            let product = Linear::of(Column::Product(factors));
            self.todo.push(Fact::AtMostZero(Linear::default().plus(&product, -1)?));
        }
        for factor in factors.all() {
            if self.columns.insert(Column::Whole(factor)) {
                self.bound(terms, factor)?;
            }
        }
        Some(())
    }

    /// A remainder lies between zero and its divisor, and makes the whole with the quotient. By zero it may be anything.
    fn remainder(&mut self, terms: &Terms, remainder: &Linear, a: Term, b: Term) -> Option<()> {
        let divisor = Linear::read(terms, b)?;
        let minus = |row: &Linear| Linear::default().plus(row, -1);
        let mut above = vec![
            Fact::AtMostZero(remainder.plus(&divisor, -1)?.plus_constant(1)?),
            Fact::AtMostZero(minus(remainder)?),
            Fact::AtMostZero(minus(&divisor)?.plus_constant(1)?),
        ];
        let mut below = vec![
            Fact::AtMostZero(divisor.plus(remainder, -1)?.plus_constant(1)?),
            Fact::AtMostZero(remainder.clone()),
            Fact::AtMostZero(divisor.clone().plus_constant(1)?),
        ];
        if let Some(quotient) = terms.find(&Node::FloorDiv(a, b)) {
            let quotient = Linear::of(Column::Whole(quotient));
            if let Some(product) = divisor.times(&quotient) {
                let whole = Linear::read(terms, a)?.plus(&product, -1)?.plus(remainder, -1)?;
                above.push(Fact::Zero(whole.clone()));
                below.push(Fact::Zero(whole));
            }
        }
        self.splits.push(vec![above, below, vec![Fact::Zero(divisor)]]);
        Some(())
    }

    fn bound(&mut self, terms: &Terms, term: Term) -> Option<()> {
        let whole = Linear::of(Column::Whole(term));
        let interval = terms.interval(term);
        // Bounds that are too large for this are left out: that allows more, not less.
        if let Some(low) = interval.low.as_ref().and_then(ToPrimitive::to_i128) {
            self.todo.push(Fact::AtMostZero(Linear::default().plus(&whole, -1)?.plus_constant(low)?));
        }
        if let Some(high) = interval.high.as_ref().and_then(ToPrimitive::to_i128) {
            self.todo.push(Fact::AtMostZero(whole.clone().plus_constant(high.checked_neg()?)?));
        }
        if let Node::FloorMod(a, b) = terms.node(term) {
            self.remainder(terms, &whole, *a, *b)?;
        }
        if let Node::Ite(c, a, b) = terms.node(term)
            && terms.sort(term) == Sort::Int
        {
            let equals = |side: Term| whole.plus(&Linear::read(terms, side)?, -1).map(Fact::Zero);
            self.splits
                .push(vec![vec![equals(*a)?, Fact::Is(*c, true)], vec![equals(*b)?, Fact::Is(*c, false)]]);
        }
        Some(())
    }
}

/// Whether it is a constant beyond what rows count with.
fn is_huge(terms: &Terms, term: Term) -> bool {
    terms.as_int(term).is_some_and(|value| value.magnitude() > BigInt::from(HUGE).magnitude())
}

/// The row turned around and moved by one: what holds when `row <= 0` does not.
fn beyond(row: &Linear) -> Option<Linear> {
    Linear::default().plus(row, -1)?.plus_constant(1)
}
