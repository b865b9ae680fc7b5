//! `pre:`, `post:` and `raises:` in docstrings.

use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::{Contract, clause};
use crate::Program;
use crate::analyse::report::{ContractSource, UnsupportedConstruct};

/// The contract keyword at the start of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Pre,
    Post,
    Raises,
}

pub(super) fn read(
    program: &Program,
    function: &StmtFunctionDef,
    contract: &mut Contract,
) -> Result<(), UnsupportedConstruct> {
    let Some(Stmt::Expr(first)) = function.body.first() else { return Ok(()) };
    let Expr::StringLiteral(text) = &*first.value else { return Ok(()) };
    let range = first.value.range();
    let source = program.code().get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
    let first_line = program.line_at(range.start().to_u32());
    // Lines are counted in the source, before escapes are decoded.
    let lines: Vec<&str> = source.lines().collect();
    let _ = text;
    let mut block: Option<(LineKind, usize)> = None;
    for (index, raw) in lines.iter().enumerate() {
        let line = first_line + u32::try_from(index).unwrap_or(0);
        let raw = if index == 0 {
            raw.trim_start_matches(['r', 'R', 'u', 'U']).trim_start_matches(['"', '\''])
        } else {
            raw
        };
        let trimmed = raw.trim().trim_end_matches("\"\"\"").trim_end_matches("'''").trim();
        let trimmed = if index == 0 && lines.len() == 1 {
            trimmed.trim_end_matches(['"', '\'']).trim()
        } else {
            trimmed
        };
        let indent = raw.len() - raw.trim_start().len();
        if let Some((kind, rest)) = heading(trimmed) {
            if rest.is_empty() {
                block = Some((kind, indent));
            } else {
                block = None;
                add(contract, kind, rest, line)?;
            }
            continue;
        }
        if let Some((kind, depth)) = block {
            if trimmed.is_empty() || indent <= depth {
                block = None;
            } else {
                add(contract, kind, trimmed, line)?;
            }
        }
    }
    Ok(())
}

/// The lines of a docstring with their numbers, trimmed.
pub(super) fn lines_of(program: &Program, body: &[Stmt]) -> Vec<(u32, String)> {
    let Some(Stmt::Expr(first)) = body.first() else { return Vec::new() };
    if !first.value.is_string_literal_expr() {
        return Vec::new();
    }
    let range = first.value.range();
    let source = program.code().get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
    let first_line = program.line_at(range.start().to_u32());
    let bare = |line: &str| {
        let line =
            line.trim().trim_start_matches(['r', 'R']).trim_start_matches("\"\"\"").trim_start_matches("'''");
        line.trim_end_matches("\"\"\"").trim_end_matches("'''").trim().to_owned()
    };
    let numbered = source.lines().enumerate();
    numbered.map(|(index, line)| (first_line + u32::try_from(index).unwrap_or(0), bare(line))).collect()
}

fn heading(line: &str) -> Option<(LineKind, &str)> {
    if let Some(rest) = line.strip_prefix("pre:") {
        return Some((LineKind::Pre, rest.trim()));
    }
    if let Some(rest) = line.strip_prefix("post:") {
        return Some((LineKind::Post, rest.trim()));
    }
    if let Some(rest) = line.strip_prefix("post[") {
        return rest.split_once("]:").map(|(_, rest)| (LineKind::Post, rest.trim()));
    }
    if let Some(rest) = line.strip_prefix("raises:") {
        return Some((LineKind::Raises, rest.trim()));
    }
    // Sphinx: `:raises ValueError: when …`.
    let rest = line.strip_prefix(":raises ")?;
    let (names, _) = rest.split_once(':')?;
    Some((LineKind::Raises, names.trim()))
}

fn add(contract: &mut Contract, kind: LineKind, text: &str, line: u32) -> Result<(), UnsupportedConstruct> {
    if !contract.sources.contains(&ContractSource::Docstring) {
        contract.sources.push(ContractSource::Docstring);
    }
    match kind {
        LineKind::Pre => contract.pre.push(clause(text, text, line)?),
        LineKind::Post => contract.post.push(clause(text, text, line)?),
        LineKind::Raises => {
            let names = text.split([',', ' ']).map(str::trim).filter(|name| !name.is_empty());
            contract.raises.extend(names.map(|name| name.rsplit('.').next().unwrap_or(name).to_owned()));
        }
    }
    Ok(())
}
