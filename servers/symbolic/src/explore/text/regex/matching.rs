//! Matching by backtracking, character by character.

use super::{CharacterCategory, CharacterClass, Regex, RegexNode};
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::terms::{Term, Terms};

/// The spans of the whole match and of its groups.
pub(crate) type Captures = Vec<Option<(usize, usize)>>;

/// Maximum number of character tests per match.
const MOST: u32 = 200_000;

/// Matches the rest of the pattern after a part has matched.
type Continuation<'r> = &'r dyn Fn(&mut Matcher<'_>, usize, &mut Captures) -> OrTrap<bool>;

pub(super) struct Matcher<'m> {
    machine: &'m mut Machine,
    regex: &'m Regex,
    points: &'m [Term],
    left: u32,
}

impl<'m> Matcher<'m> {
    pub(super) fn new(machine: &'m mut Machine, regex: &'m Regex, points: &'m [Term]) -> Self {
        Self { machine, regex, points, left: MOST }
    }

    /// A match at this position. `is_whole`: it must reach the end; `is_filled`: it must be non-empty.
    pub(super) fn at(&mut self, start: usize, is_whole: bool, is_filled: bool) -> OrTrap<Option<Captures>> {
        let mut spans: Captures = vec![None; self.regex.names.len() + 1];
        let length = self.points.len();
        let accept = move |_: &mut Matcher<'_>, end: usize, spans: &mut Captures| -> OrTrap<bool> {
            let fits = (!is_whole || end == length) && (!is_filled || end > start);
            if fits && let Some(whole) = spans.first_mut() {
                *whole = Some((start, end));
            }
            Ok(fits)
        };
        let regex = self.regex;
        let is_match = self.node(&regex.node, start, &mut spans, &accept)?;
        Ok(is_match.then_some(spans))
    }

    /// The first match from a position. `must_advance`: a match at that position must be non-empty.
    pub(super) fn search(&mut self, from: usize, must_advance: bool) -> OrTrap<Option<Captures>> {
        for start in from..=self.points.len() {
            if let Some(found) = self.at(start, false, must_advance && start == from)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn node(
        &mut self,
        node: &RegexNode,
        at: usize,
        spans: &mut Captures,
        rest: Continuation<'_>,
    ) -> OrTrap<bool> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| Trap::Bound("a pattern that tries two hundred thousand ways".to_owned()))?;
        match node {
            RegexNode::One(class) => match self.points.get(at).copied() {
                Some(point) if self.fits(class, point)? => rest(self, at + 1, spans),
                _ => Ok(false),
            },
            RegexNode::Start if at == 0 => rest(self, at, spans),
            RegexNode::End if at == self.points.len() => rest(self, at, spans),
            RegexNode::Start | RegexNode::End => Ok(false),
            RegexNode::EndOrNewline => {
                let left = self.points.len() - at;
                if left == 0 || (left == 1 && self.is_newline(at)?) {
                    rest(self, at, spans)
                } else {
                    Ok(false)
                }
            }
            RegexNode::LineStart => {
                let is_there = match at.checked_sub(1) {
                    None => true,
                    Some(before) => self.is_newline(before)?,
                };
                if is_there { rest(self, at, spans) } else { Ok(false) }
            }
            RegexNode::LineEnd => {
                let is_there = at == self.points.len() || self.is_newline(at)?;
                if is_there { rest(self, at, spans) } else { Ok(false) }
            }
            RegexNode::WordEdge(wanted) => {
                let before = match at.checked_sub(1) {
                    Some(before) => self.is_word(before)?,
                    None => false,
                };
                let after = self.is_word(at)?;
                if (before != after) == *wanted { rest(self, at, spans) } else { Ok(false) }
            }
            RegexNode::Group(inner, number) => {
                let number = *number;
                let kept = spans.get(number).copied().flatten();
                let close = |matcher: &mut Matcher<'_>, end: usize, spans: &mut Captures| {
                    let before = spans.get(number).copied().flatten();
                    if let Some(span) = spans.get_mut(number) {
                        *span = Some((at, end));
                    }
                    let is_match = rest(matcher, end, spans)?;
                    if !is_match && let Some(span) = spans.get_mut(number) {
                        *span = before;
                    }
                    Ok(is_match)
                };
                let is_match = self.node(inner, at, spans, &close)?;
                if !is_match && let Some(span) = spans.get_mut(number) {
                    *span = kept;
                }
                Ok(is_match)
            }
            RegexNode::All(nodes) => self.all(nodes, at, spans, rest),
            RegexNode::Any(nodes) => {
                for node in nodes {
                    let mut tried = spans.clone();
                    if self.node(node, at, &mut tried, rest)? {
                        *spans = tried;
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            RegexNode::Repeat { node, least, most, is_greedy } => {
                let bounds = (*least, *most, *is_greedy);
                self.repeat(node, bounds, 0, at, spans, rest)
            }
        }
    }

    fn all(
        &mut self,
        nodes: &[RegexNode],
        at: usize,
        spans: &mut Captures,
        rest: Continuation<'_>,
    ) -> OrTrap<bool> {
        let Some((first, others)) = nodes.split_first() else { return rest(self, at, spans) };
        self.node(first, at, spans, &|matcher, next, spans| matcher.all(others, next, spans, rest))
    }

    fn repeat(
        &mut self,
        node: &RegexNode,
        bounds: (usize, Option<usize>, bool),
        done: usize,
        at: usize,
        spans: &mut Captures,
        rest: Continuation<'_>,
    ) -> OrTrap<bool> {
        let (least, most, is_greedy) = bounds;
        if done >= least && !is_greedy && rest(self, at, spans)? {
            return Ok(true);
        }
        if most.is_none_or(|most| done < most) {
            let mut tried = spans.clone();
            let again = |matcher: &mut Matcher<'_>, next: usize, spans: &mut Captures| {
                matcher.repeat(node, bounds, done + 1, next, spans, rest)
            };
            if self.node(node, at, &mut tried, &again)? {
                *spans = tried;
                return Ok(true);
            }
        }
        if done >= least && is_greedy { rest(self, at, spans) } else { Ok(false) }
    }

    fn is_newline(&mut self, at: usize) -> OrTrap<bool> {
        let Some(point) = self.points.get(at).copied() else { return Ok(false) };
        let newline = self.machine.in_ranges(point, &[(10, 10)]);
        self.machine.decide_term(newline)
    }

    fn is_word(&mut self, at: usize) -> OrTrap<bool> {
        let Some(point) = self.points.get(at).copied() else { return Ok(false) };
        let word = self.family(CharacterCategory::Word, point)?;
        self.machine.decide_term(word)
    }

    fn fits(&mut self, class: &CharacterClass, point: Term) -> OrTrap<bool> {
        if self.regex.ignores_case && !self.machine.all_ascii(&[point])? {
            return self.machine.unsupported("a pattern without case on letters beyond ASCII");
        }
        let mut any = self.machine.in_ranges(point, &class.ranges);
        for (family, is_as_such) in &class.families {
            if self.machine.terms.as_bool(any) == Some(true) {
                break;
            }
            let inside = self.family(*family, point)?;
            let inside = if *is_as_such { inside } else { self.machine.terms.not(inside) };
            any = self.machine.terms.or(any, inside);
        }
        let term = if class.is_negated { self.machine.terms.not(any) } else { any };
        self.machine.decide_term(term)
    }

    fn family(&mut self, family: CharacterCategory, point: Term) -> OrTrap<Term> {
        match family {
            CharacterCategory::Space => Ok(self.machine.is_space_term(point)),
            CharacterCategory::Digit if self.machine.all_ascii(&[point])? => {
                Ok(self.machine.in_ranges(point, &[(48, 57)]))
            }
            CharacterCategory::Digit => self.machine.is_digit_term("isdecimal", point),
            CharacterCategory::Word if self.machine.all_ascii(&[point])? => {
                Ok(self.machine.in_ranges(point, &[(48, 57), (65, 90), (95, 95), (97, 122)]))
            }
            CharacterCategory::Word => {
                // Digits and spaces of the tables are known. The categories of other characters are unknown.
                let (digit, space) =
                    (self.machine.is_digit_term("isdecimal", point)?, self.machine.is_space_term(point));
                if self.machine.decide_term(digit)? {
                    return Ok(Terms::TRUE);
                }
                if self.machine.decide_term(space)? {
                    return Ok(Terms::FALSE);
                }
                self.machine.unsupported("\\w on letters beyond ASCII")
            }
        }
    }
}
