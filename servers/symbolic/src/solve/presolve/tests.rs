//! Random queries over a few small numbers, compared with an exhaustive search.

use num_bigint::BigInt;

use super::decide;
use crate::solve::SatResult;
use crate::terms::{Interval, Model, Scalar, Sort, Term, Terms};

/// A pseudo-random generator with a fixed seed.
struct DeterministicDice(u64);

impl DeterministicDice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn small(&mut self) -> i64 {
        i64::try_from(self.roll(15)).expect("small") - 7
    }
}

/// Two bools and three numbers from -3 to 3.
struct Question {
    terms: Terms,
    truths: Vec<Term>,
    numbers: Vec<Term>,
}

impl Question {
    fn new() -> Self {
        let mut terms = Terms::new();
        let truths = ["p", "q"].map(|name| terms.var(name, Sort::Bool, Interval::ALL)).to_vec();
        let numbers = ["x", "y", "z"].map(|name| terms.var(name, Sort::Int, Interval::of(-3, 3))).to_vec();
        Self { terms, truths, numbers }
    }

    fn number(&mut self, dice: &mut DeterministicDice, depth: u32) -> Term {
        let kind = if depth == 0 { dice.roll(3) } else { dice.roll(10) };
        match kind {
            0 => self.terms.int(dice.small()),
            1 | 2 => self.numbers[usize::try_from(dice.roll(3)).expect("small")],
            3 | 4 => {
                let (a, b) = (self.number(dice, depth - 1), self.number(dice, depth - 1));
                self.terms.add(a, b)
            }
            5 => {
                let (a, b) = (self.number(dice, depth - 1), self.number(dice, depth - 1));
                self.terms.sub(a, b)
            }
            6 => {
                let (a, times) = (self.number(dice, depth - 1), self.terms.int(dice.small()));
                self.terms.mul(a, times)
            }
            7 => {
                let (a, b) = (self.number(dice, depth - 1), self.number(dice, depth - 1));
                self.terms.mul(a, b)
            }
            8 => {
                let divisor = [-3, -2, 2, 3, 5][usize::try_from(dice.roll(5)).expect("small")];
                let (a, by) = (self.number(dice, depth - 1), self.terms.int(divisor));
                if dice.roll(2) == 0 { self.terms.floor_div(a, by) } else { self.terms.floor_mod(a, by) }
            }
            _ => {
                let c = self.truth(dice, depth - 1);
                let (a, b) = (self.number(dice, depth - 1), self.number(dice, depth - 1));
                self.terms.ite(c, a, b)
            }
        }
    }

    fn truth(&mut self, dice: &mut DeterministicDice, depth: u32) -> Term {
        let kind = if depth == 0 { 7 } else { dice.roll(8) };
        match kind {
            0 => {
                let a = self.truth(dice, depth - 1);
                self.terms.not(a)
            }
            1 => {
                let (a, b) = (self.truth(dice, depth - 1), self.truth(dice, depth - 1));
                self.terms.and(a, b)
            }
            2 => {
                let (a, b) = (self.truth(dice, depth - 1), self.truth(dice, depth - 1));
                self.terms.or(a, b)
            }
            3 => {
                let c = self.truth(dice, depth - 1);
                let (a, b) = (self.truth(dice, depth - 1), self.truth(dice, depth - 1));
                self.terms.ite(c, a, b)
            }
            4 | 5 => {
                let (a, b) = (self.number(dice, depth - 1), self.number(dice, depth - 1));
                self.terms.int_le(a, b)
            }
            6 => {
                let (a, b) = (self.number(dice, depth - 1), self.number(dice, depth - 1));
                self.terms.int_eq(a, b)
            }
            _ => self.truths[usize::try_from(dice.roll(2)).expect("small")],
        }
    }

    /// Whether any of the 1,372 assignments makes all of these true.
    fn can_be(&self, all: &[Term]) -> bool {
        let vars: Vec<_> = self
            .truths
            .iter()
            .chain(&self.numbers)
            .map(|term| match self.terms.node(*term) {
                crate::terms::TermNode::Var(var) => *var,
                other => panic!("{other:?} is no variable"),
            })
            .collect();
        (0..4 * 343).any(|mut number: i64| {
            let mut values = std::collections::HashMap::new();
            for (index, var) in vars.iter().enumerate() {
                let sides = if index < 2 { 2 } else { 7 };
                let (rest, side) = (number / sides, number % sides);
                number = rest;
                let value =
                    if index < 2 { Scalar::Bool(side == 1) } else { Scalar::Int(BigInt::from(side - 3)) };
                values.insert(*var, value);
            }
            let model = Model::new(values);
            all.iter().all(|term| model.truth(&self.terms, *term))
        })
    }
}

#[test]
fn answers_are_what_trying_everything_says() {
    let mut dice = DeterministicDice(0x5EED);
    let (mut yes, mut no, mut open) = (0, 0, 0);
    for _ in 0..600 {
        let mut question = Question::new();
        let length = 1 + dice.roll(5);
        let path: Vec<Term> = (0..length).map(|_| question.truth(&mut dice, 4)).collect();
        let more = question.truth(&mut dice, 4);
        let all: Vec<Term> = path.iter().copied().chain([more]).collect();
        match decide(&question.terms, &path, more, None) {
            SatResult::Sat(model) => {
                yes += 1;
                assert!(all.iter().all(|term| model.truth(&question.terms, *term)));
                for number in &question.numbers {
                    let value = model.int(&question.terms, *number);
                    assert!((-3..=3).contains(&i64::try_from(value).expect("small")), "within its bounds");
                }
            }
            SatResult::Unsat => {
                no += 1;
                assert!(!question.can_be(&all), "{:?}", question.terms);
            }
            SatResult::Unknown => open += 1,
        }
    }
    assert!(yes > 200 && no > 150 && open < 200, "{yes} yes, {no} no, {open} open");
}

#[test]
fn whole_numbers_are_not_fractions() {
    let mut terms = Terms::new();
    let x = terms.var("x", Sort::Int, Interval::ALL);
    let y = terms.var("y", Sort::Int, Interval::ALL);
    let two = terms.int(2);
    let (double, even) = (terms.mul(x, two), terms.mul(y, two));
    let one = terms.int(1);
    let odd = terms.add(even, one);
    let equal = terms.int_eq(double, odd);
    assert!(matches!(decide(&terms, &[], equal, None), SatResult::Unsat));
    // Three halves is between one and two.
    let three = terms.int(3);
    let (above, below) = (terms.int_le(three, double), terms.int_le(double, three));
    assert!(matches!(decide(&terms, &[above], below, None), SatResult::Unsat));
}

#[test]
fn an_answer_stays_close_to_what_was_there() {
    let mut terms = Terms::new();
    let x = terms.var("x", Sort::Int, Interval::ALL);
    let bound = terms.int(1_000);
    let above = terms.int_lt(bound, x);
    let SatResult::Sat(model) = decide(&terms, &[], above, None) else { panic!("it can be") };
    assert_eq!(model.int(&terms, x), BigInt::from(1_001));
    let below = terms.int_le(bound, x);
    let SatResult::Sat(same) = decide(&terms, &[], below, Some(&model)) else { panic!("it can be") };
    assert_eq!(same.int(&terms, x), BigInt::from(1_001));
}

#[test]
fn numbers_too_large_to_count_with_are_compared() {
    let mut terms = Terms::new();
    let x = terms.var("x", Sort::Int, Interval::ALL);
    let (huge, small) = (terms.int(BigInt::from(1) << 200), terms.int(7));
    let (above, below) = (terms.int_lt(huge, x), terms.int_le(x, small));
    assert!(matches!(decide(&terms, &[above], below, None), SatResult::Unsat));
    let SatResult::Sat(model) = decide(&terms, &[], above, None) else { panic!("it can be") };
    assert_eq!(model.int(&terms, x), (BigInt::from(1) << 200) + 1);
    let equal = terms.int_eq(x, huge);
    assert!(matches!(decide(&terms, &[], equal, None), SatResult::Unknown), "left to others");
}

#[test]
fn a_choice_between_two_numbers_is_one_of_them() {
    let mut terms = Terms::new();
    let x = terms.var("x", Sort::Int, Interval::ALL);
    let zero = terms.int(0);
    let (minus, is_negative, is_small) = (terms.neg(x), terms.int_lt(x, zero), terms.int_le(x, zero));
    let absolute = terms.ite(is_negative, minus, x);
    let equal = terms.int_eq(minus, absolute);
    let differs = terms.not(equal);
    assert!(matches!(decide(&terms, &[is_small], differs, None), SatResult::Unsat));
}

/// A float with one comparison: less, at most, equal, nan, infinite. The float can be on either side.
fn compared(terms: &mut Terms, x: Term, dice: &mut DeterministicDice) -> Term {
    const CONSTANTS: [f64; 8] = [0.0, -0.0, 5e-324, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let constant = terms.float(CONSTANTS[usize::try_from(dice.roll(8)).expect("small")]);
    let (a, b) = if dice.roll(2) == 0 { (x, constant) } else { (constant, x) };
    let found = match dice.roll(5) {
        0 => terms.float_lt(a, b),
        1 => terms.float_le(a, b),
        2 => terms.float_eq(a, b),
        3 => terms.float_is_nan(x),
        _ => terms.float_is_inf(x),
    };
    if dice.roll(2) == 0 { terms.not(found) } else { found }
}

#[test]
fn floats_are_what_trying_around_every_constant_says() {
    let around = [0.0f64, 5e-324, 1e-323, 0.5, 1.0, 1.0f64.next_up(), 2.0, f64::MAX, f64::INFINITY];
    let around: Vec<f64> = around.iter().flat_map(|value| [*value, -*value]).chain([f64::NAN]).collect();
    let mut dice = DeterministicDice(0xF10A7);
    let (mut yes, mut no) = (0, 0);
    for _ in 0..3_000 {
        let mut terms = Terms::new();
        let x = terms.var("x", Sort::Float, Interval::ALL);
        let crate::terms::TermNode::Var(var) = *terms.node(x) else { panic!("a variable") };
        let all: Vec<Term> = (0..1 + dice.roll(5)).map(|_| compared(&mut terms, x, &mut dice)).collect();
        let holds = |value: f64| {
            let model = Model::new([(var, Scalar::Float(value))].into());
            all.iter().all(|term| model.truth(&terms, *term))
        };
        match decide(&terms, &all, Terms::TRUE, None) {
            SatResult::Sat(model) => {
                yes += 1;
                assert!(holds(model.float(&terms, x)));
            }
            SatResult::Unsat => {
                no += 1;
                assert!(!around.iter().any(|value| holds(*value)), "{terms:?}");
            }
            SatResult::Unknown => panic!("nothing here is hard: {terms:?}"),
        }
    }
    assert!(yes > 500 && no > 500, "{yes} yes, {no} no");
}
