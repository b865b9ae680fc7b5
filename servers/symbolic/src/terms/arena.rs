//! The arena of terms. Equal terms have the same number.

use std::collections::HashMap;

use num_bigint::BigInt;

use super::Interval;

/// A term, by its index in [`Terms`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Term(u32);

/// A variable, by its index in [`Terms`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Var(pub(crate) u32);

/// The SMT sort of a term.
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
pub(crate) enum RoundingMode {
    Even,
    Down,
    Up,
    Zero,
}

/// The operator and operands of a term.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum TermNode {
    Bool(bool),
    Int(BigInt),
    /// Stored as bits, to distinguish `-0.0` and every `nan`.
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
    /// Rounds towards minus infinity, as Python does. The divisor is not zero on any path with this term.
    FloorDiv(Term, Term),
    FloorMod(Term, Term),
    /// On integers from 0 to 2^63 - 1.
    Bits(BitOp, Term, Term),
    FloatOp(FloatOp, Term, Term),
    FloatNeg(Term),
    FloatAbs(Term),
    FloatSqrt(Term),
    FloatRound(RoundingMode, Term),
    FloatEq(Term, Term),
    FloatLt(Term, Term),
    FloatLe(Term, Term),
    FloatIsNan(Term),
    FloatIsInf(Term),
    /// The nearest double of an integer within range.
    FloatOfInt(Term),
    /// The integer value of an integral finite double.
    IntOfFloat(Term),
}

/// A variable and its initial bounds.
#[derive(Clone, Debug)]
pub(crate) struct VarDeclaration {
    pub(crate) name: String,
    pub(crate) sort: Sort,
    pub(crate) interval: Interval,
}

/// All terms of one analysis.
#[derive(Default, Debug)]
pub(crate) struct Terms {
    nodes: Vec<(TermNode, Sort, Interval)>,
    index: HashMap<TermNode, Term>,
    vars: Vec<VarDeclaration>,
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

    pub(crate) fn node(&self, term: Term) -> &TermNode {
        self.nodes.get(term.0 as usize).map_or(&TermNode::Bool(false), |(node, _, _)| node)
    }

    /// The existing term of this shape.
    pub(crate) fn find(&self, node: &TermNode) -> Option<Term> {
        self.index.get(node).copied()
    }

    pub(crate) fn sort(&self, term: Term) -> Sort {
        self.nodes.get(term.0 as usize).map_or(Sort::Bool, |(_, sort, _)| *sort)
    }

    pub(crate) fn interval(&self, term: Term) -> &Interval {
        self.nodes.get(term.0 as usize).map_or(&Interval::ALL, |(_, _, interval)| interval)
    }

    pub(crate) fn declared(&self, var: Var) -> Option<&VarDeclaration> {
        self.vars.get(var.0 as usize)
    }

    pub(crate) fn number(term: Term) -> u32 {
        term.0
    }

    /// Adds a node that cannot be folded.
    pub(super) fn keep(&mut self, node: TermNode, sort: Sort) -> Term {
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
        self.keep(TermNode::Bool(value), Sort::Bool)
    }

    pub(crate) fn int(&mut self, value: impl Into<BigInt>) -> Term {
        self.keep(TermNode::Int(value.into()), Sort::Int)
    }

    pub(crate) fn float(&mut self, value: f64) -> Term {
        let value = if value.is_nan() { f64::NAN } else { value };
        self.keep(TermNode::Float(value.to_bits()), Sort::Float)
    }

    /// The variable of this name and sort. A new one is created if necessary.
    pub(crate) fn var(&mut self, name: &str, sort: Sort, interval: Interval) -> Term {
        if let Some(term) = self.find_var(name, sort) {
            return term;
        }
        let var = Var(u32::try_from(self.vars.len()).unwrap_or(u32::MAX));
        self.vars.push(VarDeclaration { name: name.to_owned(), sort, interval });
        let term = self.keep(TermNode::Var(var), sort);
        self.names.insert((name.to_owned(), sort), term);
        term
    }

    /// The existing variable of this name and sort.
    pub(crate) fn find_var(&self, name: &str, sort: Sort) -> Option<Term> {
        self.names.get(&(name.to_owned(), sort)).copied()
    }

    pub(crate) fn as_bool(&self, term: Term) -> Option<bool> {
        if let TermNode::Bool(value) = self.node(term) { Some(*value) } else { None }
    }

    pub(crate) fn as_int(&self, term: Term) -> Option<&BigInt> {
        if let TermNode::Int(value) = self.node(term) { Some(value) } else { None }
    }

    pub(crate) fn as_float(&self, term: Term) -> Option<f64> {
        if let TermNode::Float(bits) = self.node(term) { Some(f64::from_bits(*bits)) } else { None }
    }

    /// The direct operands of a term.
    pub(crate) fn children(&self, term: Term) -> Vec<Term> {
        match self.node(term) {
            TermNode::Bool(_) | TermNode::Int(_) | TermNode::Float(_) | TermNode::Var(_) => Vec::new(),
            TermNode::Not(a)
            | TermNode::Neg(a)
            | TermNode::FloatNeg(a)
            | TermNode::FloatAbs(a)
            | TermNode::FloatSqrt(a)
            | TermNode::FloatRound(_, a)
            | TermNode::FloatIsNan(a)
            | TermNode::FloatIsInf(a)
            | TermNode::FloatOfInt(a)
            | TermNode::IntOfFloat(a) => vec![*a],
            TermNode::And(a, b)
            | TermNode::Or(a, b)
            | TermNode::IntEq(a, b)
            | TermNode::IntLe(a, b)
            | TermNode::Add(a, b)
            | TermNode::Mul(a, b)
            | TermNode::FloorDiv(a, b)
            | TermNode::FloorMod(a, b)
            | TermNode::Bits(_, a, b)
            | TermNode::FloatOp(_, a, b)
            | TermNode::FloatEq(a, b)
            | TermNode::FloatLt(a, b)
            | TermNode::FloatLe(a, b) => vec![*a, *b],
            TermNode::Ite(a, b, c) => vec![*a, *b, *c],
        }
    }
}
