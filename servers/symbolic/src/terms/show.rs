//! Terms as Python expressions, for path conditions.

use super::arena::{BitOp, FloatOp, RoundingMode, Term, TermNode, Terms};
use crate::values::text;

/// Maximum number of characters of a condition.
const LONGEST: usize = 400;

/// The term as a Python expression, shortened if it is long.
pub(crate) fn show(terms: &Terms, term: Term) -> String {
    let mut out = String::new();
    write(terms, term, &mut out);
    if out.chars().count() > LONGEST {
        out = out.chars().take(LONGEST).chain("…".chars()).collect();
    }
    out
}

fn write(terms: &Terms, term: Term, out: &mut String) {
    if out.len() > LONGEST {
        return;
    }
    match terms.node(term) {
        TermNode::Bool(true) => out.push_str("True"),
        TermNode::Bool(false) => out.push_str("False"),
        TermNode::Int(value) => out.push_str(&value.to_string()),
        TermNode::Float(bits) => out.push_str(&text::float_repr(f64::from_bits(*bits))),
        TermNode::Var(var) => out.push_str(terms.declared(*var).map_or("?", |found| &found.name)),
        TermNode::Not(inner) => match terms.node(*inner) {
            TermNode::IntLe(a, b) => infix(terms, *a, " > ", *b, out),
            TermNode::IntEq(a, b) => infix(terms, *a, " != ", *b, out),
            TermNode::FloatEq(a, b) => infix(terms, *a, " != ", *b, out),
            _ => prefix(terms, "not ", *inner, out),
        },
        TermNode::And(a, b) => infix(terms, *a, " and ", *b, out),
        TermNode::Or(a, b) => infix(terms, *a, " or ", *b, out),
        TermNode::Ite(c, a, b) => {
            out.push('(');
            write(terms, *a, out);
            out.push_str(" if ");
            write(terms, *c, out);
            out.push_str(" else ");
            write(terms, *b, out);
            out.push(')');
        }
        TermNode::IntEq(a, b) | TermNode::FloatEq(a, b) => infix(terms, *a, " == ", *b, out),
        TermNode::IntLe(a, b) | TermNode::FloatLe(a, b) => infix(terms, *a, " <= ", *b, out),
        TermNode::FloatLt(a, b) => infix(terms, *a, " < ", *b, out),
        TermNode::Add(a, b) => match terms.node(*b) {
            TermNode::Neg(inner) => infix(terms, *a, " - ", *inner, out),
            _ => infix(terms, *a, " + ", *b, out),
        },
        TermNode::Mul(a, b) => infix(terms, *a, " * ", *b, out),
        TermNode::Neg(a) | TermNode::FloatNeg(a) => prefix(terms, "-", *a, out),
        TermNode::FloorDiv(a, b) => infix(terms, *a, " // ", *b, out),
        TermNode::FloorMod(a, b) => infix(terms, *a, " % ", *b, out),
        TermNode::Bits(BitOp::And, a, b) => infix(terms, *a, " & ", *b, out),
        TermNode::Bits(BitOp::Or, a, b) => infix(terms, *a, " | ", *b, out),
        TermNode::Bits(BitOp::Xor, a, b) => infix(terms, *a, " ^ ", *b, out),
        TermNode::FloatOp(FloatOp::Add, a, b) => infix(terms, *a, " + ", *b, out),
        TermNode::FloatOp(FloatOp::Sub, a, b) => infix(terms, *a, " - ", *b, out),
        TermNode::FloatOp(FloatOp::Mul, a, b) => infix(terms, *a, " * ", *b, out),
        TermNode::FloatOp(FloatOp::Div, a, b) => infix(terms, *a, " / ", *b, out),
        TermNode::FloatAbs(a) => call(terms, "abs", *a, out),
        TermNode::FloatSqrt(a) => call(terms, "math.sqrt", *a, out),
        TermNode::FloatRound(mode, a) => {
            let name = match mode {
                RoundingMode::Even => "round",
                RoundingMode::Down => "math.floor",
                RoundingMode::Up => "math.ceil",
                RoundingMode::Zero => "math.trunc",
            };
            call(terms, name, *a, out);
        }
        TermNode::FloatIsNan(a) => call(terms, "math.isnan", *a, out),
        TermNode::FloatIsInf(a) => call(terms, "math.isinf", *a, out),
        TermNode::FloatOfInt(a) => call(terms, "float", *a, out),
        TermNode::IntOfFloat(a) => call(terms, "int", *a, out),
    }
}

fn is_leaf(terms: &Terms, term: Term) -> bool {
    terms.children(term).is_empty()
}

fn part(terms: &Terms, term: Term, out: &mut String) {
    if is_leaf(terms, term) {
        write(terms, term, out);
    } else {
        out.push('(');
        write(terms, term, out);
        out.push(')');
    }
}

fn infix(terms: &Terms, a: Term, between: &str, b: Term, out: &mut String) {
    part(terms, a, out);
    out.push_str(between);
    part(terms, b, out);
}

fn prefix(terms: &Terms, before: &str, a: Term, out: &mut String) {
    out.push_str(before);
    part(terms, a, out);
}

fn call(terms: &Terms, name: &str, a: Term, out: &mut String) {
    out.push_str(name);
    out.push('(');
    write(terms, a, out);
    out.push(')');
}
