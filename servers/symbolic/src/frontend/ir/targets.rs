//! Targets of assignments.

use ruff_python_ast::{self as ast, Expr};

use super::code::Op;
use super::expressions::binary;
use super::lower::CodeLowering;

impl<'a> CodeLowering<'a, '_> {
    /// Assigns the top of the stack to a target.
    pub(super) fn assign_to(&mut self, target: &'a Expr) {
        match target {
            Expr::Name(name) => self.store(name.id.as_str()),
            Expr::Attribute(found) => {
                self.expr(&found.value);
                self.emit(Op::StoreAttr(found.attr.as_str().into()));
            }
            Expr::Subscript(found) => {
                self.expr(&found.value);
                self.expr(&found.slice);
                self.emit(Op::StoreSubscript);
            }
            Expr::Tuple(found) => self.unpack(&found.elts),
            Expr::List(found) => self.unpack(&found.elts),
            Expr::Starred(found) => self.assign_to(&found.value),
            _ => self.unsupported("this target"),
        }
    }

    fn unpack(&mut self, targets: &'a [Expr]) {
        match targets.iter().position(Expr::is_starred_expr) {
            None => self.emit(Op::Unpack(Self::target(targets.len()))),
            Some(before) => {
                let after = targets.len() - before - 1;
                self.emit(Op::UnpackStar(Self::target(before), Self::target(after)))
            }
        };
        // The first value is on top.
        targets.iter().for_each(|target| self.assign_to(target));
    }

    pub(super) fn augmented(&mut self, assign: &'a ast::StmtAugAssign) {
        let op = Op::InPlace(binary(assign.op));
        match &*assign.target {
            Expr::Name(name) => {
                self.load(name.id.as_str());
                self.expr(&assign.value);
                self.emit(op);
                self.store(name.id.as_str());
            }
            Expr::Attribute(found) => {
                self.expr(&found.value);
                self.emit(Op::Dup);
                self.emit(Op::LoadAttr(found.attr.as_str().into()));
                self.expr(&assign.value);
                self.emit(op);
                self.emit(Op::Swap);
                self.emit(Op::StoreAttr(found.attr.as_str().into()));
            }
            Expr::Subscript(found) => {
                self.expr(&found.value);
                self.expr(&found.slice);
                self.emit(Op::Dup2);
                self.emit(Op::Subscript);
                self.expr(&assign.value);
                self.emit(op);
                self.emit(Op::Rot3);
                self.emit(Op::StoreSubscript);
            }
            _ => self.unsupported("this target"),
        }
    }

    pub(super) fn delete_target(&mut self, target: &'a Expr) {
        match target {
            Expr::Name(name) => self.delete(name.id.as_str()),
            Expr::Attribute(found) => {
                self.expr(&found.value);
                self.emit(Op::DelAttr(found.attr.as_str().into()));
            }
            Expr::Subscript(found) => {
                self.expr(&found.value);
                self.expr(&found.slice);
                self.emit(Op::DelSubscript);
            }
            Expr::Tuple(found) => found.elts.iter().for_each(|target| self.delete_target(target)),
            Expr::List(found) => found.elts.iter().for_each(|target| self.delete_target(target)),
            _ => self.unsupported("this target"),
        }
    }
}
