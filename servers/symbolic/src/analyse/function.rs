//! The function under analysis: its code, its parameters and its contract.

use std::rc::Rc;

use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef};

use super::annotations::AnnotationResolver;
use super::report::{Failure, UnsupportedConstruct};
use crate::Program;
use crate::explore::{InputType, Machine, RunEnd, Trap};
use crate::frontend::contracts::{Contract, ContractClause, InvariantTime, add_invariants};
use crate::frontend::ir::{Code, Name, lower_expression, lower_module};
use crate::memory;
use crate::values::{Object, Type, Value};

/// Calling a generator function executes no statement of its body, so the call alone satisfies every
/// contract. The caller must state the intended contract.
const GENERATOR: &str =
    "a generator as the function to analyse; analyse one that returns list() of it, or of its first items";

/// Maximum number of instructions to load the module.
const LOADING: u64 = 2_000_000;

#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: Name,
    pub(super) kind: InputType,
    pub(super) is_positional: bool,
}

/// A condition, ready to be called with [`AnalysedFunction::names`].
#[derive(Clone)]
pub(super) struct CompiledCondition {
    pub(super) clause: ContractClause,
    pub(super) code: Rc<Code>,
}

pub(super) struct AnalysedFunction {
    pub(super) name: String,
    pub(super) function: Value,
    pub(super) code: Rc<Code>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) contract: Contract,
    pub(super) pre: Vec<CompiledCondition>,
    pub(super) post: Vec<CompiledCondition>,
    pub(super) snapshots: Vec<(String, CompiledCondition)>,
    /// Reasons why the verdict cannot be exhaustive.
    pub(super) open_ends: Vec<String>,
}

/// Executes the module to define its functions and classes.
pub(super) fn load(program: &Program) -> Result<Machine, Failure> {
    let mut machine = Machine::new();
    machine.step_limit = LOADING;
    let module = lower_module(program).module;
    let ran = machine.run_nested(crate::explore::Frame::new(module));
    let line = machine.line().max(1);
    machine.state.frames.clear();
    machine.nesting = 0;
    machine.state.steps = 0;
    match ran {
        Ok(RunEnd::Returned(_)) => Ok(machine),
        Ok(RunEnd::Yielded(..)) => Err(Failure::Bug("a module yields".to_owned())),
        Err(Trap::Raise(exception)) => {
            let class = machine.type_name(&exception);
            Err(Failure::ModuleRaises { class, line: machine.raised_at })
        }
        Err(Trap::Unsupported(construct)) => {
            Err(Failure::Unsupported(UnsupportedConstruct { line, construct }))
        }
        Err(Trap::Pause) if memory::is_exhausted() => {
            Err(Failure::MemorySpent { limit_mb: memory::limit_mb() })
        }
        Err(Trap::Pause | Trap::Bound(_)) => Err(Failure::BudgetSpent),
        Err(trap) => Err(Failure::Bug(format!("loading: {trap:?}"))),
    }
}

/// The syntax of a function, and of its class if it is a method.
pub(super) fn find<'p>(
    program: &'p Program,
    name: &str,
) -> Option<(&'p StmtFunctionDef, Option<&'p StmtClassDef>)> {
    let last = |body: &'p [Stmt], wanted: &str| {
        body.iter().rev().find_map(|stmt| match stmt {
            Stmt::FunctionDef(def) if def.name.as_str() == wanted => Some(def),
            _ => None,
        })
    };
    match name.split_once('.') {
        None => last(&program.module().body, name).map(|def| (def, None)),
        Some((class, method)) => program.module().body.iter().find_map(|stmt| match stmt {
            Stmt::ClassDef(found) if found.name.as_str() == class => {
                Some((last(&found.body, method)?, Some(found)))
            }
            _ => None,
        }),
    }
}

impl AnalysedFunction {
    /// Loads the module and finds a function in it.
    pub(super) fn load(program: &Program, name: &str) -> Result<(Machine, Self), Failure> {
        let mut machine = load(program)?;
        let subject = AnalysedFunction::new(program, &mut machine, name)?;
        Ok((machine, subject))
    }

    pub(super) fn new(program: &Program, machine: &mut Machine, name: &str) -> Result<Self, Failure> {
        let Some((def, class)) = find(program, name) else {
            return Err(Failure::NoSuchFunction { known: program.functions() });
        };
        let line = program.line_at(def.range.start().to_u32());
        let unsupported = |construct: &str| {
            Failure::Unsupported(UnsupportedConstruct { line, construct: construct.to_owned() })
        };
        if def.is_async {
            return Err(unsupported("async def"));
        }
        let (function, code) = function_value(machine, name)
            .ok_or_else(|| unsupported("a function that its decorators replace"))?;
        let mut open_ends = Vec::new();
        let parameters = parameters(program, machine, def, class, &mut open_ends);
        let is_cached = matches!(machine.state.globals.get(name), Some(Value::Object(id)) if matches!(machine.state.get(*id), Object::Cached(..)));
        if is_cached && parameters.iter().any(|parameter| !is_hashable(&parameter.kind)) {
            return Err(unsupported("a cache over arguments that may not be hashable"));
        }
        if code.is_generator {
            return Err(unsupported(GENERATOR));
        }
        let mut contract = crate::frontend::contracts::read(program, def).map_err(Failure::Unsupported)?;
        for (place, parameter) in parameters.iter().enumerate() {
            let InputType::Instance(id, _) = &parameter.kind else { continue };
            let Some(owner) = machine.class_of(*id).map(|class| class.name.to_string()) else { continue };
            let is_receiver = place == 0 && class.is_some_and(|class| class.name.as_str() == owner);
            let when = if is_receiver { InvariantTime::Throughout } else { InvariantTime::Before };
            add_invariants(program, &owner, &parameter.name, when, &mut contract)
                .map_err(Failure::Unsupported)?;
        }
        let mut subject = Self {
            name: name.to_owned(),
            function,
            code,
            parameters,
            contract,
            pre: Vec::new(),
            post: Vec::new(),
            snapshots: Vec::new(),
            open_ends,
        };
        let names = subject.names();
        let lower = |clause: &ContractClause| lowered(program, clause, &names);
        subject.pre = subject.contract.pre.iter().filter_map(lower).collect();
        subject.post = subject.contract.post.iter().filter_map(lower).collect();
        let kept = subject.contract.snapshots.iter();
        subject.snapshots = kept.filter_map(|(name, clause)| Some((name.clone(), lower(clause)?))).collect();
        Ok(subject)
    }

    /// The names available to a condition: the parameters, then the results of the call.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
        for extra in ["_", "__return__", "__old__", "OLD"] {
            if !names.iter().any(|name| name == extra) {
                names.push(extra.to_owned());
            }
        }
        names
    }
}

fn lowered(program: &Program, clause: &ContractClause, names: &[String]) -> Option<CompiledCondition> {
    let parsed = ruff_python_parser::parse_expression(&clause.text).ok()?;
    let module = parsed.into_syntax();
    let code = lower_expression(program, &module.body, names, clause.line);
    Some(CompiledCondition { clause: clause.clone(), code })
}

fn function_value(machine: &Machine, name: &str) -> Option<(Value, Rc<Code>)> {
    let value = match name.split_once('.') {
        None => machine.state.globals.get(name).cloned()?,
        Some((class, method)) => match machine.state.globals.get(class)? {
            Value::Type(Type::User(id)) => machine.class_attribute(*id, method)?,
            _ => return None,
        },
    };
    let Value::Object(id) = &value else { return None };
    match machine.state.get(*id) {
        Object::Function(function) => Some((value.clone(), function.code.clone())),
        Object::Cached(inner @ Value::Object(id), _) => match machine.state.get(*id) {
            Object::Function(function) => Some((inner.clone(), function.code.clone())),
            _ => None,
        },
        Object::Static(inner @ Value::Object(id)) => match machine.state.get(*id) {
            Object::Function(function) => Some((inner.clone(), function.code.clone())),
            _ => None,
        },
        _ => None,
    }
}

fn parameters(
    program: &Program,
    machine: &mut Machine,
    def: &StmtFunctionDef,
    class: Option<&StmtClassDef>,
    open_ends: &mut Vec<String>,
) -> Vec<Parameter> {
    let mut found = Vec::new();
    let annotations = AnnotationResolver { program };
    let is_static = def.decorator_list.iter().any(
        |decorator| matches!(&decorator.expression, Expr::Name(name) if name.id.as_str() == "staticmethod"),
    );
    let all = &def.parameters;
    let positional = all.posonlyargs.iter().chain(&all.args).map(|parameter| (parameter, true));
    for (index, (parameter, is_positional)) in
        positional.chain(all.kwonlyargs.iter().map(|p| (p, false))).enumerate()
    {
        let name = parameter.name().as_str();
        let kind = match (class, index) {
            (Some(class), 0) if !is_static => annotations.class(machine, class.name.as_str(), 0),
            _ => match parameter.annotation() {
                Some(annotation) => annotations.resolve(machine, annotation, 0),
                None => InputType::Unknown,
            },
        };
        let kind = match parameter.default() {
            Some(Expr::NoneLiteral(_)) if !accepts_none(&kind) => {
                InputType::Union(vec![kind, InputType::None])
            }
            _ => kind,
        };
        if has_unknown(&kind) {
            open_ends.push(format!("parameter {name} has no annotation"));
        }
        if format!("{kind:?}").contains("Constant(") {
            open_ends.push(format!("parameter {name} was tried with functions that give one result only"));
        }
        found.push(Parameter { name: name.into(), kind, is_positional });
    }
    for (parameter, stars) in [(&all.vararg, "*"), (&all.kwarg, "**")] {
        if let Some(parameter) = parameter {
            open_ends.push(format!("{stars}{} was left empty", parameter.name));
        }
    }
    found
}

fn is_hashable(kind: &InputType) -> bool {
    match kind {
        InputType::None
        | InputType::Bool
        | InputType::Int
        | InputType::Float
        | InputType::Str
        | InputType::OneOf(_) => true,
        InputType::Union(kinds) | InputType::Tuple(kinds) => kinds.iter().all(is_hashable),
        InputType::TupleOf(inner) => is_hashable(inner),
        _ => false,
    }
}

fn accepts_none(kind: &InputType) -> bool {
    match kind {
        InputType::None | InputType::Unknown => true,
        InputType::Union(kinds) => kinds.iter().any(accepts_none),
        _ => false,
    }
}

fn has_unknown(kind: &InputType) -> bool {
    match kind {
        InputType::Unknown => true,
        InputType::Union(kinds) | InputType::Tuple(kinds) => kinds.iter().any(has_unknown),
        InputType::List(inner)
        | InputType::TupleOf(inner)
        | InputType::Set(inner)
        | InputType::FrozenSet(inner) => has_unknown(inner),
        InputType::Dict(key, value) => has_unknown(key) || has_unknown(value),
        InputType::Instance(_, fields) => fields.iter().any(|(_, kind)| has_unknown(kind)),
        _ => false,
    }
}
