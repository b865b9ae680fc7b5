//! The nesting depth of code. The recursive parser must not see code that is nested too deeply.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use super::ValidationError;

/// Maximum number of nested tokens. CPython itself stops at 200 brackets and 100 levels of indentation.
const MOST: usize = 1_500;
const MOST_BRACKETS: usize = 200;
const MOST_INDENTS: usize = 100;

/// Refuses code that may be nested too deeply: a chain of operators, brackets or blocks.
pub(super) fn check(code: &str) -> Result<(), ValidationError> {
    let mut lexer = lexer::lex(code, Mode::Module);
    // The number of tokens since the last comma, for every open bracket.
    let mut open: Vec<usize> = vec![0];
    let mut indents: usize = 0;
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => return Ok(()),
            TokenKind::Newline => open = vec![0],
            TokenKind::Semi | TokenKind::Comma => {
                if let Some(last) = open.last_mut() {
                    *last = 0;
                }
            }
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => open.push(0),
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace if open.len() > 1 => {
                open.pop();
                if let Some(last) = open.last_mut() {
                    *last += 1;
                }
            }
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            TokenKind::Comment | TokenKind::NonLogicalNewline => continue,
            _ => {
                if let Some(last) = open.last_mut() {
                    *last += 1;
                }
            }
        }
        if open.iter().sum::<usize>() > MOST || open.len() > MOST_BRACKETS || indents > MOST_INDENTS {
            return Err(ValidationError::TooDeep);
        }
    }
}
