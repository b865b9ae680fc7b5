//! Guesses claims about loops from rounds with known inputs. A guess has no value until it is proven.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

/// Maximum number of fixed locals in a guess.
const MOST_FIXED: usize = 4;

/// The integer locals at each arrival at the head of a loop. `None` where a local was not an integer.
#[derive(Clone, Default, Debug)]
pub(crate) struct LoopTrace {
    /// The first item, if the items are integers with a fixed step.
    pub(crate) start: Option<BigInt>,
    pub(crate) rows: Vec<Vec<Option<BigInt>>>,
}

/// The factor of a term in a guess.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Factor {
    One,
    /// The first item of the loop.
    Start,
    /// A local that the loop does not change.
    Local(u32),
}

/// A claim about the locals after a number of rounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Claim {
    /// `scale * (local - before)` is a sum of `coefficient * rounds**power * factor`.
    Sum {
        local: u32,
        scale: BigInt,
        parts: Vec<(BigInt, u32, Factor)>,
    },
    NotBelowStart(u32),
    NotAboveStart(u32),
    NotNegative(u32),
    /// The local grows by at most one in each round.
    GrewByRounds(u32),
    /// One local is at most another.
    Ordered(u32, u32),
}

/// The integers of the locals at one arrival.
type Row<'r> = &'r [Option<BigInt>];

/// All claims that match the observed rounds. `changed` are locals that the loop changes, `fixed` those that
/// it does not.
pub(crate) fn guesses(runs: &[LoopTrace], changed: &[u32], fixed: &[u32]) -> Vec<Claim> {
    let at = |row: &[Option<BigInt>], local: u32| row.get(local as usize).cloned().flatten();
    let is_known = |local: &u32| runs.iter().all(|run| run.rows.iter().all(|row| at(row, *local).is_some()));
    let changed: Vec<u32> = changed.iter().copied().filter(is_known).collect();
    let fixed: Vec<u32> = fixed.iter().copied().filter(is_known).take(MOST_FIXED).collect();
    if runs.iter().map(|run| run.rows.len()).max().unwrap_or(0) < 2 {
        return Vec::new();
    }
    let always = |holds: &dyn Fn(Row<'_>, Row<'_>, usize) -> Option<bool>| {
        runs.iter().all(|run| {
            let Some(first) = run.rows.first() else { return true };
            run.rows.iter().enumerate().all(|(round, row)| holds(first, row, round) == Some(true))
        })
    };
    let mut claims = Vec::new();
    for local in &changed {
        claims.extend(sum(runs, *local, &fixed));
        let local = *local;
        if always(&|first, row, _| Some(at(row, local)? >= at(first, local)?)) {
            claims.push(Claim::NotBelowStart(local));
        }
        if always(&|first, row, _| Some(at(row, local)? <= at(first, local)?)) {
            claims.push(Claim::NotAboveStart(local));
        }
        if always(&|_, row, _| Some(!at(row, local)?.is_negative())) {
            claims.push(Claim::NotNegative(local));
        }
        if always(&|first, row, round| Some(at(row, local)? - at(first, local)? <= BigInt::from(round))) {
            claims.push(Claim::GrewByRounds(local));
        }
    }
    for a in &changed {
        for b in changed.iter().chain(&fixed).filter(|b| *b != a) {
            if always(&|_, row, _| Some(at(row, *a)? <= at(row, *b)?)) {
                claims.push(Claim::Ordered(*a, *b));
            }
        }
    }
    claims
}

/// The polynomial of the rounds that a local equals, if one matches.
fn sum(runs: &[LoopTrace], local: u32, fixed: &[u32]) -> Option<Claim> {
    let has_start = runs.iter().all(|run| run.start.is_some());
    let mut shapes: Vec<(u32, Factor)> = vec![(1, Factor::One), (2, Factor::One)];
    let factors = has_start.then_some(Factor::Start).into_iter();
    let factors: Vec<Factor> = factors.chain(fixed.iter().map(|local| Factor::Local(*local))).collect();
    shapes.extend(factors.iter().map(|factor| (1, *factor)));
    shapes.push((3, Factor::One));
    shapes.extend(factors.iter().map(|factor| (2, *factor)));
    let mut equations = Vec::new();
    for run in runs {
        let first = run.rows.first()?;
        let before = first.get(local as usize).cloned().flatten()?;
        for (round, row) in run.rows.iter().enumerate().skip(1) {
            let after = row.get(local as usize).cloned().flatten()?;
            let mut equation: Vec<BigInt> = Vec::with_capacity(shapes.len() + 1);
            for (power, factor) in &shapes {
                let factor = match factor {
                    Factor::One => BigInt::one(),
                    Factor::Start => run.start.clone()?,
                    Factor::Local(local) => first.get(*local as usize).cloned().flatten()?,
                };
                equation.push(BigInt::from(round).pow(*power) * factor);
            }
            equation.push(after - &before);
            equations.push(equation);
        }
    }
    let solution = solve(equations, shapes.len())?;
    let scale = solution.iter().fold(BigInt::one(), |scale, (_, bottom)| scale.lcm(bottom));
    let parts = shapes.into_iter().zip(solution).filter(|(_, (top, _))| !top.is_zero());
    let parts =
        parts.map(|((power, factor), (top, bottom))| (top * (&scale / bottom), power, factor)).collect();
    Some(Claim::Sum { local, scale, parts })
}

/// Solves linear equations exactly. Each row has its coefficients and then the right side. Undetermined
/// unknowns are zero; `None` if there is no solution. Fractions are a numerator and a positive denominator.
fn solve(mut rows: Vec<Vec<BigInt>>, unknowns: usize) -> Option<Vec<(BigInt, BigInt)>> {
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    for column in 0..unknowns {
        let done = pivots.len();
        let is_filled = |row: &Vec<BigInt>| row.get(column).is_some_and(|value| !value.is_zero());
        let Some(found) = rows.iter().skip(done).position(is_filled) else { continue };
        rows.swap(done, done + found);
        let pivot_row = rows.get(done)?.clone();
        let pivot = pivot_row.get(column)?.clone();
        for (index, row) in rows.iter_mut().enumerate() {
            let Some(factor) = row.get(column).cloned().filter(|factor| index != done && !factor.is_zero())
            else {
                continue;
            };
            for (value, above) in row.iter_mut().zip(&pivot_row) {
                *value = &*value * &pivot - above * &factor;
            }
            shorten(row);
        }
        pivots.push((done, column));
    }
    let right = |row: &Vec<BigInt>| row.get(unknowns).cloned().unwrap_or_default();
    if rows.iter().skip(pivots.len()).any(|row| !right(row).is_zero()) {
        return None;
    }
    let mut solution = vec![(BigInt::zero(), BigInt::one()); unknowns];
    for (index, column) in pivots {
        let row = rows.get(index)?;
        let (mut top, mut bottom) = (right(row), row.get(column)?.clone());
        if bottom.is_negative() {
            (top, bottom) = (-top, -bottom);
        }
        let common = top.gcd(&bottom);
        *solution.get_mut(column)? = (top / &common, bottom / common);
    }
    Some(solution)
}

fn shorten(row: &mut [BigInt]) {
    let common = row.iter().fold(BigInt::zero(), |common, value| common.gcd(value));
    if !common.is_zero() && !common.is_one() {
        row.iter_mut().for_each(|value| *value = &*value / &common);
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::{Claim, Factor, LoopTrace, guesses};

    fn run(start: i64, rows: &[&[i64]]) -> LoopTrace {
        let rows =
            rows.iter().map(|row| row.iter().map(|value| Some(BigInt::from(*value))).collect()).collect();
        LoopTrace { start: Some(start.into()), rows }
    }

    #[test]
    fn the_sum_of_the_first_numbers() {
        let runs = [run(0, &[&[9, 0], &[9, 0], &[9, 1], &[9, 3], &[9, 6], &[9, 10]])];
        let found = guesses(&runs, &[1], &[]);
        let parts = vec![(BigInt::from(-1), 1, Factor::One), (BigInt::from(1), 2, Factor::One)];
        assert_eq!(found.first(), Some(&Claim::Sum { local: 1, scale: 2.into(), parts }));
    }

    #[test]
    fn a_product_by_adding() {
        let runs = [run(0, &[&[3, 0], &[3, 3], &[3, 6], &[3, 9]]), run(0, &[&[-2, 5], &[-2, 3], &[-2, 1]])];
        let found = guesses(&runs, &[1], &[0]);
        let parts = vec![(BigInt::from(1), 1, Factor::Local(0))];
        assert_eq!(found.first(), Some(&Claim::Sum { local: 1, scale: 1.into(), parts }));
    }

    #[test]
    fn powers_of_two_are_no_polynomial() {
        let rows: Vec<Vec<i64>> = (0..9).map(|round| vec![1 << round]).collect();
        let rows: Vec<&[i64]> = rows.iter().map(Vec::as_slice).collect();
        let found = guesses(&[run(0, &rows)], &[0], &[]);
        assert!(!found.iter().any(|claim| matches!(claim, Claim::Sum { .. })), "{found:?}");
        assert!(found.contains(&Claim::NotBelowStart(0)));
    }
}
