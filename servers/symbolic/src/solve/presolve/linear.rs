//! Sums of integers with constant factors. `None` everywhere means that a number is too large.

use num_integer::Integer;
use num_traits::ToPrimitive;

use crate::terms::{Model, Term, TermNode, Terms};

/// A column of the linear system: a variable, or a product of variables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Column {
    /// A variable, or another term that is not a sum.
    Whole(Term),
    /// A product of two or more of those.
    Product(Factors),
    /// A term divided by a constant, rounded down.
    Quotient(Term, i128),
}

/// The factors of a product, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Factors([Option<Term>; 4]);

impl Factors {
    pub(super) fn all(&self) -> impl Iterator<Item = Term> + '_ {
        self.0.iter().flatten().copied()
    }

    fn of(column: Column) -> Option<Self> {
        match column {
            Column::Whole(term) => Some(Self([None, None, None, Some(term)])),
            Column::Product(factors) => Some(factors),
            Column::Quotient(..) => None,
        }
    }

    fn times(&self, other: &Self) -> Option<Self> {
        Self::gather(self.all().chain(other.all()))
    }

    fn gather(all: impl Iterator<Item = Term>) -> Option<Self> {
        let mut found = [None; 4];
        for (index, factor) in all.enumerate() {
            *found.get_mut(index)? = Some(factor);
        }
        found.sort_unstable();
        Some(Self(found))
    }

    /// Whether every factor occurs twice, so that the product is not negative.
    pub(super) fn is_square(&self) -> bool {
        let [a, b, c, d] = self.0;
        a == b && c == d
    }

    /// The product after substituting the factors in `known`.
    fn with(self, known: impl Fn(Term) -> Option<i128>) -> Option<Linear> {
        let mut times: i128 = 1;
        for factor in self.all().filter_map(&known) {
            times = times.checked_mul(factor)?;
        }
        let rest = Self::gather(self.all().filter(|factor| known(*factor).is_none()))?;
        let column = match rest.0 {
            [None, None, None, None] => return Some(Linear::constant(times)),
            [None, None, None, Some(term)] => Column::Whole(term),
            _ => Column::Product(rest),
        };
        Linear::default().plus(&Linear::of(column), times)
    }
}

impl Column {
    /// The value under a model.
    pub(super) fn under(self, terms: &Terms, model: &Model) -> Option<i128> {
        let number = |term: Term| model.int(terms, term).to_i128();
        match self {
            Column::Whole(term) => number(term),
            Column::Product(factors) => {
                factors.all().try_fold(1i128, |product, factor| product.checked_mul(number(factor)?))
            }
            Column::Quotient(term, divisor) => Some(Integer::div_floor(&number(term)?, &divisor)),
        }
    }
}

/// A linear expression: columns in order, each with a non-zero factor, and a constant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Linear {
    pub(super) parts: Vec<(Column, i128)>,
    pub(super) constant: i128,
}

/// Maximum depth of terms.
const DEEPEST: u32 = 200;
/// Maximum number of columns of a sum in a product.
const WIDEST: usize = 5;

impl Linear {
    fn constant(constant: i128) -> Self {
        Self { parts: Vec::new(), constant }
    }

    pub(super) fn of(column: Column) -> Self {
        Self { parts: vec![(column, 1)], constant: 0 }
    }

    /// Converts a term to a sum.
    pub(super) fn read(terms: &Terms, term: Term) -> Option<Self> {
        Self::read_to(terms, term, DEEPEST)
    }

    fn read_to(terms: &Terms, term: Term, depth: u32) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let constant = |term: Term| terms.as_int(term).map(|value| value.to_i128());
        match terms.node(term) {
            TermNode::Int(value) => Some(Self::constant(value.to_i128()?)),
            TermNode::Add(a, b) => {
                Self::read_to(terms, *a, depth)?.plus(&Self::read_to(terms, *b, depth)?, 1)
            }
            TermNode::Neg(a) => Self::default().plus(&Self::read_to(terms, *a, depth)?, -1),
            TermNode::Mul(a, b) if constant(*b).is_some() => {
                Self::default().plus(&Self::read_to(terms, *a, depth)?, constant(*b)??)
            }
            TermNode::Mul(a, b) => {
                let (left, right) = (Self::read_to(terms, *a, depth)?, Self::read_to(terms, *b, depth)?);
                Some(left.times(&right).unwrap_or_else(|| Self::of(Column::Whole(term))))
            }
            TermNode::FloorDiv(a, b) if constant(*b).is_some() => {
                Some(Self::of(Column::Quotient(*a, non_zero(constant(*b)??)?)))
            }
            TermNode::FloorMod(a, b) if constant(*b).is_some() => {
                let divisor = non_zero(constant(*b)??)?;
                let quotient = Self::of(Column::Quotient(*a, divisor));
                Self::read_to(terms, *a, depth)?.plus(&quotient, divisor.checked_neg()?)
            }
            _ => Some(Self::of(Column::Whole(term))),
        }
    }

    pub(super) fn factor(&self, column: Column) -> i128 {
        let found = self.parts.binary_search_by_key(&column, |(column, _)| *column);
        found.ok().and_then(|index| self.parts.get(index)).map_or(0, |(_, factor)| *factor)
    }

    /// The sum of this and `times` the other.
    pub(super) fn plus(&self, other: &Self, times: i128) -> Option<Self> {
        let mut parts = Vec::with_capacity(self.parts.len() + other.parts.len());
        let (mut mine, mut theirs) = (self.parts.iter().peekable(), other.parts.iter().peekable());
        loop {
            let (column, factor) = match (mine.peek(), theirs.peek()) {
                (Some((a, x)), Some((b, y))) if a == b => {
                    let sum = (*a, x.checked_add(y.checked_mul(times)?)?);
                    mine.next();
                    theirs.next();
                    sum
                }
                (Some((a, x)), other) if other.is_none_or(|(b, _)| a < b) => {
                    let own = (*a, *x);
                    mine.next();
                    own
                }
                (_, Some((b, y))) => {
                    let given = (*b, y.checked_mul(times)?);
                    theirs.next();
                    given
                }
                _ => break,
            };
            if factor != 0 {
                parts.push((column, factor));
            }
        }
        let constant = self.constant.checked_add(other.constant.checked_mul(times)?)?;
        Some(Self { parts, constant })
    }

    /// The product of two sums.
    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        if self.parts.len() > WIDEST || other.parts.len() > WIDEST {
            return None;
        }
        // The constant of one times all of the other, then every part times every part.
        let mut product = Self::default().plus(other, self.constant)?;
        for (mine, times) in &self.parts {
            product = product.plus(&Self::of(*mine), times.checked_mul(other.constant)?)?;
            for (theirs, more) in &other.parts {
                let factors = Factors::of(*mine)?.times(&Factors::of(*theirs)?)?;
                product = product.plus(&Self::of(Column::Product(factors)), times.checked_mul(*more)?)?;
            }
        }
        Some(product)
    }

    /// The sum after substituting the factors in `known`.
    pub(super) fn with(&self, known: &impl Fn(Term) -> Option<i128>) -> Option<Self> {
        let mut sum = Self::constant(self.constant);
        for (column, times) in &self.parts {
            let part = match column {
                Column::Product(factors) => factors.with(known)?,
                _ => Self::of(*column),
            };
            sum = sum.plus(&part, *times)?;
        }
        Some(sum)
    }

    /// Whether one of the columns is a product.
    pub(super) fn has_product(&self) -> bool {
        self.parts.iter().any(|(column, _)| matches!(column, Column::Product(_)))
    }

    pub(super) fn plus_constant(mut self, more: i128) -> Option<Self> {
        self.constant = self.constant.checked_add(more)?;
        Some(self)
    }

    /// The greatest common divisor of all factors. Zero if there are none.
    pub(super) fn common_factor(&self) -> i128 {
        self.parts.iter().fold(0, |common, (_, factor)| Integer::gcd(&common, factor))
    }

    /// The value, if `value` gives the columns.
    pub(super) fn sum(&self, value: impl Fn(Column) -> Option<i128>) -> Option<i128> {
        self.parts.iter().try_fold(self.constant, |sum, (column, factor)| {
            sum.checked_add(value(*column)?.checked_mul(*factor)?)
        })
    }
}

fn non_zero(value: i128) -> Option<i128> {
    (value != 0).then_some(value)
}
