//! Where terms live. Two equal terms are the same number.

use std::collections::HashMap;

use num_bigint::BigInt;

use super::Interval;

/// A term, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Term(u32);

/// A variable, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Var(pub(crate) u32);

/// What kind of thing a term stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Sort {
    Bool,
    Int,
    Float,
}

/// Bitwise operations on integers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum BitOp {
    And,
    Or,
    Xor,
}

/// Arithmetic of IEEE doubles, rounding to nearest even.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
}

/// Rounding a float to an integral float.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Rounding {
    Even,
    Down,
    Up,
    Zero,
}

/// The shape of a term.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Node {
    Bool(bool),
    Int(BigInt),
    /// By its bits, so that `-0.0` and every `nan` keep their own.
    Float(u64),
    Var(Var),
    Not(Term),
    And(Term, Term),
    Or(Term, Term),
    Ite(Term, Term, Term),
    IntEq(Term, Term),
    IntLe(Term, Term),
    Add(Term, Term),
    Mul(Term, Term),
    Neg(Term),
    /// Rounds towards minus infinity, as Python does. The divisor is not zero on any path that has this term.
    FloorDiv(Term, Term),
    FloorMod(Term, Term),
    /// On integers within 0 to 2^63 - 1.
    Bits(BitOp, Term, Term),
    FloatOp(FloatOp, Term, Term),
    FloatNeg(Term),
    FloatAbs(Term),
    FloatSqrt(Term),
    FloatRound(Rounding, Term),
    FloatEq(Term, Term),
    FloatLt(Term, Term),
    FloatLe(Term, Term),
    FloatIsNan(Term),
    FloatIsInf(Term),
    /// Nearest double of an integer within range.
    FloatOfInt(Term),
    /// The integer of an integral finite double.
    IntOfFloat(Term),
}

/// A variable and what is known of it from the start.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) sort: Sort,
    pub(crate) interval: Interval,
}

/// All terms of one analysis.
#[derive(Default, Debug)]
pub(crate) struct Terms {
    nodes: Vec<(Node, Sort, Interval)>,
    index: HashMap<Node, Term>,
    vars: Vec<Declared>,
    names: HashMap<(String, Sort), Term>,
}

impl Terms {
    pub(crate) fn new() -> Self {
        let mut terms = Self::default();
        terms.bool(false);
        terms.bool(true);
        terms
    }

    pub(crate) const FALSE: Term = Term(0);
    pub(crate) const TRUE: Term = Term(1);

    pub(crate) fn node(&self, term: Term) -> &Node {
        self.nodes.get(term.0 as usize).map_or(&Node::Bool(false), |(node, _, _)| node)
    }

    /// The term of this shape, when there is one.
    pub(crate) fn find(&self, node: &Node) -> Option<Term> {
        self.index.get(node).copied()
    }

    pub(crate) fn sort(&self, term: Term) -> Sort {
        self.nodes.get(term.0 as usize).map_or(Sort::Bool, |(_, sort, _)| *sort)
    }

    pub(crate) fn interval(&self, term: Term) -> &Interval {
        self.nodes.get(term.0 as usize).map_or(&Interval::ALL, |(_, _, interval)| interval)
    }

    pub(crate) fn declared(&self, var: Var) -> Option<&Declared> {
        self.vars.get(var.0 as usize)
    }

    pub(crate) fn number(term: Term) -> u32 {
        term.0
    }

    /// Keeps a node that nothing could be folded of.
    pub(super) fn keep(&mut self, node: Node, sort: Sort) -> Term {
        if let Some(term) = self.index.get(&node) {
            return *term;
        }
        let interval = if sort == Sort::Int { self.interval_of(&node) } else { Interval::ALL };
        let term = Term(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push((node.clone(), sort, interval));
        self.index.insert(node, term);
        term
    }

    pub(crate) fn bool(&mut self, value: bool) -> Term {
        self.keep(Node::Bool(value), Sort::Bool)
    }

    pub(crate) fn int(&mut self, value: impl Into<BigInt>) -> Term {
        self.keep(Node::Int(value.into()), Sort::Int)
    }

    pub(crate) fn float(&mut self, value: f64) -> Term {
        let value = if value.is_nan() { f64::NAN } else { value };
        self.keep(Node::Float(value.to_bits()), Sort::Float)
    }

    /// The variable of this name and sort, made when it is new.
    pub(crate) fn var(&mut self, name: &str, sort: Sort, interval: Interval) -> Term {
        if let Some(term) = self.find_var(name, sort) {
            return term;
        }
        let var = Var(u32::try_from(self.vars.len()).unwrap_or(u32::MAX));
        self.vars.push(Declared { name: name.to_owned(), sort, interval });
        let term = self.keep(Node::Var(var), sort);
        self.names.insert((name.to_owned(), sort), term);
        term
    }

    /// The variable of this name and sort, when there is one.
    pub(crate) fn find_var(&self, name: &str, sort: Sort) -> Option<Term> {
        self.names.get(&(name.to_owned(), sort)).copied()
    }

    pub(crate) fn as_bool(&self, term: Term) -> Option<bool> {
        if let Node::Bool(value) = self.node(term) { Some(*value) } else { None }
    }

    pub(crate) fn as_int(&self, term: Term) -> Option<&BigInt> {
        if let Node::Int(value) = self.node(term) { Some(value) } else { None }
    }

    pub(crate) fn as_float(&self, term: Term) -> Option<f64> {
        if let Node::Float(bits) = self.node(term) { Some(f64::from_bits(*bits)) } else { None }
    }

    /// The terms right below one.
    pub(crate) fn children(&self, term: Term) -> Vec<Term> {
        match self.node(term) {
            Node::Bool(_) | Node::Int(_) | Node::Float(_) | Node::Var(_) => Vec::new(),
            Node::Not(a)
            | Node::Neg(a)
            | Node::FloatNeg(a)
            | Node::FloatAbs(a)
            | Node::FloatSqrt(a)
            | Node::FloatRound(_, a)
            | Node::FloatIsNan(a)
            | Node::FloatIsInf(a)
            | Node::FloatOfInt(a)
            | Node::IntOfFloat(a) => vec![*a],
            Node::And(a, b)
            | Node::Or(a, b)
            | Node::IntEq(a, b)
            | Node::IntLe(a, b)
            | Node::Add(a, b)
            | Node::Mul(a, b)
            | Node::FloorDiv(a, b)
            | Node::FloorMod(a, b)
            | Node::Bits(_, a, b)
            | Node::FloatOp(_, a, b)
            | Node::FloatEq(a, b)
            | Node::FloatLt(a, b)
            | Node::FloatLe(a, b) => vec![*a, *b],
            Node::Ite(a, b, c) => vec![*a, *b, *c],
        }
    }
}
