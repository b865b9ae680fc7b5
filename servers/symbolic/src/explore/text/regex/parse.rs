//! Parses a pattern. `None` if it is invalid or unsupported.

use std::rc::Rc;

use super::{CharacterCategory, CharacterClass, Regex, RegexNode};

/// Flags of `re`.
pub(super) const IGNORE_CASE: u32 = 2;
const MULTI_LINE: u32 = 8;
const DOT_ALL: u32 = 16;
const UNICODE: u32 = 32;
const ASCII: u32 = 256;

/// Maximum nesting of groups.
const DEEPEST: usize = 50;

const DIGITS: &[(u32, u32)] = &[(48, 57)];
const WORDS: &[(u32, u32)] = &[(48, 57), (65, 90), (95, 95), (97, 122)];
const SPACES: &[(u32, u32)] = &[(9, 13), (32, 32)];

struct PatternParser<'a> {
    text: &'a [char],
    at: usize,
    flags: u32,
    names: Vec<Option<String>>,
    depth: usize,
}

pub(super) fn parse(source: &Rc<Vec<u32>>, flags: u32) -> Option<Regex> {
    if flags & !(IGNORE_CASE | MULTI_LINE | DOT_ALL | UNICODE | ASCII) != 0 {
        return None;
    }
    let text: Vec<char> = source.iter().map(|point| char::from_u32(*point)).collect::<Option<_>>()?;
    let mut reader = PatternParser { text: &text, at: 0, flags, names: Vec::new(), depth: 0 };
    reader.leading_flags()?;
    let node = reader.alternatives()?;
    if reader.at < text.len() {
        return None;
    }
    let ignores_case = reader.flags & IGNORE_CASE != 0;
    Some(Regex { source: source.clone(), node, names: reader.names, ignores_case })
}

impl PatternParser<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.at += 1;
        Some(found)
    }

    fn takes(&mut self, wanted: &str) -> bool {
        let end = self.at + wanted.chars().count();
        let is_there =
            self.text.get(self.at..end).is_some_and(|part| part.iter().copied().eq(wanted.chars()));
        if is_there {
            self.at = end;
        }
        is_there
    }

    /// `(?i)` and similar flags, which are allowed at the beginning only.
    fn leading_flags(&mut self) -> Option<()> {
        let letters = |c: &char| matches!(c, 'i' | 'm' | 's' | 'a' | 'u');
        if !(self.takes("(?") && self.peek().as_ref().is_some_and(letters)) {
            self.at = 0;
            return Some(());
        }
        loop {
            match self.next()? {
                'i' => self.flags |= IGNORE_CASE,
                'm' => self.flags |= MULTI_LINE,
                's' => self.flags |= DOT_ALL,
                'a' => self.flags |= ASCII,
                'u' => {}
                ')' => return Some(()),
                _ => return None,
            }
        }
    }

    fn alternatives(&mut self) -> Option<RegexNode> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let mut all = vec![self.sequence()?];
        while self.takes("|") {
            all.push(self.sequence()?);
        }
        self.depth -= 1;
        if all.len() == 1 { all.pop() } else { Some(RegexNode::Any(all)) }
    }

    fn sequence(&mut self) -> Option<RegexNode> {
        let mut nodes = Vec::new();
        while !matches!(self.peek(), None | Some('|' | ')')) {
            let node = self.atom()?;
            nodes.push(self.repeated(node)?);
        }
        Some(RegexNode::All(nodes))
    }

    fn repeated(&mut self, node: RegexNode) -> Option<RegexNode> {
        let (least, most) = match self.peek() {
            Some('{') => self.counts()?,
            _ if self.takes("*") => (0, None),
            _ if self.takes("+") => (1, None),
            _ if self.takes("?") => (0, Some(1)),
            _ => return Some(node),
        };
        let is_greedy = !self.takes("?");
        // Possessive quantifiers, repeated quantifiers and repetitions of empty matches are unsupported.
        let is_odd = matches!(self.peek(), Some('+' | '*' | '{' | '?'));
        if is_odd || (node.can_be_empty() && most != Some(1)) || most.is_some_and(|most| most < least) {
            return None;
        }
        Some(RegexNode::Repeat { node: Box::new(node), least, most, is_greedy })
    }

    /// Parses `{2}`, `{2,}`, `{,3}`, `{2,3}`.
    fn counts(&mut self) -> Option<(usize, Option<usize>)> {
        let rest = self.text.get(self.at + 1..)?;
        let length = rest.iter().position(|c| *c == '}')?;
        let inner: String = rest.get(..length)?.iter().collect();
        let number = |text: &str| text.parse::<usize>().ok().filter(|count| *count <= 1000);
        let counts = match inner.split_once(',') {
            None => (number(&inner)?, Some(number(&inner)?)),
            Some(("", "")) => return None,
            Some((least, "")) => (number(least)?, None),
            Some(("", most)) => (0, Some(number(most)?)),
            Some((least, most)) => (number(least)?, Some(number(most)?)),
        };
        self.at += length + 2;
        Some(counts)
    }

    fn atom(&mut self) -> Option<RegexNode> {
        let found = self.next()?;
        Some(match found {
            '.' => RegexNode::One(CharacterClass {
                ranges: if self.flags & DOT_ALL != 0 { Vec::new() } else { vec![(10, 10)] },
                is_negated: true,
                ..CharacterClass::default()
            }),
            '^' if self.flags & MULTI_LINE != 0 => RegexNode::LineStart,
            '^' => RegexNode::Start,
            '$' if self.flags & MULTI_LINE != 0 => RegexNode::LineEnd,
            '$' => RegexNode::EndOrNewline,
            '(' => return self.group(),
            '[' => RegexNode::One(self.class()?),
            '\\' => return self.escape(),
            '*' | '+' | '?' | '{' | ')' => return None,
            found => RegexNode::One(self.literal(found)),
        })
    }

    fn literal(&self, found: char) -> CharacterClass {
        let mut class =
            CharacterClass { ranges: vec![(found.into(), found.into())], ..CharacterClass::default() };
        self.fold(&mut class);
        class
    }

    /// Both cases of ASCII letters. Other characters that fold to them are excluded when matching.
    fn fold(&self, class: &mut CharacterClass) {
        if self.flags & IGNORE_CASE == 0 {
            return;
        }
        let mut more = Vec::new();
        for (low, high) in &class.ranges {
            for (from, to, by) in [(65u32, 90u32, 32i64), (97, 122, -32)] {
                let (start, end) = ((*low).max(from), (*high).min(to));
                if start <= end {
                    let moved = |point: u32| u32::try_from(i64::from(point) + by).unwrap_or(point);
                    more.push((moved(start), moved(end)));
                }
            }
        }
        class.ranges.extend(more);
    }

    fn group(&mut self) -> Option<RegexNode> {
        let number = if self.takes("?:") {
            None
        } else if self.takes("?P<") {
            let mut name = String::new();
            loop {
                match self.next()? {
                    '>' => break,
                    c if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
                    _ => return None,
                }
            }
            if self.names.iter().flatten().any(|known| *known == name) || name.is_empty() {
                return None;
            }
            self.names.push(Some(name));
            Some(self.names.len())
        } else if self.peek() == Some('?') {
            return None;
        } else {
            self.names.push(None);
            Some(self.names.len())
        };
        let inner = self.alternatives()?;
        if !self.takes(")") {
            return None;
        }
        Some(match number {
            Some(number) => RegexNode::Group(Box::new(inner), number),
            None => inner,
        })
    }

    fn family(&self, letter: char) -> Option<CharacterClass> {
        let (family, ranges) = match letter.to_ascii_lowercase() {
            'd' => (CharacterCategory::Digit, DIGITS),
            'w' => (CharacterCategory::Word, WORDS),
            's' => (CharacterCategory::Space, SPACES),
            _ => return None,
        };
        let is_negated = letter.is_ascii_uppercase();
        Some(if self.flags & ASCII != 0 {
            CharacterClass { ranges: ranges.to_vec(), is_negated, ..CharacterClass::default() }
        } else {
            CharacterClass { families: vec![(family, !is_negated)], ..CharacterClass::default() }
        })
    }

    fn escape(&mut self) -> Option<RegexNode> {
        let found = self.next()?;
        Some(match found {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => RegexNode::One(self.family(found)?),
            'A' => RegexNode::Start,
            'Z' => RegexNode::End,
            'b' => RegexNode::WordEdge(true),
            'B' => RegexNode::WordEdge(false),
            found => RegexNode::One(self.literal(escaped(found)?)),
        })
    }

    fn class(&mut self) -> Option<CharacterClass> {
        let mut class = CharacterClass { is_negated: self.takes("^"), ..CharacterClass::default() };
        let mut is_first = true;
        loop {
            let found = self.next()?;
            if found == ']' && !is_first {
                break;
            }
            is_first = false;
            // Python reserves this syntax for set operations and warns about it.
            if found == '[' || (matches!(found, '&' | '~' | '|' | '-') && self.peek() == Some(found)) {
                return None;
            }
            let low = if found == '\\' {
                let letter = self.next()?;
                if let Some(family) = self.family(letter) {
                    if family.is_negated {
                        return None;
                    }
                    class.ranges.extend(family.ranges);
                    class.families.extend(family.families);
                    continue;
                }
                if letter == 'b' { '\u{8}' } else { escaped(letter)? }
            } else {
                found
            };
            let mut high = low;
            if self.peek() == Some('-') && !matches!(self.text.get(self.at + 1), None | Some(']')) {
                self.at += 1;
                high = match self.next()? {
                    '\\' => escaped(self.next()?)?,
                    '[' => return None,
                    high => high,
                };
                if high < low {
                    return None;
                }
            }
            class.ranges.push((low.into(), high.into()));
        }
        self.fold(&mut class);
        Some(class)
    }
}

/// The character of an escape.
fn escaped(letter: char) -> Option<char> {
    Some(match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'f' => '\u{c}',
        'v' => '\u{b}',
        'a' => '\u{7}',
        letter if letter.is_ascii_alphanumeric() => return None,
        letter => letter,
    })
}
