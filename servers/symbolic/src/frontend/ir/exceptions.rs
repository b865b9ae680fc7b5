//! `raise`, `try` and `with`: the exception edges.

use ruff_python_ast::{self as ast, ExceptHandler, Stmt};

use super::code::{Const, Op};
use super::lower::{CodeLowering, EnclosingBlock};

impl<'a> CodeLowering<'a, '_> {
    pub(super) fn raise(&mut self, found: &'a ast::StmtRaise) {
        match (&found.exc, &found.cause) {
            (None, _) => {
                self.emit(Op::Reraise);
            }
            (Some(exception), None) => {
                self.expr(exception);
                self.emit(Op::Raise);
            }
            (Some(exception), Some(cause)) => {
                self.expr(exception);
                self.expr(cause);
                self.emit(Op::RaiseFrom);
            }
        }
    }

    pub(super) fn try_(&mut self, found: &'a ast::StmtTry) {
        if found.is_star {
            return self.unsupported("except*");
        }
        if found.finalbody.is_empty() {
            return self.try_except(found);
        }
        let edge = self.emit(Op::SetupTry(0));
        self.around.push(EnclosingBlock::Finally(&found.finalbody));
        if found.handlers.is_empty() {
            self.body(&found.body);
        } else {
            self.try_except(found);
        }
        self.around.pop();
        self.emit(Op::PopTry);
        self.body(&found.finalbody);
        let end = self.emit(Op::Jump(0));
        self.patch_jump(edge);
        self.emit(Op::Pop);
        self.around.push(EnclosingBlock::Handler(None));
        self.body(&found.finalbody);
        self.around.pop();
        self.emit(Op::Reraise);
        self.patch_jump(end);
    }

    fn try_except(&mut self, found: &'a ast::StmtTry) {
        let edge = self.emit(Op::SetupTry(0));
        self.around.push(EnclosingBlock::Try);
        self.body(&found.body);
        self.around.pop();
        self.emit(Op::PopTry);
        self.body(&found.orelse);
        let mut ends = vec![self.emit(Op::Jump(0))];
        self.patch_jump(edge);
        for handler in &found.handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            self.at(handler);
            let next = handler.type_.as_ref().map(|class| {
                self.expr(class);
                self.emit(Op::MatchException);
                self.jump_if_false()
            });
            let name = handler.name.as_ref().map(ast::Identifier::as_str);
            match name {
                Some(name) => self.store(name),
                None => {
                    self.emit(Op::Pop);
                }
            }
            self.handler_body(name, &handler.body);
            ends.push(self.emit(Op::Jump(0)));
            next.into_iter().for_each(|jump| self.patch_jump(jump));
        }
        self.emit(Op::Pop);
        self.emit(Op::Reraise);
        ends.into_iter().for_each(|jump| self.patch_jump(jump));
    }

    /// The name of a caught exception is unbound at every exit of its handler.
    fn handler_body(&mut self, name: Option<&'a str>, body: &'a [Stmt]) {
        let edge = name.map(|_| {
            let edge = self.emit(Op::SetupTry(0));
            self.around.push(EnclosingBlock::Handler(name));
            self.around.push(EnclosingBlock::Try);
            edge
        });
        if edge.is_none() {
            self.around.push(EnclosingBlock::Handler(None));
        }
        self.body(body);
        self.around.pop();
        if edge.is_some() {
            self.around.pop();
            self.emit(Op::PopTry);
        }
        self.emit(Op::PopHandled);
        self.unbind(name);
        if let Some(edge) = edge {
            let end = self.emit(Op::Jump(0));
            self.patch_jump(edge);
            self.emit(Op::Pop);
            self.unbind(name);
            self.emit(Op::Reraise);
            self.patch_jump(end);
        }
    }

    pub(super) fn unbind(&mut self, name: Option<&str>) {
        if let Some(name) = name {
            self.constant(Const::None);
            self.store(name);
            self.delete(name);
        }
    }

    pub(super) fn with(&mut self, found: &'a ast::StmtWith, items: &'a [ast::WithItem]) {
        if found.is_async {
            return self.unsupported("async with");
        }
        let Some((item, rest)) = items.split_first() else { return self.body(&found.body) };
        self.expr(&item.context_expr);
        self.emit(Op::Dup);
        self.emit(Op::LoadAttr("__exit__".into()));
        let exit = self.hidden();
        self.emit(Op::StoreLocal(exit));
        self.emit(Op::LoadAttr("__enter__".into()));
        self.emit(Op::Call(0, [].into()));
        let edge = self.emit(Op::SetupTry(0));
        match &item.optional_vars {
            Some(target) => self.assign_to(target),
            None => {
                self.emit(Op::Pop);
            }
        }
        self.around.push(EnclosingBlock::With(exit));
        self.with(found, rest);
        self.around.pop();
        self.emit(Op::PopTry);
        self.call_exit(exit);
        let end = self.emit(Op::Jump(0));
        self.patch_jump(edge);
        // The exception is on the stack: exit(type(e), e, None).
        let exception = self.hidden();
        self.emit(Op::StoreLocal(exception));
        self.emit(Op::LoadLocal(exit));
        self.emit(Op::LoadGlobal("type".into()));
        self.emit(Op::LoadLocal(exception));
        self.emit(Op::Call(1, [].into()));
        self.emit(Op::LoadLocal(exception));
        self.constant(Const::None);
        self.emit(Op::Call(3, [].into()));
        let swallowed = self.emit(Op::JumpIfTrue(0, super::lower::NO_BRANCH));
        self.emit(Op::Reraise);
        self.patch_jump(swallowed);
        self.emit(Op::PopHandled);
        self.patch_jump(end);
    }

    pub(super) fn call_exit(&mut self, exit: u32) {
        self.emit(Op::LoadLocal(exit));
        for _ in 0..3 {
            self.constant(Const::None);
        }
        self.emit(Op::Call(3, [].into()));
        self.emit(Op::Pop);
    }
}
