//! Class invariants: `inv:` in the docstring, and the decorators of icontract and deal.

use ruff_python_ast::{Expr, Stmt, StmtClassDef};
use ruff_text_size::Ranged;

use super::decorators::full_name;
use super::docstring::lines_of;
use super::{Contract, ContractClause, clause};
use crate::Program;
use crate::analyse::report::{ContractSource, UnsupportedConstruct};

/// An invariant of a class or of a base class, as a function of an instance.
struct Invariant {
    function: String,
    shown: String,
    line: u32,
    source: ContractSource,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvariantTime {
    /// Before the call: arguments satisfy their invariants.
    Before,
    /// Before and after the call: the method preserves the invariant.
    Throughout,
}

/// Adds the invariants of the class of a parameter to a contract.
pub(crate) fn add(
    program: &Program,
    class: &str,
    parameter: &str,
    when: InvariantTime,
    contract: &mut Contract,
) -> Result<(), UnsupportedConstruct> {
    let mut found = Vec::new();
    collect(program, class, &mut found, 0)?;
    for invariant in found {
        let text = format!("({})({parameter})", invariant.function);
        let made: ContractClause = clause(&text, &invariant.shown, invariant.line)?;
        if !contract.sources.contains(&invariant.source) {
            contract.sources.retain(|source| *source != ContractSource::Implicit);
            contract.sources.push(invariant.source);
        }
        contract.pre.push(made.clone());
        if when == InvariantTime::Throughout {
            contract.post.push(made);
        }
    }
    Ok(())
}

fn collect(
    program: &Program,
    name: &str,
    found: &mut Vec<Invariant>,
    depth: usize,
) -> Result<(), UnsupportedConstruct> {
    let class = program.module().body.iter().rev().find_map(|stmt| match stmt {
        Stmt::ClassDef(class) if class.name.as_str() == name => Some(class),
        _ => None,
    });
    let Some(class) = class.filter(|_| depth < 20) else { return Ok(()) };
    for base in class.arguments.iter().flat_map(|arguments| &arguments.args) {
        if let Expr::Name(base) = base {
            collect(program, base.id.as_str(), found, depth + 1)?;
        }
    }
    for (line, text) in lines_of(program, &class.body) {
        if let Some(condition) = text.strip_prefix("inv:").map(str::trim).filter(|text| !text.is_empty()) {
            found.push(Invariant {
                function: format!("lambda self: ({condition})"),
                shown: condition.to_owned(),
                line,
                source: ContractSource::Docstring,
            });
        }
    }
    decorated(program, class, found)
}

fn decorated(
    program: &Program,
    class: &StmtClassDef,
    found: &mut Vec<Invariant>,
) -> Result<(), UnsupportedConstruct> {
    for decorator in &class.decorator_list {
        let Expr::Call(call) = &decorator.expression else { continue };
        let source = match full_name(program, &call.func) {
            Some((library, name)) if library == "icontract" && name == "invariant" => {
                ContractSource::Icontract
            }
            Some((library, name)) if library == "deal" && name == "inv" => ContractSource::Deal,
            _ => continue,
        };
        let line = program.line_at(decorator.expression.range().start().to_u32());
        let condition = call.arguments.find_argument_value("condition", 0);
        let condition = condition.or_else(|| call.arguments.find_argument_value("validator", 0));
        let Some(Expr::Lambda(lambda)) = condition else {
            return Err(UnsupportedConstruct { line, construct: "a condition that is no lambda".to_owned() });
        };
        let text = |range: ruff_text_size::TextRange| {
            program
                .code()
                .get(range.start().to_usize()..range.end().to_usize())
                .unwrap_or_default()
                .to_owned()
        };
        found.push(Invariant {
            function: text(lambda.range()),
            shown: text(lambda.body.range()),
            line,
            source,
        });
    }
    Ok(())
}
