//! `re`: patterns are parsed once and matched by backtracking, like CPython.
//!
//! A pattern must be known. Text may be unknown: a test of an unknown character forks the state, so every way
//! of matching has its own path. Look-around, group references and letters beyond ASCII are unsupported.

mod calls;
mod matching;
mod parse;

use std::rc::Rc;

pub(crate) use matching::Captures;

#[derive(Debug)]
pub(crate) struct Regex {
    pub(crate) source: Rc<Vec<u32>>,
    pub(crate) node: RegexNode,
    /// The names of the groups, starting with group one.
    pub(crate) names: Vec<Option<String>>,
    pub(crate) ignores_case: bool,
}

/// A node of a pattern's syntax tree.
#[derive(Clone, Debug)]
pub(crate) enum RegexNode {
    One(CharacterClass),
    /// Before the first character.
    Start,
    /// After the last character.
    End,
    /// At the end, or before a newline at the end.
    EndOrNewline,
    LineStart,
    LineEnd,
    /// At a word boundary (true), or anywhere else (false).
    WordEdge(bool),
    Group(Box<RegexNode>, usize),
    All(Vec<RegexNode>),
    Any(Vec<RegexNode>),
    Repeat {
        node: Box<RegexNode>,
        least: usize,
        most: Option<usize>,
        is_greedy: bool,
    },
}

/// A set of characters, such as `[a-z\d]`.
#[derive(Clone, Default, Debug)]
pub(crate) struct CharacterClass {
    pub(crate) ranges: Vec<(u32, u32)>,
    /// Unicode digits, spaces and letters, each included or excluded.
    pub(crate) families: Vec<(CharacterCategory, bool)>,
    pub(crate) is_negated: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CharacterCategory {
    Digit,
    Space,
    Word,
}

/// A match object.
#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) regex: Rc<Regex>,
    pub(crate) points: Rc<Vec<crate::terms::Term>>,
    /// The whole match, then the groups.
    pub(crate) spans: Captures,
}

impl RegexNode {
    /// Whether the node can match an empty text.
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
