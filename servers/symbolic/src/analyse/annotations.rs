//! Converts annotations to types of inputs.

use std::rc::Rc;

use ruff_python_ast::{Expr, Operator, Stmt};

use crate::Program;
use crate::explore::{InputType, Machine};
use crate::frontend::ir::Name;
use crate::values::{BuiltinType, ClassKind, Type, Value};

/// Maximum nesting of aliases and classes.
const DEEPEST: usize = 6;

pub(super) struct AnnotationResolver<'p> {
    pub(super) program: &'p Program,
}

impl AnnotationResolver<'_> {
    pub(super) fn resolve(&self, machine: &mut Machine, annotation: &Expr, depth: usize) -> InputType {
        if depth > DEEPEST {
            return InputType::Unsupported("a type this deep".to_owned());
        }
        match annotation {
            Expr::NoneLiteral(_) => InputType::None,
            Expr::Name(name) => self.named(machine, name.id.as_str(), depth),
            Expr::Attribute(found) => self.named(machine, found.attr.as_str(), depth),
            Expr::StringLiteral(text) => self.text(machine, text.value.to_str(), depth),
            Expr::BinOp(found) if found.op == Operator::BitOr => {
                let (left, right) =
                    (self.resolve(machine, &found.left, depth), self.resolve(machine, &found.right, depth));
                union([left, right])
            }
            Expr::Subscript(found) => {
                let outer = match &*found.value {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(found) => found.attr.as_str(),
                    _ => return self.unknown(annotation),
                };
                let arguments: Vec<&Expr> = match &*found.slice {
                    Expr::Tuple(tuple) => tuple.elts.iter().collect(),
                    one => vec![one],
                };
                self.generic(machine, outer, &arguments, annotation, depth)
            }
            _ => self.unknown(annotation),
        }
    }

    fn unknown(&self, annotation: &Expr) -> InputType {
        use ruff_text_size::Ranged;
        let range = annotation.range();
        let text = self.program.code().get(range.start().to_usize()..range.end().to_usize());
        InputType::Unsupported(text.unwrap_or("an unknown kind").to_owned())
    }

    pub(super) fn text(&self, machine: &mut Machine, text: &str, depth: usize) -> InputType {
        match ruff_python_parser::parse_expression(text) {
            Ok(parsed) => self.resolve(machine, &parsed.into_syntax().body, depth + 1),
            Err(_) => InputType::Unsupported(text.to_owned()),
        }
    }

    fn named(&self, machine: &mut Machine, name: &str, depth: usize) -> InputType {
        let any = || Rc::new(InputType::Unknown);
        match name {
            "int" => InputType::Int,
            "bool" => InputType::Bool,
            "float" => InputType::Float,
            "str" => InputType::Str,
            "None" | "NoneType" => InputType::None,
            "list" | "List" | "Sequence" | "MutableSequence" | "Iterable" | "Collection" => {
                InputType::List(any())
            }
            "tuple" | "Tuple" => InputType::TupleOf(any()),
            "dict" | "Dict" | "Mapping" | "MutableMapping" => InputType::Dict(any(), any()),
            "set" | "Set" | "AbstractSet" | "MutableSet" => InputType::Set(any()),
            "frozenset" | "FrozenSet" => InputType::FrozenSet(any()),
            "object" | "Any" | "Hashable" => InputType::Unknown,
            name => match machine.state.globals.get(name).cloned() {
                Some(Value::Type(Type::User(_))) => self.class(machine, name, depth),
                Some(Value::Type(Type::Builtin(BuiltinType::Typing))) | None => {
                    self.alias(machine, name, depth)
                }
                _ => self.alias(machine, name, depth),
            },
        }
    }

    /// Resolves an alias at the top level, such as `Vector = list[float]`.
    fn alias(&self, machine: &mut Machine, name: &str, depth: usize) -> InputType {
        let found = self.program.module().body.iter().find_map(|stmt| match stmt {
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [Expr::Name(target)] if target.id.as_str() == name => Some(&*assign.value),
                _ => None,
            },
            Stmt::AnnAssign(assign) => match &*assign.target {
                Expr::Name(target) if target.id.as_str() == name => assign.value.as_deref(),
                _ => None,
            },
            _ => None,
        });
        match found {
            // A type variable can be any type.
            Some(Expr::Call(_)) => InputType::Unknown,
            Some(value) => self.resolve(machine, value, depth + 1),
            None => InputType::Unsupported(name.to_owned()),
        }
    }

    fn generic(
        &self,
        machine: &mut Machine,
        outer: &str,
        arguments: &[&Expr],
        annotation: &Expr,
        depth: usize,
    ) -> InputType {
        let inner = |machine: &mut Machine, index: usize| match arguments.get(index) {
            Some(argument) => self.resolve(machine, argument, depth + 1),
            None => InputType::Unknown,
        };
        match outer {
            "list" | "List" | "Sequence" | "MutableSequence" | "Iterable" | "Collection" => {
                InputType::List(Rc::new(inner(machine, 0)))
            }
            "set" | "Set" | "AbstractSet" | "MutableSet" => InputType::Set(Rc::new(inner(machine, 0))),
            "frozenset" | "FrozenSet" => InputType::FrozenSet(Rc::new(inner(machine, 0))),
            "dict" | "Dict" | "Mapping" | "MutableMapping" => {
                InputType::Dict(Rc::new(inner(machine, 0)), Rc::new(inner(machine, 1)))
            }
            "tuple" | "Tuple" => match arguments {
                [_, Expr::EllipsisLiteral(_)] => InputType::TupleOf(Rc::new(inner(machine, 0))),
                [Expr::Tuple(empty)] if empty.elts.is_empty() => InputType::Tuple(Vec::new()),
                arguments => {
                    InputType::Tuple((0..arguments.len()).map(|index| inner(machine, index)).collect())
                }
            },
            "Optional" => union([inner(machine, 0), InputType::None]),
            "Union" => union((0..arguments.len()).map(|index| inner(machine, index)).collect::<Vec<_>>()),
            "Annotated" | "Final" | "ClassVar" => inner(machine, 0),
            "Callable" if arguments.len() == 2 => InputType::Constant(Rc::new(inner(machine, 1))),
            "Literal" => {
                let values: Option<Vec<Value>> = arguments.iter().map(|argument| literal(argument)).collect();
                values.map_or_else(|| self.unknown(annotation), InputType::OneOf)
            }
            _ => self.unknown(annotation),
        }
    }

    /// A class of the code.
    pub(super) fn class(&self, machine: &mut Machine, name: &str, depth: usize) -> InputType {
        let Some(Value::Type(Type::User(id))) = machine.state.globals.get(name).cloned() else {
            return InputType::Unsupported(name.to_owned());
        };
        if depth > DEEPEST {
            return InputType::Unsupported(format!("{name}, which holds itself"));
        }
        if let Some(members) = machine.enum_members(id) {
            return InputType::OneOf(members);
        }
        let Some(found) = machine.class_of(id) else { return InputType::Unsupported(name.to_owned()) };
        // The annotations of a library class describe its inputs.
        if found.is_library && (*found.name != *name || machine.annotations_of(id).is_empty()) {
            return InputType::Unsupported(name.to_owned());
        }
        let fields: Vec<(Name, InputType)> = match found.kind {
            ClassKind::Data { .. } | ClassKind::NamedTuple | ClassKind::Plain
                if found.is_library || found.kind != ClassKind::Plain =>
            {
                let mut fields = Vec::new();
                for (field, _) in machine.fields_of(id) {
                    let annotation = self.field_annotation(machine, id, &field);
                    let kind = annotation.map_or(InputType::Unknown, |text| self.text(machine, &text, depth));
                    fields.push((field, kind));
                }
                fields
            }
            _ => match self.constructor(machine, name, depth) {
                Some(fields) => fields,
                None => return InputType::Unsupported(name.to_owned()),
            },
        };
        InputType::Instance(id, fields)
    }

    fn field_annotation(
        &self,
        machine: &Machine,
        id: crate::values::ObjectId,
        field: &Name,
    ) -> Option<String> {
        let order = machine.class_of(id)?.order.clone();
        order.iter().find_map(|above| match above {
            Type::User(above) => machine
                .annotations_of(*above)
                .into_iter()
                .find(|(name, _)| name == field)
                .map(|(_, text)| text),
            Type::Builtin(_) => None,
        })
    }

    /// The parameters of a plain class's `__init__`, if it has one.
    fn constructor(&self, machine: &mut Machine, name: &str, depth: usize) -> Option<Vec<(Name, InputType)>> {
        let class = self.program.module().body.iter().find_map(|stmt| match stmt {
            Stmt::ClassDef(class) if class.name.as_str() == name => Some(class),
            _ => None,
        })?;
        let init = class.body.iter().find_map(|stmt| match stmt {
            Stmt::FunctionDef(def) if def.name.as_str() == "__init__" => Some(def),
            _ => None,
        });
        let Some(init) = init else { return class.arguments.is_none().then(Vec::new) };
        if init.parameters.vararg.is_some() || init.parameters.kwarg.is_some() {
            return None;
        }
        let all = init.parameters.posonlyargs.iter().chain(&init.parameters.args).skip(1);
        let mut fields = Vec::new();
        for parameter in all.chain(&init.parameters.kwonlyargs) {
            let kind = match parameter.annotation() {
                Some(annotation) => self.resolve(machine, annotation, depth + 1),
                None => InputType::Unknown,
            };
            fields.push((parameter.name().as_str().into(), kind));
        }
        Some(fields)
    }
}

fn union(kinds: impl IntoIterator<Item = InputType>) -> InputType {
    let mut all = Vec::new();
    for kind in kinds {
        match kind {
            InputType::Union(inner) => all.extend(inner),
            kind => all.push(kind),
        }
    }
    InputType::Union(all)
}

fn literal(expression: &Expr) -> Option<Value> {
    Some(match expression {
        Expr::NoneLiteral(_) => Value::None,
        Expr::BooleanLiteral(found) => Value::bool(found.value),
        Expr::StringLiteral(found) => Value::text(found.value.to_str()),
        Expr::NumberLiteral(found) => match &found.value {
            ruff_python_ast::Number::Int(value) => Value::int(value.as_i64()?),
            _ => return None,
        },
        Expr::UnaryOp(found) => match literal(&found.operand)? {
            Value::Int(value) => Value::int(-value.small()?),
            _ => return None,
        },
        _ => return None,
    })
}
