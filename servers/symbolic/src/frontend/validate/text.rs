//! Constant text in code, evaluated without running the code.

use ruff_python_ast::{Expr, FStringPart, InterpolatedStringElement, Number, Operator};

use super::lists::BLOCKED_ATTRIBUTES;

/// Maximum length of concatenated text.
const LONGEST: usize = 4_096;

/// The text of an expression, if it is certain.
pub(super) fn fold(expression: &Expr) -> Option<String> {
    let text = match expression {
        Expr::StringLiteral(literal) => literal.value.to_str().to_owned(),
        Expr::FString(literal) => {
            let mut text = String::new();
            for part in literal.value.iter() {
                match part {
                    FStringPart::Literal(literal) => text.push_str(literal.value.as_ref()),
                    FStringPart::FString(inner) => {
                        for element in inner.elements.iter() {
                            match element {
                                InterpolatedStringElement::Literal(literal) => text.push_str(&literal.value),
                                InterpolatedStringElement::Interpolation(inner) => {
                                    text.push_str(&fold(&inner.expression)?);
                                }
                            }
                        }
                    }
                }
            }
            text
        }
        Expr::BinOp(operation) => match operation.op {
            Operator::Add => fold(&operation.left)? + &fold(&operation.right)?,
            Operator::Mult => {
                let (text, times) = match number(&operation.right) {
                    Some(times) => (fold(&operation.left)?, times),
                    None => (fold(&operation.right)?, number(&operation.left)?),
                };
                (text.len().checked_mul(times)? <= LONGEST).then(|| text.repeat(times))?
            }
            Operator::Mod => {
                let arguments: Vec<String> = match &*operation.right {
                    Expr::Tuple(tuple) => tuple.elts.iter().map(fold).collect::<Option<_>>()?,
                    single => vec![fold(single)?],
                };
                let mut text = fold(&operation.left)?;
                for argument in arguments {
                    text = text.replacen("%s", &argument, 1);
                }
                text
            }
            _ => return None,
        },
        Expr::Call(call) => {
            let Expr::Attribute(method) = &*call.func else { return None };
            match (method.attr.as_str(), call.arguments.args.as_ref()) {
                ("join", [Expr::List(parts)]) => joined(&method.value, &parts.elts)?,
                ("join", [Expr::Tuple(parts)]) => joined(&method.value, &parts.elts)?,
                ("lower" | "casefold", []) => fold(&method.value)?.to_lowercase(),
                ("strip", []) => fold(&method.value)?.trim().to_owned(),
                ("replace", [from, to]) => fold(&method.value)?.replace(&fold(from)?, &fold(to)?),
                _ => return None,
            }
        }
        // The only supported slice is the reversal: `"__ssalc__"[::-1]`.
        Expr::Subscript(subscript) => match &*subscript.slice {
            Expr::Slice(slice) if slice.lower.is_none() && slice.upper.is_none() => {
                fold(&subscript.value)?.chars().rev().collect()
            }
            _ => return None,
        },
        Expr::If(choice) => {
            let (one, other) = (fold(&choice.body)?, fold(&choice.orelse)?);
            // Either text is possible. The blocked one has precedence.
            if is_blocked(&one) { one } else { other }
        }
        _ => return None,
    };
    (text.len() <= LONGEST).then_some(text)
}

fn joined(between: &Expr, parts: &[Expr]) -> Option<String> {
    Some(parts.iter().map(fold).collect::<Option<Vec<_>>>()?.join(&fold(between)?))
}

fn number(expression: &Expr) -> Option<usize> {
    match expression {
        Expr::NumberLiteral(literal) => match &literal.value {
            Number::Int(value) => value.as_u64().and_then(|value| usize::try_from(value).ok()),
            _ => None,
        },
        _ => None,
    }
}

/// The blocked attribute that this text names, as a whole or as a step of a path: `{0.__class__}`.
pub(super) fn blocked_in(text: &str) -> Option<&'static str> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(|c: char| !word(c));
    words.into_iter().find_map(|found| {
        BLOCKED_ATTRIBUTES.into_iter().find(|blocked| blocked.starts_with("__") && *blocked == found)
    })
}

fn is_blocked(text: &str) -> bool {
    blocked_in(text).is_some()
}
