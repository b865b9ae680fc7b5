//! The decorators of icontract and deal, read from the syntax.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::{Contract, clause};
use crate::Program;
use crate::analyse::report::{ContractSource, UnsupportedConstruct};

pub(super) fn read(
    program: &Program,
    function: &StmtFunctionDef,
    contract: &mut Contract,
) -> Result<(), UnsupportedConstruct> {
    for decorator in &function.decorator_list {
        let line = program.line_at(decorator.expression.range().start().to_u32());
        let (callee, call) = match &decorator.expression {
            Expr::Call(call) => (&*call.func, Some(call)),
            other => (other, None),
        };
        let Some((library, name)) = full_name(program, callee) else { continue };
        let source = if library == "icontract" { ContractSource::Icontract } else { ContractSource::Deal };
        if !contract.sources.contains(&source) {
            contract.sources.push(source);
        }
        read_decorator(program, &name, call, line, contract)?;
    }
    Ok(())
}

/// The library and the name of a decorator, if it belongs to icontract or deal.
pub(super) fn full_name(program: &Program, callee: &Expr) -> Option<(String, String)> {
    match callee {
        Expr::Attribute(found) => match &*found.value {
            Expr::Name(module) => {
                let library = imported_as(program, module.id.as_str())?;
                Some((library, found.attr.to_string()))
            }
            _ => None,
        },
        Expr::Name(name) => program.module().body.iter().find_map(|stmt| {
            let Stmt::ImportFrom(import) = stmt else { return None };
            let module = import.module.as_ref()?.to_string();
            if module != "icontract" && module != "deal" {
                return None;
            }
            let alias = import
                .names
                .iter()
                .find(|alias| alias.asname.as_ref().unwrap_or(&alias.name).as_str() == name.id.as_str())?;
            Some((module, alias.name.to_string()))
        }),
        _ => None,
    }
}

/// The text of a condition with arguments instead of members of `_`. `None` if it uses `_` in another way.
fn expand_members(program: &Program, body: &Expr) -> Option<String> {
    #[derive(Default)]
    struct MemberRewriter {
        found: Vec<(usize, usize, String)>,
        is_odd: bool,
    }
    impl Visitor<'_> for MemberRewriter {
        fn visit_expr(&mut self, expr: &Expr) {
            let is_all = |value: &Expr| matches!(value, Expr::Name(name) if name.id.as_str() == "_");
            let member = match expr {
                Expr::Attribute(found) if is_all(&found.value) => Some(found.attr.to_string()),
                Expr::Subscript(found) if is_all(&found.value) => match &*found.slice {
                    Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
                    _ => None,
                },
                _ => None,
            };
            match member {
                Some(name) => {
                    let name = if name == "result" { "__return__".to_owned() } else { name };
                    let range = expr.range();
                    self.found.push((range.start().to_usize(), range.end().to_usize(), name));
                }
                None => {
                    self.is_odd |= is_all(expr);
                    walk_expr(self, expr);
                }
            }
        }
    }
    let mut members = MemberRewriter::default();
    members.visit_expr(body);
    let range = body.range();
    let (mut at, end) = (range.start().to_usize(), range.end().to_usize());
    let mut text = String::new();
    members.found.sort();
    for (from, to, name) in members.found {
        text.push_str(program.code().get(at..from)?);
        text.push_str(&name);
        at = to;
    }
    text.push_str(program.code().get(at..end)?);
    (!members.is_odd).then_some(text)
}

fn imported_as(program: &Program, name: &str) -> Option<String> {
    program.module().body.iter().find_map(|stmt| {
        let Stmt::Import(import) = stmt else { return None };
        let alias = import
            .names
            .iter()
            .find(|alias| alias.asname.as_ref().unwrap_or(&alias.name).as_str() == name)?;
        let module = alias.name.as_str();
        (module == "icontract" || module == "deal").then(|| module.to_owned())
    })
}

fn read_decorator(
    program: &Program,
    name: &str,
    call: Option<&ExprCall>,
    line: u32,
    contract: &mut Contract,
) -> Result<(), UnsupportedConstruct> {
    let unsupported = |what: &str| Err(UnsupportedConstruct { line, construct: what.to_owned() });
    match name {
        "require" | "pre" | "ensure" | "post" | "snapshot" => {
            let Some(call) = call else { return unsupported("this decorator") };
            let condition = call.arguments.find_argument_value("condition", 0);
            let condition = condition.or_else(|| call.arguments.find_argument_value("capture", 0));
            let Some(Expr::Lambda(lambda)) =
                condition.or_else(|| call.arguments.find_argument_value("validator", 0))
            else {
                return unsupported("a condition that is no lambda");
            };
            let range = lambda.range();
            let source =
                program.code().get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
            let body = lambda.body.range();
            let shown =
                program.code().get(body.start().to_usize()..body.end().to_usize()).unwrap_or_default();
            let parameters: Vec<String> = lambda
                .parameters
                .iter()
                .flat_map(|all| all.iter())
                .map(|one| one.name().to_string())
                .collect();
            if name == "post" {
                // deal: the only parameter is the result, under any name.
                let text = format!("({source})(__return__)");
                contract.post.push(clause(&text, shown, line)?);
                return Ok(());
            }
            if parameters.iter().any(|name| name == "_") {
                // deal: one argument for all parameters, `_.x` or `_["x"]`.
                let Some(text) = expand_members(program, &lambda.body) else {
                    return unsupported("a condition over _");
                };
                let found = clause(&text, shown, line)?;
                match name {
                    "require" | "pre" => contract.pre.push(found),
                    "ensure" => contract.post.push(found),
                    _ => return unsupported("a condition over _"),
                }
                return Ok(());
            }
            let passed: Vec<String> = parameters
                .iter()
                .map(|name| match name.as_str() {
                    "result" => "result=__return__".to_owned(),
                    name => format!("{name}={name}"),
                })
                .collect();
            let text = format!("({source})({})", passed.join(", "));
            let found = clause(&text, shown, line)?;
            match name {
                "require" | "pre" => contract.pre.push(found),
                "ensure" => contract.post.push(found),
                _ => {
                    let given = call.arguments.find_argument_value("name", 1);
                    let kept = match given {
                        Some(Expr::StringLiteral(text)) => text.value.to_str().to_owned(),
                        _ => match parameters.first() {
                            Some(first) => first.clone(),
                            None => return unsupported("a snapshot without a name"),
                        },
                    };
                    contract.snapshots.push((kept, found));
                }
            }
            Ok(())
        }
        "raises" => {
            for argument in call.iter().flat_map(|call| &call.arguments.args) {
                match argument {
                    Expr::Name(name) => contract.raises.push(name.id.to_string()),
                    Expr::Attribute(found) => contract.raises.push(found.attr.to_string()),
                    _ => return unsupported("this class in raises()"),
                }
            }
            Ok(())
        }
        "safe" | "pure" | "has" | "example" => Ok(()),
        _ => unsupported("this decorator"),
    }
}
