//! Lowering: one code object at a time.

use std::cell::Cell;
use std::rc::Rc;

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::code::{BranchPlace, Code, Const, Name, Op};
use super::symbol_table::{NameAccess, ScopeKey, ScopeKind, SymbolTable, SymbolTables, key_of};
use crate::Program;

/// Marks a jump that is not a branch of the source.
pub(super) const NO_BRANCH: u32 = u32::MAX;

pub(crate) struct LoweredModule {
    pub(crate) module: Rc<Code>,
}

/// An enclosing block of a statement. It defines how `break`, `continue` and `return` leave it. The innermost
/// block is last.
pub(super) enum EnclosingBlock<'a> {
    Loop {
        breaks: Vec<usize>,
        continues: Vec<usize>,
    },
    /// A `try` with handlers: its edge is removed.
    Try,
    /// A `finally`: its edge is removed and its body runs.
    Finally(&'a [Stmt]),
    /// An exception handler: the handling ends and the name is unbound.
    Handler(Option<&'a str>),
    /// A `with`: its edge is removed and its exit, in this local, is called.
    With(u32),
}

/// State shared by all code objects of one module.
pub(super) struct ModuleContext<'a> {
    pub(super) program: &'a Program,
    pub(super) scopes: SymbolTables,
    next_id: Cell<u32>,
    /// The name of the library module, if it is one.
    library: Option<&'static str>,
}

/// The lowering of one code object.
pub(super) struct CodeLowering<'a, 's> {
    pub(super) shared: &'s ModuleContext<'a>,
    pub(super) scope: SymbolTable,
    pub(super) code: Code,
    pub(super) line: u32,
    pub(super) around: Vec<EnclosingBlock<'a>>,
    /// Whether the lowering is still among the leading asserts of a body.
    pub(super) leading: bool,
    hidden: u32,
}

pub(crate) fn lower_module(program: &Program) -> LoweredModule {
    lower_body(program, 0, None)
}

/// Lowers a library module. Its code ids start at this number.
pub(crate) fn lower_library(program: &Program, name: &'static str, first: u32) -> LoweredModule {
    lower_body(program, first, Some(name))
}

fn lower_body(program: &Program, first: u32, library: Option<&'static str>) -> LoweredModule {
    let body = &program.module().body;
    let shared =
        ModuleContext { program, scopes: SymbolTables::of_module(body), next_id: Cell::new(first), library };
    let mut lowering = CodeLowering::new(&shared, key_of::<[Stmt]>(body), "<module>", "");
    lowering.body(body);
    lowering.constant(Const::None);
    lowering.emit(Op::Return);
    LoweredModule { module: Rc::new(lowering.finish()) }
}

/// Lowers one expression to a function of the given parameters.
pub(crate) fn lower_expression(
    program: &Program,
    expression: &Expr,
    parameters: &[String],
    line: u32,
) -> Rc<Code> {
    let shared = ModuleContext {
        program,
        scopes: SymbolTables::of_expression(expression, parameters),
        next_id: Cell::new(1_000_000),
        library: None,
    };
    let mut lowering = CodeLowering::new(&shared, key_of(expression), "<condition>", "");
    lowering.line = line;
    for name in parameters {
        let name: Name = Rc::from(name.as_str());
        lowering.code.parameters.positional.push(name.clone());
        lowering.local(&name);
    }
    lowering.bind_cells();
    lowering.fixed_line(expression, line);
    lowering.emit(Op::Return);
    Rc::new(lowering.finish())
}

impl<'a, 's> CodeLowering<'a, 's> {
    pub(super) fn new(shared: &'s ModuleContext<'a>, key: ScopeKey, name: &str, outer: &str) -> Self {
        let scope = shared.scopes.get(key).cloned().unwrap_or(SymbolTable {
            kind: ScopeKind::Function,
            bound: Default::default(),
            globals: Default::default(),
            captured: Default::default(),
            free: Default::default(),
            is_generator: false,
        });
        let id = shared.next_id.get();
        shared.next_id.set(id + 1);
        let qualified = if outer.is_empty() { name.to_owned() } else { format!("{outer}.{name}") };
        let code = Code {
            name: name.to_owned(),
            qualified,
            is_generator: scope.is_generator,
            free: scope.free.iter().map(|name| Rc::from(name.as_str())).collect(),
            is_library: shared.library.is_some(),
            id,
            ..Code::default()
        };
        Self { shared, scope, code, line: 1, around: Vec::new(), leading: false, hidden: 0 }
    }

    /// The prefix of `__qualname__` for definitions in this scope.
    pub(super) fn qualifier(&self) -> String {
        match self.scope.kind {
            ScopeKind::Module => String::new(),
            ScopeKind::Class => self.code.qualified.clone(),
            ScopeKind::Function => format!("{}.<locals>", self.code.qualified),
        }
    }

    /// Determines the cells, after the parameters have their locals.
    pub(super) fn bind_cells(&mut self) {
        let captured: Vec<Name> = self.scope.captured.iter().map(|name| Rc::from(name.as_str())).collect();
        for name in captured {
            let parameter = self.code.locals.iter().position(|known| *known == name);
            let parameter = parameter.and_then(|index| u32::try_from(index).ok());
            self.code.own_cells.push((name, parameter));
        }
    }

    pub(super) fn finish(self) -> Code {
        self.code
    }

    pub(super) fn emit(&mut self, op: Op) -> usize {
        self.code.ops.push(op);
        self.code.lines.push(self.line);
        self.code.ops.len() - 1
    }

    pub(super) fn here(&self) -> usize {
        self.code.ops.len()
    }

    pub(super) fn target(index: usize) -> u32 {
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    /// Sets the target of an earlier jump to the current position.
    pub(super) fn patch_jump(&mut self, jump: usize) {
        let here = Self::target(self.here());
        self.patch_jump_to(jump, here);
    }

    pub(super) fn patch_jump_to(&mut self, jump: usize, here: u32) {
        if let Some(
            Op::Jump(to)
            | Op::JumpIfFalse(to, _)
            | Op::JumpIfTrue(to, _)
            | Op::JumpIfFalseOrPop(to)
            | Op::JumpIfTrueOrPop(to)
            | Op::ForIter(_, to, _)
            | Op::SetupTry(to),
        ) = self.code.ops.get_mut(jump)
        {
            *to = here;
        }
    }

    pub(super) fn constant(&mut self, value: Const) {
        self.code.consts.push(value);
        let index = Self::target(self.code.consts.len() - 1);
        self.emit(Op::Const(index));
    }

    pub(super) fn text(&mut self, text: &str) {
        self.constant(Const::Str(Rc::new(text.chars().map(u32::from).collect())));
    }

    pub(super) fn unsupported(&mut self, what: &str) {
        self.emit(Op::Unsupported(Rc::from(what)));
    }

    /// The index of a local. A new one is created if necessary.
    pub(super) fn local(&mut self, name: &Name) -> u32 {
        let known = self.code.locals.iter().position(|local| local == name);
        Self::target(known.unwrap_or_else(|| {
            self.code.locals.push(name.clone());
            self.code.locals.len() - 1
        }))
    }

    /// A local that no name of the source can reach.
    pub(super) fn hidden(&mut self) -> u32 {
        self.hidden += 1;
        let name: Name = Rc::from(format!(".{}", self.hidden));
        self.local(&name)
    }

    fn cell(&self, name: &str) -> u32 {
        let own = self.code.own_cells.iter().position(|(cell, _)| &**cell == name);
        let free = || self.code.free.iter().position(|cell| &**cell == name);
        let index = own.or_else(|| free().map(|index| index + self.code.own_cells.len()));
        index.map_or(u32::MAX, Self::target)
    }

    /// The key of a library module's global name. It cannot clash with names of the analysed code.
    fn in_library(&self, name: &str) -> Option<Name> {
        self.shared.library.map(|module| Rc::from(format!("{module}.{name}")))
    }

    pub(super) fn load(&mut self, name: &str) {
        let shared: Name = Rc::from(name);
        let op = match self.scope.reach(name) {
            NameAccess::Local => Op::LoadLocal(self.local(&shared)),
            NameAccess::Cell => Op::LoadCell(self.cell(name)),
            NameAccess::Global => self.in_library(name).map_or(Op::LoadGlobal(shared), Op::LoadLibrary),
            NameAccess::Named if self.scope.bound.contains(name) => Op::LoadName(shared),
            NameAccess::Named => self.in_library(name).map_or(Op::LoadName(shared), Op::LoadLibrary),
        };
        self.emit(op);
    }

    pub(super) fn store(&mut self, name: &str) {
        let shared: Name = Rc::from(name);
        let op = match self.scope.reach(name) {
            NameAccess::Local => Op::StoreLocal(self.local(&shared)),
            NameAccess::Cell => Op::StoreCell(self.cell(name)),
            NameAccess::Global => self.in_library(name).map_or(Op::StoreGlobal(shared), Op::StoreLibrary),
            NameAccess::Named => Op::StoreName(shared),
        };
        self.emit(op);
    }

    pub(super) fn delete(&mut self, name: &str) {
        let shared: Name = Rc::from(name);
        let op = match self.scope.reach(name) {
            NameAccess::Local => Op::DelLocal(self.local(&shared)),
            NameAccess::Cell => Op::DelCell(self.cell(name)),
            NameAccess::Global => Op::DelGlobal(shared),
            NameAccess::Named => Op::DelName(shared),
        };
        self.emit(op);
    }

    /// Emits the creation of a function with finished code. Its defaults are already on the stack.
    pub(super) fn make_function(&mut self, code: Code) {
        let free = code.free.clone();
        for name in &free {
            let cell = self.cell(name);
            self.emit(Op::CellRef(cell));
        }
        self.emit(Op::BuildTuple(Self::target(free.len())));
        self.code.consts.push(Const::Code(Rc::new(code)));
        let index = Self::target(self.code.consts.len() - 1);
        self.emit(Op::MakeFunction(index));
    }

    /// Registers a condition with two outcomes.
    pub(super) fn branch(&mut self, condition: &Expr) -> u32 {
        if self.code.is_library {
            return NO_BRANCH;
        }
        let range = condition.range();
        let source = self.shared.program.code();
        let text = source.get(range.start().to_usize()..range.end().to_usize()).unwrap_or_default();
        let line = self.shared.program.line_at(range.start().to_u32());
        let at = self.place_of(range.start().to_usize(), line);
        self.branch_at(line, text.split_whitespace().collect::<Vec<_>>().join(" "), at)
    }

    /// The line, and the bytes before this offset in it.
    pub(super) fn place_of(&self, offset: usize, line: u32) -> Option<(u32, u32)> {
        let before = self.shared.program.code().get(..offset)?;
        let column = before.rsplit('\n').next().map_or(0, str::len);
        Some((line, u32::try_from(column).ok()?))
    }

    pub(super) fn branch_at(&mut self, line: u32, condition: String, at: Option<(u32, u32)>) -> u32 {
        if self.code.is_library {
            return NO_BRANCH;
        }
        self.code.branches.push(BranchPlace { line, at, condition });
        Self::target(self.code.branches.len() - 1)
    }

    pub(super) fn at<T: Ranged>(&mut self, node: &T) {
        self.line = self.shared.program.line_at(node.range().start().to_u32());
    }

    /// Lowers an expression with ranges of another text. All of its instructions get one line.
    fn fixed_line(&mut self, expression: &'a Expr, line: u32) {
        self.expr(expression);
        self.code.lines.iter_mut().for_each(|known| *known = line);
        self.code.branches.clear();
    }

    pub(super) fn enter_function(&mut self, parameters: Option<&'a ruff_python_ast::Parameters>) {
        let Some(parameters) = parameters else { return self.bind_cells() };
        let name = |parameter: &ruff_python_ast::Parameter| -> Name { Rc::from(parameter.name.as_str()) };
        let mut found =
            super::code::Parameters { positional_only: parameters.posonlyargs.len(), ..Default::default() };
        let positional = parameters.posonlyargs.iter().chain(&parameters.args);
        found.positional = positional.map(|with_default| name(&with_default.parameter)).collect();
        found.keyword_only = parameters.kwonlyargs.iter().map(|p| name(&p.parameter)).collect();
        found.star = parameters.vararg.as_deref().map(name);
        found.double_star = parameters.kwarg.as_deref().map(name);
        let all = found.positional.iter().chain(&found.keyword_only);
        let all: Vec<Name> = all.chain(&found.star).chain(&found.double_star).cloned().collect();
        self.code.parameters = found;
        for name in &all {
            self.local(name);
        }
        self.bind_cells();
    }
}
