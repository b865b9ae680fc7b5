//! From words to a tree. OR binds loosest; what stands side by side is joined by AND.

use super::Filter;
use super::lex::Token;
use super::operators;
use super::operators::FilterCondition;
use crate::language::phrase::DateContext;

/// How deep parentheses and NOTs may be nested.
const DEEPEST: usize = 50;

pub(super) fn parse(tokens: &[Token], context: &DateContext) -> Option<Filter> {
    if tokens.is_empty() {
        return Some(Filter::All);
    }
    let mut parser = Parser { rest: tokens, context, depth: 0 };
    let filter = parser.either()?;
    parser.rest.is_empty().then_some(filter)
}

struct Parser<'a> {
    rest: &'a [Token],
    context: &'a DateContext,
    depth: usize,
}

impl Parser<'_> {
    fn either(&mut self) -> Option<Filter> {
        let mut any = vec![self.both()?];
        while self.next_is(&Token::Or) {
            any.push(self.both()?);
        }
        Some(alone(any, Filter::Or))
    }

    fn both(&mut self) -> Option<Filter> {
        let mut all = vec![self.single()?];
        while self.next_is(&Token::And) || !matches!(self.rest.first(), None | Some(Token::Or | Token::Close))
        {
            all.push(self.single()?);
        }
        Some(alone(all, Filter::And))
    }

    fn single(&mut self) -> Option<Filter> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        match first {
            Token::Not => self.deeper(|parser| Some(Filter::Not(Box::new(parser.single()?)))),
            Token::Open => self.deeper(|parser| {
                let inner = parser.either()?;
                parser.next_is(&Token::Close).then_some(inner)
            }),
            Token::Term(name, value) => operators::read(name, value, self.context).map(Filter::Test),
            Token::Text(text) => Some(Filter::Test(FilterCondition::Name(text.to_lowercase()))),
            Token::Close | Token::And | Token::Or => None,
        }
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Option<Filter>) -> Option<Filter> {
        self.depth += 1;
        let inner = if self.depth > DEEPEST { None } else { read(self) };
        self.depth -= 1;
        inner
    }

    fn next_is(&mut self, token: &Token) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if first == token => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }
}

/// One filter as it is; several joined.
fn alone(mut filters: Vec<Filter>, join: impl FnOnce(Vec<Filter>) -> Filter) -> Filter {
    match (filters.len(), filters.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            filters.extend(last);
            join(filters)
        }
    }
}
