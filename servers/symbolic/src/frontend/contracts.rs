//! Contracts of a function: docstrings (PEP 316), asserts, and the decorators of icontract and deal.

mod decorators;
mod docstring;
mod invariants;

pub(crate) use invariants::{InvariantTime, add as add_invariants};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use crate::Program;
use crate::analyse::report::{ContractSource, UnsupportedConstruct};

/// One condition of a contract.
#[derive(Clone, Debug)]
pub(crate) struct ContractClause {
    /// A Python expression over the parameters and the names of [`crate::Condition`].
    pub(crate) text: String,
    /// The original text.
    pub(crate) shown: String,
    pub(crate) line: u32,
}

/// The contract of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contract {
    pub(crate) pre: Vec<ContractClause>,
    pub(crate) post: Vec<ContractClause>,
    /// Values stored before the call: name and expression.
    pub(crate) snapshots: Vec<(String, ContractClause)>,
    /// Classes of exceptions that may leave the function.
    pub(crate) raises: Vec<String>,
    /// The lines of the leading asserts.
    pub(crate) leading: Vec<u32>,
    pub(crate) sources: Vec<ContractSource>,
}

pub(crate) fn read(program: &Program, function: &StmtFunctionDef) -> Result<Contract, UnsupportedConstruct> {
    let mut contract = Contract::default();
    docstring::read(program, function, &mut contract)?;
    decorators::read(program, function, &mut contract)?;
    for stmt in &function.body {
        match stmt {
            Stmt::Assert(found) => contract.leading.push(program.line_at(found.range().start().to_u32())),
            Stmt::Expr(found) if matches!(&*found.value, Expr::StringLiteral(_)) => {}
            _ => break,
        }
    }
    if has_assert(&function.body) {
        contract.sources.push(ContractSource::Asserts);
    }
    if contract.sources.is_empty() {
        contract.sources.push(ContractSource::Implicit);
    }
    Ok(contract)
}

fn has_assert(body: &[Stmt]) -> bool {
    use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
    struct AssertFinder(bool);
    impl StatementVisitor<'_> for AssertFinder {
        fn visit_stmt(&mut self, stmt: &Stmt) {
            match stmt {
                Stmt::Assert(_) => self.0 = true,
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                stmt => walk_stmt(self, stmt),
            }
        }
    }
    let mut finder = AssertFinder(false);
    body.iter().for_each(|stmt| finder.visit_stmt(stmt));
    finder.0
}

/// Checks that the condition is a Python expression.
fn clause(text: &str, shown: &str, line: u32) -> Result<ContractClause, UnsupportedConstruct> {
    match ruff_python_parser::parse_expression(text) {
        Ok(_) => Ok(ContractClause { text: text.to_owned(), shown: shown.to_owned(), line }),
        Err(_) => {
            Err(UnsupportedConstruct { line, construct: "a condition that is no expression".to_owned() })
        }
    }
}
