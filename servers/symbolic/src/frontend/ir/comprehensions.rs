//! Comprehensions: separate functions, called with the first iterator.

use std::rc::Rc;

use ruff_python_ast::{Comprehension, Expr};

use super::code::{Name, Op};
use super::lower::CodeLowering;
use super::symbol_table::key_of;

impl<'a> CodeLowering<'a, '_> {
    pub(super) fn comprehension(&mut self, expr: &'a Expr) {
        let (generators, kind) = match expr {
            Expr::ListComp(found) => (&found.generators, "<listcomp>"),
            Expr::SetComp(found) => (&found.generators, "<setcomp>"),
            Expr::DictComp(found) => (&found.generators, "<dictcomp>"),
            Expr::Generator(found) => (&found.generators, "<genexpr>"),
            _ => return,
        };
        if generators.iter().any(|generator| generator.is_async) {
            return self.unsupported("an async comprehension");
        }
        let Some(first) = generators.first() else { return };
        self.emit(Op::BuildTuple(0));
        self.emit(Op::BuildDict);
        let mut inner = CodeLowering::new(self.shared, key_of::<[Comprehension]>(generators), kind, "");
        inner.line = self.line;
        inner.code.line = self.line;
        inner.code.is_generator = kind == "<genexpr>";
        let argument: Name = Rc::from(".0");
        inner.code.parameters.positional.push(argument.clone());
        inner.local(&argument);
        inner.bind_cells();
        match expr {
            Expr::ListComp(_) => inner.emit(Op::BuildList(0)),
            Expr::SetComp(_) => inner.emit(Op::BuildSet(0)),
            Expr::DictComp(_) => inner.emit(Op::BuildDict),
            _ => inner.emit(Op::BuildTuple(0)),
        };
        inner.clauses(expr, generators, true);
        if kind == "<genexpr>" {
            inner.emit(Op::Pop);
            inner.constant(super::code::Const::None);
        }
        inner.emit(Op::Return);
        let code = inner.finish();
        self.make_function(code);
        self.expr(&first.iter);
        self.emit(Op::GetIter);
        self.emit(Op::Call(1, [].into()));
    }

    /// One `for` with its conditions and its inner clauses. The collection stays on the stack.
    fn clauses(&mut self, expr: &'a Expr, generators: &'a [Comprehension], is_first: bool) {
        let Some((generator, rest)) = generators.split_first() else { return self.element(expr) };
        let iterator = if is_first {
            0
        } else {
            self.expr(&generator.iter);
            self.emit(Op::GetIter);
            let iterator = self.hidden();
            self.emit(Op::StoreLocal(iterator));
            iterator
        };
        let start = Self::target(self.here());
        let exit = self.emit(Op::ForIter(iterator, 0, super::lower::NO_BRANCH));
        self.assign_to(&generator.target);
        for condition in &generator.ifs {
            self.expr(condition);
            let branch = self.branch(condition);
            let skip = self.emit(Op::JumpIfFalse(0, branch));
            self.patch_jump_to(skip, start);
        }
        self.clauses(expr, rest, false);
        self.emit(Op::Jump(start));
        self.patch_jump(exit);
    }

    fn element(&mut self, expr: &'a Expr) {
        match expr {
            Expr::ListComp(found) => {
                self.expr(&found.elt);
                self.emit(Op::ListAppend(1));
            }
            Expr::SetComp(found) => {
                self.expr(&found.elt);
                self.emit(Op::SetAdd(1));
            }
            Expr::DictComp(found) => {
                let Some(key) = &found.key else { return self.unsupported("this comprehension") };
                self.expr(key);
                self.expr(&found.value);
                self.emit(Op::DictSet(1));
            }
            Expr::Generator(found) => {
                self.expr(&found.elt);
                self.emit(Op::Yield);
                self.emit(Op::Pop);
            }
            _ => {}
        }
    }
}
