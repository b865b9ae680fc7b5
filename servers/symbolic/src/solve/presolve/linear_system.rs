//! Sums that are zero and sums that are at most zero: finds integers that satisfy them.
//!
//! Equations are solved for a column and substituted. The remaining rows are eliminated column by column
//! (Fourier and Motzkin); each row is divided by the common divisor of its factors, and its constant rounded.
//! A contradiction is valid for all numbers. Back-substitution gives each column a value. It may find no
//! integer, and then the result is open.

use std::collections::BTreeMap;

use num_integer::Integer;

use super::linear::{Column, Linear};
use crate::terms::Term;

/// Maximum number of rows.
const MOST_ROWS: usize = 160;
/// Maximum number of substitutions of known factors into products.
const SETTLING: u32 = 4;

#[derive(Clone, Default, Debug)]
pub(super) struct LinearSystem {
    pub(super) zero: Vec<Linear>,
    pub(super) at_most_zero: Vec<Linear>,
}

pub(super) type Assignment = BTreeMap<Column, i128>;

pub(super) enum SystemSolution {
    /// No numbers satisfy the system.
    Never,
    /// These numbers satisfy it.
    With(Assignment),
    /// The work or the numbers became too large.
    Open,
}

/// A column removed by elimination, with its equation or its bounds.
enum EliminatedColumn {
    Equal(Column, Linear),
    Between(Column, Vec<Linear>),
}

impl LinearSystem {
    /// `near` gives the preferred value of a column; `work` is the remaining budget.
    pub(super) fn solve(&self, near: impl Fn(Column) -> i128, work: &mut u32) -> SystemSolution {
        let mut elimination = Elimination { rows: BTreeMap::new(), out: Vec::new() };
        let settled = self.settled();
        match elimination.run(settled.as_ref().unwrap_or(self), work) {
            Some(true) => {}
            Some(false) => return SystemSolution::Never,
            None => return SystemSolution::Open,
        }
        elimination.back(near).map_or(SystemSolution::Open, SystemSolution::With)
    }

    /// The same rows with products reduced by their known factors. `None` if no product can be reduced.
    fn settled(&self) -> Option<LinearSystem> {
        let all = || self.zero.iter().chain(&self.at_most_zero);
        if !all().any(Linear::has_product) {
            return None;
        }
        let mut rows = self.clone();
        let mut known = 0;
        for _ in 0..SETTLING {
            let fixed = rows.fixed();
            if fixed.len() == known {
                break;
            }
            known = fixed.len();
            for row in rows.zero.iter_mut().chain(&mut rows.at_most_zero) {
                if row.has_product() {
                    *row = row.with(&|term| fixed.get(&term).copied())?;
                }
            }
        }
        (known > 0).then_some(rows)
    }

    /// Terms with only one possible value.
    fn fixed(&self) -> BTreeMap<Term, i128> {
        let mut between: BTreeMap<Term, Bounds> = BTreeMap::new();
        let sides = [(&self.zero, true), (&self.at_most_zero, false)];
        for (row, is_zero) in sides.into_iter().flat_map(|(rows, is)| rows.iter().map(move |row| (row, is))) {
            let [(Column::Whole(term), factor)] = row.parts.as_slice() else { continue };
            let (low, high) = between.entry(*term).or_default();
            // factor * term <= -constant
            let Some(limit) = row.constant.checked_neg() else { continue };
            if is_zero && limit % factor == 0 {
                (*low, *high) = (Some(limit / factor), Some(limit / factor));
            } else if *factor > 0 {
                let limit = Integer::div_floor(&limit, factor);
                *high = Some(high.map_or(limit, |high| high.min(limit)));
            } else {
                let limit = Integer::div_ceil(&limit, factor);
                *low = Some(low.map_or(limit, |low| low.max(limit)));
            }
        }
        let single = between.into_iter().filter_map(|(term, (low, high))| Some((term, low?, high?)));
        single.filter(|(_, low, high)| low == high).map(|(term, low, _)| (term, low)).collect()
    }
}

struct Elimination {
    /// The greatest constant for each combination of factors.
    rows: BTreeMap<Vec<(Column, i128)>, i128>,
    out: Vec<EliminatedColumn>,
}

impl Elimination {
    /// Whether there is no contradiction.
    fn run(&mut self, rows: &LinearSystem, work: &mut u32) -> Option<bool> {
        let mut equations = rows.zero.clone();
        let mut others = rows.at_most_zero.clone();
        while let Some(equation) = equations.pop() {
            let common = equation.common_factor();
            if common == 0 {
                if equation.constant != 0 {
                    return Some(false);
                }
                continue;
            }
            if equation.constant % common != 0 {
                return Some(false);
            }
            let equation = Linear {
                parts: equation.parts.iter().map(|(column, factor)| (*column, factor / common)).collect(),
                constant: equation.constant / common,
            };
            let Some((column, factor)) = equation.parts.iter().find(|(_, factor)| factor.abs() == 1).copied()
            else {
                others.push(Linear::default().plus(&equation, -1)?);
                others.push(equation);
                continue;
            };
            for row in equations.iter_mut().chain(&mut others) {
                let times = row.factor(column);
                if times != 0 {
                    *work = work.checked_sub(1)?;
                    *row = row.plus(&equation, times.checked_mul(factor)?.checked_neg()?)?;
                }
            }
            // The value of the column: the equation without it, with the sign inverted.
            let mut rest = Linear::default().plus(&equation, factor.checked_neg()?)?;
            rest.parts.retain(|(other, _)| *other != column);
            self.out.push(EliminatedColumn::Equal(column, rest));
        }
        for row in others {
            if !self.insert(row) {
                return Some(false);
            }
        }
        while let Some(column) = self.cheapest() {
            if !self.eliminate(column, work)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Adds a row. Returns whether it can hold.
    fn insert(&mut self, row: Linear) -> bool {
        let common = row.common_factor();
        if common == 0 {
            return row.constant <= 0;
        }
        let parts = row.parts.into_iter().map(|(column, factor)| (column, factor / common)).collect();
        let constant = Integer::div_ceil(&row.constant, &common);
        let kept = self.rows.entry(parts).or_insert(constant);
        *kept = constant.max(*kept);
        true
    }

    /// The column whose elimination creates the fewest rows.
    fn cheapest(&self) -> Option<Column> {
        let mut signs: BTreeMap<Column, (usize, usize)> = BTreeMap::new();
        for (column, factor) in self.rows.keys().flatten() {
            let (above, below) = signs.entry(*column).or_default();
            *(if *factor > 0 { above } else { below }) += 1;
        }
        signs.into_iter().min_by_key(|(_, (above, below))| above * below).map(|(column, _)| column)
    }

    fn eliminate(&mut self, column: Column, work: &mut u32) -> Option<bool> {
        let (mut above, mut below, mut around) = (Vec::new(), Vec::new(), Vec::new());
        let rows = std::mem::take(&mut self.rows);
        for (parts, constant) in rows {
            let row = Linear { parts, constant };
            match row.factor(column) {
                0 => {
                    self.rows.insert(row.parts, row.constant);
                    continue;
                }
                factor if factor > 0 => above.push((row.clone(), factor)),
                factor => below.push((row.clone(), factor)),
            }
            around.push(row);
        }
        for (upper, positive) in &above {
            for (lower, negative) in &below {
                *work = work.checked_sub(1)?;
                let both = Linear::default().plus(upper, negative.checked_neg()?)?.plus(lower, *positive)?;
                if !self.insert(both) {
                    return Some(false);
                }
            }
        }
        self.out.push(EliminatedColumn::Between(column, around));
        (self.rows.len() <= MOST_ROWS).then_some(true)
    }

    /// The values, from the last eliminated column to the first.
    fn back(self, near: impl Fn(Column) -> i128) -> Option<Assignment> {
        let mut found = Assignment::new();
        for out in self.out.iter().rev() {
            let (column, rows) = match out {
                EliminatedColumn::Equal(column, rest) => (*column, std::slice::from_ref(rest)),
                EliminatedColumn::Between(column, around) => (*column, around.as_slice()),
            };
            // A column is free if it is left after the last row with another column was eliminated.
            for (other, _) in rows.iter().flat_map(|row| &row.parts).filter(|(other, _)| *other != column) {
                found.entry(*other).or_insert_with(|| near(*other));
            }
            let value = |other: Column| found.get(&other).copied();
            let chosen = match out {
                EliminatedColumn::Equal(_, rest) => rest.sum(value)?,
                EliminatedColumn::Between(_, around) => {
                    let (low, high) = bounds(column, around, value)?;
                    if low.zip(high).is_some_and(|(low, high)| low > high) {
                        return None;
                    }
                    let chosen = near(column);
                    let chosen = low.map_or(chosen, |low| chosen.max(low));
                    high.map_or(chosen, |high| chosen.min(high))
                }
            };
            found.insert(column, chosen);
        }
        Some(found)
    }
}

type Bounds = (Option<i128>, Option<i128>);

/// The bounds of a column if all other columns are known.
fn bounds(column: Column, rows: &[Linear], value: impl Fn(Column) -> Option<i128>) -> Option<Bounds> {
    let (mut low, mut high): Bounds = (None, None);
    for row in rows {
        let factor = row.factor(column);
        let rest = row.sum(|other| if other == column { Some(0) } else { value(other) })?;
        // factor * column <= -rest
        if factor > 0 {
            let limit = Integer::div_floor(&rest.checked_neg()?, &factor);
            high = Some(high.map_or(limit, |high| high.min(limit)));
        } else {
            let limit = Integer::div_ceil(&rest, &factor.checked_neg()?);
            low = Some(low.map_or(limit, |low| low.max(limit)));
        }
    }
    Some((low, high))
}
