//! Queries that need no solver: conditions and sums of integers, which are most queries (ADR 0025).
//!
//! Asking Z3 takes longer than answering these. Facts are collected as rows. A model of the rows is tried on
//! the query itself. Where it fails at an "or", the case is split there. The result is given only if it is
//! certain: a model under which the terms evaluate to true, or a contradiction in every case. All other terms
//! (bits, sums of floats, quotients of unknowns) may have any value within their bounds. This can only make a
//! contradiction harder to find.

mod floats;
mod linear;
mod linear_system;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

use self::linear::{Column, Factors, Linear};
use self::linear_system::{Assignment, LinearSystem, SystemSolution};
use super::SatResult;
use crate::terms::{Model, Scalar, Sort, Term, TermNode, Terms, Var};

/// Maximum number of row combinations, about half a millisecond.
const WORK: u32 = 3_000;
/// Maximum number of cases.
const CASES: u32 = 256;
/// Constants beyond this are excluded from rows.
const HUGE: i128 = 1 << 100;
/// Maximum number of facts.
const FACTS: usize = 2_000;

/// An assumption of a case.
#[derive(Clone, Debug)]
enum Assumption {
    Is(Term, bool),
    Zero(Linear),
    AtMostZero(Linear),
}

/// A disjunction: one of these lists holds.
type CaseSplit = Vec<Vec<Assumption>>;

/// A case of the search: its assumptions and the linear system they make.
#[derive(Clone, Default)]
struct Case {
    todo: Vec<Assumption>,
    truths: BTreeMap<Term, bool>,
    columns: BTreeSet<Column>,
    rows: LinearSystem,
    splits: Vec<CaseSplit>,
    /// Values beyond the range of rows, with their terms.
    huge: Vec<(Term, BigInt)>,
    /// Factors that were set to a value as an experiment.
    chosen: BTreeSet<Term>,
}

/// Whether all of these can hold at once. `Unknown` leaves it open. `near` is a model to stay close to.
pub(super) fn decide(terms: &Terms, path: &[Term], more: Term, near: Option<&Model>) -> SatResult {
    let all: Vec<Term> = path.iter().copied().chain([more]).collect();
    let first =
        Case { todo: all.iter().rev().map(|term| Assumption::Is(*term, true)).collect(), ..Case::default() };
    let mut hand = Presolver { terms, all, near, work: WORK, cases: CASES };
    hand.decide(first)
}

struct Presolver<'a> {
    terms: &'a Terms,
    all: Vec<Term>,
    near: Option<&'a Model>,
    work: u32,
    cases: u32,
}

impl Presolver<'_> {
    fn decide(&mut self, mut case: Case) -> SatResult {
        let Some(cases) = self.cases.checked_sub(1) else { return SatResult::Unknown };
        self.cases = cases;
        match case.gather(self.terms) {
            Some(true) => {}
            Some(false) => return SatResult::Unsat,
            None => return SatResult::Unknown,
        }
        let (terms, nothing) = (self.terms, Model::default());
        let model = self.near.unwrap_or(&nothing);
        let near = |column: Column| column.under(terms, model).unwrap_or(0);
        let numbers = match case.rows.solve(near, &mut self.work) {
            SystemSolution::Never => return SatResult::Unsat,
            SystemSolution::With(numbers) => numbers,
            SystemSolution::Open => return SatResult::Unknown,
        };
        let Some(ranges) = floats::ranges(self.terms, &case.truths) else { return SatResult::Unsat };
        let model = self.model(&case, &numbers, &ranges);
        if self.all.iter().all(|term| model.truth(self.terms, *term)) && self.is_within_bounds(&model) {
            return SatResult::Sat(model);
        }
        // Only a split that the model violates gives new information.
        let failing = case.splits.iter().position(|split| !self.holds(split, &model, &numbers));
        let Some(index) = failing else { return self.with_factors(case, &numbers) };
        let split = case.splits.swap_remove(index);
        let mut is_open = false;
        for facts in split {
            let mut part = case.clone();
            part.todo = facts;
            match self.decide(part) {
                SatResult::Unsat => {}
                SatResult::Unknown => is_open = true,
                found @ SatResult::Sat(_) => return found,
            }
        }
        if is_open { SatResult::Unknown } else { SatResult::Unsat }
    }

    /// Chooses values for some factors of products to find a model. A failure proves nothing.
    fn with_factors(&mut self, mut case: Case, numbers: &Assignment) -> SatResult {
        let products = case.columns.iter().filter_map(|column| match column {
            Column::Product(factors) => factors.all().next(),
            _ => None,
        });
        let chosen: BTreeSet<Term> = products.filter(|term| !case.chosen.contains(term)).collect();
        for term in &chosen {
            let column = Column::Whole(*term);
            let Some(value) = numbers.get(&column).and_then(|value| value.checked_neg()) else { continue };
            case.todo.extend(Linear::of(column).plus_constant(value).map(Assumption::Zero));
        }
        if case.todo.is_empty() {
            return SatResult::Unknown;
        }
        case.chosen.extend(chosen);
        match self.decide(case) {
            SatResult::Unsat => SatResult::Unknown,
            answer => answer,
        }
    }

    fn model(&self, case: &Case, numbers: &Assignment, ranges: &BTreeMap<Term, floats::FloatRange>) -> Model {
        let mut values: HashMap<Var, Scalar> =
            self.near.map(|near| near.values().clone()).unwrap_or_default();
        for (column, number) in numbers {
            if let Column::Whole(term) = column
                && let TermNode::Var(var) = self.terms.node(*term)
            {
                let huge = case.huge.iter().filter(|(of, _)| of == term).map(|(_, value)| value);
                let huge = if *number > 0 { huge.max() } else { huge.min() };
                let value = huge.filter(|_| number.abs() >= HUGE).cloned();
                values.insert(*var, Scalar::Int(value.unwrap_or_else(|| BigInt::from(*number))));
            }
        }
        for (term, truth) in &case.truths {
            if let TermNode::Var(var) = self.terms.node(*term) {
                values.insert(*var, Scalar::Bool(*truth));
            }
        }
        for (term, range) in ranges {
            if let TermNode::Var(var) = self.terms.node(*term) {
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

    fn holds(&self, split: &CaseSplit, model: &Model, numbers: &Assignment) -> bool {
        // Uses the values of the rows: under the model, a choice between two numbers always equals one of
        // them.
        let number =
            |column: Column| numbers.get(&column).copied().or_else(|| column.under(self.terms, model));
        let sum = |row: &Linear| row.sum(number);
        split.iter().any(|facts| {
            facts.iter().all(|fact| match fact {
                Assumption::Is(term, truth) => {
                    model.value(self.terms, *term).is_some_and(|value| value == Scalar::Bool(*truth))
                }
                Assumption::Zero(row) => sum(row) == Some(0),
                Assumption::AtMostZero(row) => sum(row).is_some_and(|sum| sum <= 0),
            })
        })
    }
}

impl Case {
    /// Decomposes every fact. `Some(false)` if two of them contradict each other.
    fn gather(&mut self, terms: &Terms) -> Option<bool> {
        while let Some(fact) = self.todo.pop() {
            let fits = match fact {
                Assumption::Is(term, truth) => self.truth(terms, term, truth)?,
                Assumption::Zero(row) => {
                    self.define(terms, &row)?;
                    self.rows.zero.push(row);
                    true
                }
                Assumption::AtMostZero(row) => {
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
        let is = |term: &Term, truth: bool| Assumption::Is(*term, truth);
        match terms.node(term) {
            TermNode::Bool(value) => return Some(*value == truth),
            TermNode::Not(a) => self.todo.push(is(a, !truth)),
            // Both parts of a true "and", and of a false "or".
            TermNode::And(a, b) if truth => self.todo.extend([is(b, true), is(a, true)]),
            TermNode::Or(a, b) if !truth => self.todo.extend([is(b, false), is(a, false)]),
            TermNode::And(a, b) | TermNode::Or(a, b) => {
                self.splits.push(vec![vec![is(a, truth)], vec![is(b, truth), is(a, !truth)]]);
            }
            TermNode::Ite(c, a, b) => {
                self.splits.push(vec![vec![is(a, truth), is(c, true)], vec![is(b, truth), is(c, false)]]);
            }
            TermNode::IntLe(a, b) if is_huge(terms, *a) || is_huge(terms, *b) => {
                self.order_huge(terms, [*a, *b], truth)?
            }
            TermNode::IntLe(a, b) => {
                let difference = Linear::read(terms, *a)?.plus(&Linear::read(terms, *b)?, -1)?;
                self.todo.push(Assumption::AtMostZero(if truth { difference } else { beyond(&difference)? }));
            }
            TermNode::IntEq(a, b) => {
                let difference = Linear::read(terms, *a)?.plus(&Linear::read(terms, *b)?, -1)?;
                if truth {
                    self.todo.push(Assumption::Zero(difference));
                } else {
                    let less = difference.clone().plus_constant(1)?;
                    let more = beyond(&difference)?;
                    self.splits
                        .push(vec![vec![Assumption::AtMostZero(less)], vec![Assumption::AtMostZero(more)]]);
                }
            }
            // A variable, or a float condition that can be true or false.
            _ => {}
        }
        Some(true)
    }

    /// Adds the intrinsic bounds of the columns of a row.
    fn define(&mut self, terms: &Terms, row: &Linear) -> Option<()> {
        for (column, _) in &row.parts {
            if !self.columns.insert(*column) {
                continue;
            }
            match *column {
                Column::Whole(term) => self.bound(terms, term)?,
                Column::Product(factors) => self.multiply(terms, factors)?,
                Column::Quotient(term, divisor) => {
                    // The remainder is at least zero and less than the divisor.
                    let times = divisor.checked_neg()?;
                    let remainder = Linear::read(terms, term)?.plus(&Linear::of(*column), times)?;
                    let (low, high) =
                        if divisor > 0 { (0, divisor.checked_sub(1)?) } else { (divisor.checked_add(1)?, 0) };
                    let above = Linear::default().plus(&remainder, -1)?.plus_constant(low)?;
                    let below = remainder.plus_constant(high.checked_neg()?)?;
                    self.todo.extend([Assumption::AtMostZero(above), Assumption::AtMostZero(below)]);
                }
            }
        }
        Some(())
    }

    /// A comparison with a number beyond the range of rows also holds with a smaller one, or is dropped.
    fn order_huge(&mut self, terms: &Terms, [a, b]: [Term; 2], truth: bool) -> Option<()> {
        let (small, large) = if truth { (a, b) } else { (b, a) };
        let far = |term: Term| terms.as_int(term).map(|value| value.is_negative());
        match (far(small), far(large)) {
            // At least a huge number.
            (Some(false), None) => {
                self.huge.extend(terms.as_int(small).map(|value| (large, value + i32::from(!truth))));
                let row = Linear::default().plus(&Linear::read(terms, large)?, -1)?.plus_constant(HUGE)?;
                self.todo.push(Assumption::AtMostZero(row));
            }
            // At most a hugely negative number.
            (None, Some(true)) => {
                self.huge.extend(terms.as_int(large).map(|value| (small, value - i32::from(!truth))));
                let row = Linear::read(terms, small)?.plus_constant(HUGE)?;
                self.todo.push(Assumption::AtMostZero(row));
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
            self.todo.push(Assumption::AtMostZero(Linear::default().plus(&product, -1)?));
        }
        for factor in factors.all() {
            if self.columns.insert(Column::Whole(factor)) {
                self.bound(terms, factor)?;
            }
        }
        Some(())
    }

    /// A remainder is between zero and its divisor, and completes the quotient. With a divisor of zero it is
    /// free.
    fn remainder(&mut self, terms: &Terms, remainder: &Linear, a: Term, b: Term) -> Option<()> {
        let divisor = Linear::read(terms, b)?;
        let minus = |row: &Linear| Linear::default().plus(row, -1);
        let mut above = vec![
            Assumption::AtMostZero(remainder.plus(&divisor, -1)?.plus_constant(1)?),
            Assumption::AtMostZero(minus(remainder)?),
            Assumption::AtMostZero(minus(&divisor)?.plus_constant(1)?),
        ];
        let mut below = vec![
            Assumption::AtMostZero(divisor.plus(remainder, -1)?.plus_constant(1)?),
            Assumption::AtMostZero(remainder.clone()),
            Assumption::AtMostZero(divisor.clone().plus_constant(1)?),
        ];
        if let Some(quotient) = terms.find(&TermNode::FloorDiv(a, b)) {
            let quotient = Linear::of(Column::Whole(quotient));
            if let Some(product) = divisor.times(&quotient) {
                let whole = Linear::read(terms, a)?.plus(&product, -1)?.plus(remainder, -1)?;
                above.push(Assumption::Zero(whole.clone()));
                below.push(Assumption::Zero(whole));
            }
        }
        self.splits.push(vec![above, below, vec![Assumption::Zero(divisor)]]);
        Some(())
    }

    fn bound(&mut self, terms: &Terms, term: Term) -> Option<()> {
        let whole = Linear::of(Column::Whole(term));
        let interval = terms.interval(term);
        // Bounds beyond the range of rows are dropped. This allows more values, not fewer.
        if let Some(low) = interval.low.as_ref().and_then(ToPrimitive::to_i128) {
            self.todo.push(Assumption::AtMostZero(Linear::default().plus(&whole, -1)?.plus_constant(low)?));
        }
        if let Some(high) = interval.high.as_ref().and_then(ToPrimitive::to_i128) {
            self.todo.push(Assumption::AtMostZero(whole.clone().plus_constant(high.checked_neg()?)?));
        }
        if let TermNode::FloorMod(a, b) = terms.node(term) {
            self.remainder(terms, &whole, *a, *b)?;
        }
        if let TermNode::Ite(c, a, b) = terms.node(term)
            && terms.sort(term) == Sort::Int
        {
            let equals = |side: Term| whole.plus(&Linear::read(terms, side)?, -1).map(Assumption::Zero);
            self.splits.push(vec![
                vec![equals(*a)?, Assumption::Is(*c, true)],
                vec![equals(*b)?, Assumption::Is(*c, false)],
            ]);
        }
        Some(())
    }
}

/// Whether it is a constant beyond the range of rows.
fn is_huge(terms: &Terms, term: Term) -> bool {
    terms.as_int(term).is_some_and(|value| value.magnitude() > BigInt::from(HUGE).magnitude())
}

/// The negated row shifted by one: it holds if `row <= 0` does not.
fn beyond(row: &Linear) -> Option<Linear> {
    Linear::default().plus(row, -1)?.plus_constant(1)
}
