//! Terms in Python's words, for path conditions.

use super::arena::{BitOp, FloatOp, Node, Rounding, Term, Terms};
use crate::values::text;

/// Characters after which a condition is cut off.
const LONGEST: usize = 400;

/// The term as a Python expression, shortened when it is long.
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
        Node::Bool(true) => out.push_str("True"),
        Node::Bool(false) => out.push_str("False"),
        Node::Int(value) => out.push_str(&value.to_string()),
        Node::Float(bits) => out.push_str(&text::float_repr(f64::from_bits(*bits))),
        Node::Var(var) => out.push_str(terms.declared(*var).map_or("?", |found| &found.name)),
        Node::Not(inner) => match terms.node(*inner) {
            Node::IntLe(a, b) => infix(terms, *a, " > ", *b, out),
            Node::IntEq(a, b) => infix(terms, *a, " != ", *b, out),
            Node::FloatEq(a, b) => infix(terms, *a, " != ", *b, out),
            _ => prefix(terms, "not ", *inner, out),
        },
        Node::And(a, b) => infix(terms, *a, " and ", *b, out),
        Node::Or(a, b) => infix(terms, *a, " or ", *b, out),
        Node::Ite(c, a, b) => {
            out.push('(');
            write(terms, *a, out);
            out.push_str(" if ");
            write(terms, *c, out);
            out.push_str(" else ");
            write(terms, *b, out);
            out.push(')');
        }
        Node::IntEq(a, b) | Node::FloatEq(a, b) => infix(terms, *a, " == ", *b, out),
        Node::IntLe(a, b) | Node::FloatLe(a, b) => infix(terms, *a, " <= ", *b, out),
        Node::FloatLt(a, b) => infix(terms, *a, " < ", *b, out),
        Node::Add(a, b) => match terms.node(*b) {
            Node::Neg(inner) => infix(terms, *a, " - ", *inner, out),
            _ => infix(terms, *a, " + ", *b, out),
        },
        Node::Mul(a, b) => infix(terms, *a, " * ", *b, out),
        Node::Neg(a) | Node::FloatNeg(a) => prefix(terms, "-", *a, out),
        Node::FloorDiv(a, b) => infix(terms, *a, " // ", *b, out),
        Node::FloorMod(a, b) => infix(terms, *a, " % ", *b, out),
        Node::Bits(BitOp::And, a, b) => infix(terms, *a, " & ", *b, out),
        Node::Bits(BitOp::Or, a, b) => infix(terms, *a, " | ", *b, out),
        Node::Bits(BitOp::Xor, a, b) => infix(terms, *a, " ^ ", *b, out),
        Node::FloatOp(FloatOp::Add, a, b) => infix(terms, *a, " + ", *b, out),
        Node::FloatOp(FloatOp::Sub, a, b) => infix(terms, *a, " - ", *b, out),
        Node::FloatOp(FloatOp::Mul, a, b) => infix(terms, *a, " * ", *b, out),
        Node::FloatOp(FloatOp::Div, a, b) => infix(terms, *a, " / ", *b, out),
        Node::FloatAbs(a) => call(terms, "abs", *a, out),
        Node::FloatSqrt(a) => call(terms, "math.sqrt", *a, out),
        Node::FloatRound(mode, a) => {
            let name = match mode {
                Rounding::Even => "round",
                Rounding::Down => "math.floor",
                Rounding::Up => "math.ceil",
                Rounding::Zero => "math.trunc",
            };
            call(terms, name, *a, out);
        }
        Node::FloatIsNan(a) => call(terms, "math.isnan", *a, out),
        Node::FloatIsInf(a) => call(terms, "math.isinf", *a, out),
        Node::FloatOfInt(a) => call(terms, "float", *a, out),
        Node::IntOfFloat(a) => call(terms, "int", *a, out),
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
