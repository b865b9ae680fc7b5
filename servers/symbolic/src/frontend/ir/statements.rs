//! Statements.

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::code::{Const, Op};
use super::lower::{CodeLowering, EnclosingBlock, NO_BRANCH};
use super::symbol_table::key_of;

impl<'a> CodeLowering<'a, '_> {
    pub(super) fn body(&mut self, body: &'a [Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    pub(super) fn stmt(&mut self, stmt: &'a Stmt) {
        self.at(stmt);
        if self.leading && !is_leading(stmt) {
            self.leading = false;
        }
        match stmt {
            Stmt::Expr(statement) => {
                // A bare constant, such as a docstring, has no effect.
                if !statement.value.is_literal_expr() {
                    self.expr(&statement.value);
                    self.emit(Op::Pop);
                }
            }
            Stmt::Assign(assign) => self.assign(assign),
            Stmt::AugAssign(assign) => self.augmented(assign),
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.expr(value);
                    self.assign_to(&assign.target);
                }
                if self.scope.kind == super::symbol_table::ScopeKind::Class
                    && let Expr::Name(name) = &*assign.target
                {
                    self.note_field(name.id.as_str(), &assign.annotation, assign.value.is_some());
                }
            }
            Stmt::Return(found) => self.return_(found.value.as_deref()),
            Stmt::If(found) => self.if_(found),
            Stmt::While(found) => self.while_(found),
            Stmt::For(found) => self.for_(found),
            Stmt::Break(_) => self.leave_loop(LoopExit::Break),
            Stmt::Continue(_) => self.leave_loop(LoopExit::Continue),
            Stmt::Pass(_) | Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::TypeAlias(_) => {}
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::Raise(found) => self.raise(found),
            Stmt::Try(found) => self.try_(found),
            Stmt::With(found) => self.with(found, &found.items),
            Stmt::Assert(found) => self.assert(found),
            Stmt::Delete(found) => found.targets.iter().for_each(|target| self.delete_target(target)),
            Stmt::Import(found) => self.import(found),
            Stmt::ImportFrom(found) => self.import_from(found),
            Stmt::Match(found) => self.match_(found),
            Stmt::IpyEscapeCommand(_) => self.unsupported("a notebook command"),
        }
    }

    fn assign(&mut self, assign: &'a ast::StmtAssign) {
        self.expr(&assign.value);
        let last = assign.targets.len().saturating_sub(1);
        for (index, target) in assign.targets.iter().enumerate() {
            if index < last {
                self.emit(Op::Dup);
            }
            self.assign_to(target);
        }
    }

    pub(super) fn return_(&mut self, value: Option<&'a Expr>) {
        match value {
            Some(value) => self.expr(value),
            None => self.constant(Const::None),
        }
        if self.around.iter().any(|around| !matches!(around, EnclosingBlock::Loop { .. })) {
            let kept = self.hidden();
            self.emit(Op::StoreLocal(kept));
            self.leave_to(0);
            self.emit(Op::LoadLocal(kept));
        }
        self.emit(Op::Return);
    }

    /// Emits the exits of all blocks from `depth` on. The list of blocks stays unchanged.
    pub(super) fn leave_to(&mut self, depth: usize) {
        let mut taken = Vec::new();
        while self.around.len() > depth {
            let Some(around) = self.around.pop() else { break };
            match &around {
                EnclosingBlock::Loop { .. } => {}
                EnclosingBlock::Try => {
                    self.emit(Op::PopTry);
                }
                EnclosingBlock::Finally(body) => {
                    let body = *body;
                    self.emit(Op::PopTry);
                    self.body(body);
                }
                EnclosingBlock::Handler(name) => {
                    let name = *name;
                    self.emit(Op::PopHandled);
                    self.unbind(name);
                }
                EnclosingBlock::With(exit) => {
                    let exit = *exit;
                    self.emit(Op::PopTry);
                    self.call_exit(exit);
                }
            }
            taken.push(around);
        }
        self.around.extend(taken.into_iter().rev());
    }

    fn leave_loop(&mut self, how: LoopExit) {
        let position = self.around.iter().rposition(|around| matches!(around, EnclosingBlock::Loop { .. }));
        let Some(position) = position else { return self.unsupported("a jump outside of a loop") };
        self.leave_to(position + 1);
        let jump = self.emit(Op::Jump(0));
        if let Some(EnclosingBlock::Loop { breaks, continues }) = self.around.get_mut(position) {
            match how {
                LoopExit::Break => breaks.push(jump),
                LoopExit::Continue => continues.push(jump),
            }
        }
    }

    fn if_(&mut self, found: &'a ast::StmtIf) {
        let mut ends = Vec::new();
        let mut next = self.condition(&found.test);
        self.body(&found.body);
        for clause in &found.elif_else_clauses {
            ends.push(self.emit(Op::Jump(0)));
            if let Some(jump) = next.take() {
                self.patch_jump(jump);
            }
            if let Some(test) = &clause.test {
                self.at(test);
                next = self.condition(test);
            }
            self.body(&clause.body);
        }
        next.into_iter().chain(ends).for_each(|jump| self.patch_jump(jump));
    }

    /// Lowers a condition. The jump is taken if it fails.
    fn condition(&mut self, test: &'a Expr) -> Option<usize> {
        self.expr(test);
        let branch = self.branch(test);
        self.at(test);
        Some(self.emit(Op::JumpIfFalse(0, branch)))
    }

    fn while_(&mut self, found: &'a ast::StmtWhile) {
        let start = Self::target(self.here());
        let exit = match &*found.test {
            Expr::BooleanLiteral(literal) if literal.value => None,
            test => self.condition(test),
        };
        self.around.push(EnclosingBlock::Loop { breaks: Vec::new(), continues: Vec::new() });
        self.body(&found.body);
        self.emit(Op::Jump(start));
        let around = self.around.pop();
        exit.into_iter().for_each(|jump| self.patch_jump(jump));
        self.body(&found.orelse);
        self.close_loop(around, start);
    }

    fn close_loop(&mut self, around: Option<EnclosingBlock<'a>>, start: u32) {
        if let Some(EnclosingBlock::Loop { breaks, continues }) = around {
            breaks.into_iter().for_each(|jump| self.patch_jump(jump));
            continues.into_iter().for_each(|jump| self.patch_jump_to(jump, start));
        }
    }

    fn for_(&mut self, found: &'a ast::StmtFor) {
        if found.is_async {
            return self.unsupported("async for");
        }
        self.expr(&found.iter);
        self.at(&*found.iter);
        self.emit(Op::GetIter);
        let iterator = self.hidden();
        self.emit(Op::StoreLocal(iterator));
        let start = Self::target(self.here());
        let text = self.source(&*found.iter);
        let at = self.place_of(ruff_text_size::Ranged::range(&*found.iter).start().to_usize(), self.line);
        let branch = self.branch_at(self.line, format!("for … in {text}"), at);
        let exit = self.emit(Op::ForIter(iterator, 0, branch));
        self.assign_to(&found.target);
        self.around.push(EnclosingBlock::Loop { breaks: Vec::new(), continues: Vec::new() });
        self.body(&found.body);
        self.emit(Op::Jump(start));
        let around = self.around.pop();
        self.patch_jump(exit);
        self.body(&found.orelse);
        self.close_loop(around, start);
    }

    fn function(&mut self, def: &'a ast::StmtFunctionDef) {
        if def.is_async {
            return self.unsupported("async def");
        }
        for decorator in &def.decorator_list {
            self.expr(&decorator.expression);
        }
        self.defaults(Some(&def.parameters));
        let outer = self.qualifier();
        let mut inner =
            CodeLowering::new(self.shared, key_of::<[Stmt]>(&def.body), def.name.as_str(), &outer);
        inner.at(def);
        inner.code.line = inner.line;
        inner.code.docstring = docstring(&def.body);
        inner.leading = true;
        inner.enter_function(Some(&def.parameters));
        inner.body(&def.body);
        inner.constant(Const::None);
        inner.emit(Op::Return);
        let code = inner.finish();
        self.make_function(code);
        for decorator in def.decorator_list.iter().rev() {
            self.at(&decorator.expression);
            self.emit(Op::Call(1, [].into()));
        }
        self.store(def.name.as_str());
    }

    /// The defaults of a function: a tuple of positional ones, a dict of keyword ones.
    pub(super) fn defaults(&mut self, parameters: Option<&'a ast::Parameters>) {
        let mut count = 0;
        let positional = parameters.into_iter().flat_map(|p| p.posonlyargs.iter().chain(&p.args));
        for default in positional.filter_map(|parameter| parameter.default()) {
            self.expr(default);
            count += 1;
        }
        self.emit(Op::BuildTuple(count));
        self.emit(Op::BuildDict);
        for parameter in parameters.into_iter().flat_map(|parameters| &parameters.kwonlyargs) {
            if let Some(default) = parameter.default() {
                self.text(parameter.name().as_str());
                self.expr(default);
                self.emit(Op::DictSet(1));
            }
        }
    }

    fn assert(&mut self, found: &'a ast::StmtAssert) {
        let leading = self.leading;
        self.expr(&found.test);
        let branch = if leading { NO_BRANCH } else { self.branch(&found.test) };
        self.at(found);
        let fine = self.emit(Op::JumpIfTrue(0, branch));
        if let Some(message) = &found.msg {
            self.expr(message);
        }
        self.at(found);
        self.emit(Op::RaiseAssert { has_message: found.msg.is_some(), leading });
        self.patch_jump(fine);
    }

    fn import(&mut self, found: &'a ast::StmtImport) {
        for alias in &found.names {
            let name = alias.name.as_str();
            self.emit(Op::Import(name.into()));
            match &alias.asname {
                Some(bound) => self.store(bound.as_str()),
                None if name.contains('.') => {
                    self.emit(Op::Pop);
                    let top = name.split('.').next().unwrap_or_default();
                    self.emit(Op::Import(top.into()));
                    self.store(top);
                }
                None => self.store(name),
            }
        }
    }

    fn import_from(&mut self, found: &'a ast::StmtImportFrom) {
        let module = found.module.as_ref().map(ToString::to_string).unwrap_or_default();
        if found.level > 0 {
            return self.unsupported("a relative import");
        }
        if module == "__future__" {
            return;
        }
        self.emit(Op::Import(module.as_str().into()));
        for alias in &found.names {
            let name = alias.name.as_str();
            if name == "*" {
                return self.unsupported("import *");
            }
            self.emit(Op::Dup);
            self.emit(Op::ImportFrom(name.into()));
            self.store(alias.asname.as_ref().unwrap_or(&alias.name).as_str());
        }
        self.emit(Op::Pop);
    }
}

enum LoopExit {
    Break,
    Continue,
}

/// Whether a statement can precede or be a leading assert: the docstring and the asserts after it.
fn is_leading(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Assert(_) => true,
        Stmt::Expr(found) => found.value.is_string_literal_expr(),
        _ => false,
    }
}

pub(super) fn docstring(body: &[Stmt]) -> Option<String> {
    match body.first() {
        Some(Stmt::Expr(first)) => match &*first.value {
            Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
            _ => None,
        },
        _ => None,
    }
}
