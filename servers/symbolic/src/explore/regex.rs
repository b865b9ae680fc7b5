//! `re`: patterns, read once and matched by backtracking, as CPython does it.
//!
//! A pattern has to be known. Text need not be: a test of an unknown character splits the state, so that every way of
//! matching has its path. What is out of reach (look-around, references to groups, letters beyond ASCII) says so.

mod calls;
mod matching;
mod parse;

use std::rc::Rc;

pub(super) use matching::Captures;

/// A pattern.
#[derive(Debug)]
pub(crate) struct Regex {
    pub(crate) source: Rc<Vec<u32>>,
    pub(super) node: Node,
    /// Names of the groups, the first being number one.
    pub(crate) names: Vec<Option<String>>,
    pub(super) ignores_case: bool,
}

/// What to match.
#[derive(Clone, Debug)]
pub(super) enum Node {
    One(Class),
    /// Before the first character.
    Start,
    /// After the last character.
    End,
    /// There, or before a newline at the end.
    EndOrNewline,
    LineStart,
    LineEnd,
    /// Between a letter and something else, or anywhere else.
    WordEdge(bool),
    Group(Box<Node>, usize),
    All(Vec<Node>),
    Any(Vec<Node>),
    Repeat {
        node: Box<Node>,
        least: usize,
        most: Option<usize>,
        is_greedy: bool,
    },
}

/// Which characters fit.
#[derive(Clone, Default, Debug)]
pub(super) struct Class {
    pub(super) ranges: Vec<(u32, u32)>,
    /// Digits, spaces and letters of Unicode, each as such or the opposite.
    pub(super) families: Vec<(Family, bool)>,
    pub(super) is_negated: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    Digit,
    Space,
    Word,
}

/// A place where a pattern matched.
#[derive(Debug)]
pub(crate) struct Match {
    pub(super) regex: Rc<Regex>,
    pub(super) points: Rc<Vec<crate::terms::Term>>,
    /// The whole, then the groups.
    pub(super) spans: Captures,
}

impl Node {
    /// Whether it can match nothing at all.
    fn can_be_empty(&self) -> bool {
        match self {
            Self::One(_) => false,
            Self::Group(node, _) => node.can_be_empty(),
            Self::All(nodes) => nodes.iter().all(Self::can_be_empty),
            Self::Any(nodes) => nodes.iter().any(Self::can_be_empty),
            Self::Repeat { node, least, .. } => *least == 0 || node.can_be_empty(),
            _ => true,
        }
    }
}
