//! Terms in SMT-LIB. Every term is defined once, under its number, so that Z3 preserves sharing.

use std::collections::HashSet;
use std::fmt::Write;

use num_bigint::BigInt;
use num_traits::Signed;

use super::arena::{BitOp, FloatOp, RoundingMode, Sort, Term, TermNode, Terms, Var};

/// Writes terms in SMT-LIB, and records which definitions the solver already has.
#[derive(Default, Debug)]
pub(crate) struct SmtPrinter {
    defined: HashSet<Term>,
    divided: HashSet<(Term, Term)>,
    /// Variables declared so far.
    pub(crate) vars: Vec<Var>,
    /// Assertions about variables declared since it was last taken.
    pub(crate) bounds: String,
}

impl SmtPrinter {
    /// Writes the definitions of a term and returns its symbol.
    pub(crate) fn define(&mut self, terms: &Terms, term: Term, out: &mut String) -> String {
        // An explicit stack: terms may be deeper than Rust's stack allows.
        let mut work = vec![(term, false)];
        while let Some((next, children_done)) = work.pop() {
            if self.defined.contains(&next) {
                continue;
            }
            if !children_done {
                work.push((next, true));
                work.extend(terms.children(next).into_iter().map(|child| (child, false)));
                continue;
            }
            self.defined.insert(next);
            self.emit(terms, next, out);
        }
        name(terms, term)
    }

    fn emit(&mut self, terms: &Terms, term: Term, out: &mut String) {
        let sort = sort_name(terms.sort(term));
        match terms.node(term) {
            TermNode::Bool(_) | TermNode::Int(_) | TermNode::Float(_) => {}
            TermNode::Var(var) => {
                self.vars.push(*var);
                let _ = writeln!(out, "(declare-const {} {sort})", name(terms, term));
                let Some(declared) = terms.declared(*var) else { return };
                if let Some(low) = &declared.interval.low {
                    let _ = writeln!(self.bounds, "(assert (<= {} {}))", int(low), name(terms, term));
                }
                if let Some(high) = &declared.interval.high {
                    let _ = writeln!(self.bounds, "(assert (<= {} {}))", name(terms, term), int(high));
                }
            }
            TermNode::FloorDiv(a, b) | TermNode::FloorMod(a, b) if terms.as_int(*b).is_none() => {
                self.divide(terms, *a, *b, out);
                let part = if matches!(terms.node(term), TermNode::FloorDiv(..)) { "q" } else { "r" };
                let found = division(part, *a, *b);
                let _ = writeln!(out, "(define-fun {} () Int {found})", name(terms, term));
            }
            node => {
                let body = body(terms, node);
                let _ = writeln!(out, "(define-fun {} () {sort} {body})", name(terms, term));
            }
        }
    }

    /// Defines quotient and remainder by an unknown divisor as Python does: `a == b * q + r`, and `r` is
    /// between zero and `b`. Z3 handles this better than its own division.
    fn divide(&mut self, terms: &Terms, a: Term, b: Term, out: &mut String) {
        if !self.divided.insert((a, b)) {
            return;
        }
        let (q, r) = (division("q", a, b), division("r", a, b));
        let (a, b) = (name(terms, a), name(terms, b));
        let _ = writeln!(out, "(declare-const {q} Int)\n(declare-const {r} Int)");
        let _ = writeln!(self.bounds, "(assert (=> (not (= {b} 0)) (= {a} (+ (* {b} {q}) {r}))))");
        let _ = writeln!(self.bounds, "(assert (=> (> {b} 0) (and (<= 0 {r}) (< {r} {b}))))");
        let _ = writeln!(self.bounds, "(assert (=> (< {b} 0) (and (<= {r} 0) (< {b} {r}))))");
    }
}

fn division(part: &str, a: Term, b: Term) -> String {
    format!("{part}{}_{}", Terms::number(a), Terms::number(b))
}

/// The symbol of a variable.
pub(crate) fn var_name(var: Var) -> String {
    format!("v{}", var.0)
}

fn sort_name(sort: Sort) -> &'static str {
    match sort {
        Sort::Bool => "Bool",
        Sort::Int => "Int",
        Sort::Float => "Float64",
    }
}

fn int(value: &BigInt) -> String {
    if value.is_negative() { format!("(- {})", value.magnitude()) } else { value.to_string() }
}

fn float(bits: u64) -> String {
    let value = f64::from_bits(bits);
    if value.is_nan() {
        return "(_ NaN 11 53)".to_owned();
    }
    let (sign, exponent, fraction) = (bits >> 63, (bits >> 52) & 0x7FF, bits & 0xF_FFFF_FFFF_FFFF);
    format!("(fp #b{sign} #b{exponent:011b} #b{fraction:052b})")
}

fn name(terms: &Terms, term: Term) -> String {
    match terms.node(term) {
        TermNode::Bool(value) => value.to_string(),
        TermNode::Int(value) => int(value),
        TermNode::Float(bits) => float(*bits),
        TermNode::Var(var) => var_name(*var),
        _ => format!("t{}", Terms::number(term)),
    }
}

fn body(terms: &Terms, node: &TermNode) -> String {
    let n = |term: &Term| name(terms, *term);
    let one = |op: &str, a: &Term| format!("({op} {})", n(a));
    let two = |op: &str, a: &Term, b: &Term| format!("({op} {} {})", n(a), n(b));
    match node {
        TermNode::Bool(_) | TermNode::Int(_) | TermNode::Float(_) | TermNode::Var(_) => String::new(),
        TermNode::Not(a) => one("not", a),
        TermNode::And(a, b) => two("and", a, b),
        TermNode::Or(a, b) => two("or", a, b),
        TermNode::Ite(c, a, b) => format!("(ite {} {} {})", n(c), n(a), n(b)),
        TermNode::IntEq(a, b) => two("=", a, b),
        TermNode::IntLe(a, b) => two("<=", a, b),
        TermNode::Add(a, b) => two("+", a, b),
        TermNode::Mul(a, b) => two("*", a, b),
        TermNode::Neg(a) => one("-", a),
        // SMT-LIB uses Euclidean division; Python rounds down. They agree for positive divisors.
        TermNode::FloorDiv(a, b) => {
            by_sign(terms, *b, two("div", a, b), format!("(div (- {}) (- {}))", n(a), n(b)))
        }
        TermNode::FloorMod(a, b) => {
            by_sign(terms, *b, two("mod", a, b), format!("(- (mod (- {}) (- {})))", n(a), n(b)))
        }
        TermNode::Bits(op, a, b) => {
            let op = match op {
                BitOp::And => "bvand",
                BitOp::Or => "bvor",
                BitOp::Xor => "bvxor",
            };
            format!("(bv2nat ({op} ((_ int2bv 64) {}) ((_ int2bv 64) {})))", n(a), n(b))
        }
        TermNode::FloatOp(op, a, b) => {
            let op = match op {
                FloatOp::Add => "fp.add RNE",
                FloatOp::Sub => "fp.sub RNE",
                FloatOp::Mul => "fp.mul RNE",
                FloatOp::Div => "fp.div RNE",
            };
            two(op, a, b)
        }
        TermNode::FloatNeg(a) => one("fp.neg", a),
        TermNode::FloatAbs(a) => one("fp.abs", a),
        TermNode::FloatSqrt(a) => one("fp.sqrt RNE", a),
        TermNode::FloatRound(mode, a) => one(
            match mode {
                RoundingMode::Even => "fp.roundToIntegral RNE",
                RoundingMode::Down => "fp.roundToIntegral RTN",
                RoundingMode::Up => "fp.roundToIntegral RTP",
                RoundingMode::Zero => "fp.roundToIntegral RTZ",
            },
            a,
        ),
        TermNode::FloatEq(a, b) => two("fp.eq", a, b),
        TermNode::FloatLt(a, b) => two("fp.lt", a, b),
        TermNode::FloatLe(a, b) => two("fp.leq", a, b),
        TermNode::FloatIsNan(a) => one("fp.isNaN", a),
        TermNode::FloatIsInf(a) => one("fp.isInfinite", a),
        TermNode::FloatOfInt(a) => format!("((_ to_fp 11 53) RNE (to_real {}))", n(a)),
        TermNode::IntOfFloat(a) => format!("(to_int (fp.to_real {}))", n(a)),
    }
}

fn by_sign(terms: &Terms, divisor: Term, positive: String, negative: String) -> String {
    if terms.as_int(divisor).is_some_and(Signed::is_negative) { negative } else { positive }
}
