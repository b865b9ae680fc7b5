//! Expressions. Each pushes one value.

use std::rc::Rc;

use num_bigint::BigInt;
use ruff_python_ast::{self as ast, Expr, Number};
use ruff_text_size::Ranged;

use super::code::{BinaryOp, CompareOp, Const, Name, Op, UnaryOp};
use super::lower::{CodeLowering, NO_BRANCH};
use super::symbol_table::key_of;

impl<'a> CodeLowering<'a, '_> {
    /// The source text of a node.
    pub(super) fn source<T: Ranged>(&self, node: &T) -> &'a str {
        let range = node.range();
        let text = self.shared.program.code().get(range.start().to_usize()..range.end().to_usize());
        text.unwrap_or_default()
    }

    pub(super) fn expr(&mut self, expr: &'a Expr) {
        let line = self.line;
        self.at(expr);
        self.expr_here(expr);
        self.line = line;
    }

    fn expr_here(&mut self, expr: &'a Expr) {
        match expr {
            Expr::NoneLiteral(_) => self.constant(Const::None),
            Expr::EllipsisLiteral(_) => self.constant(Const::Ellipsis),
            Expr::BooleanLiteral(found) => self.constant(Const::Bool(found.value)),
            Expr::NumberLiteral(found) => self.number(&found.value),
            Expr::StringLiteral(found) => self.string_literal(found),
            Expr::BytesLiteral(found) => {
                let bytes = found.value.bytes().collect();
                self.constant(Const::Bytes(Rc::new(bytes)));
            }
            Expr::FString(found) => self.f_string(found),
            Expr::Name(name) => self.load(name.id.as_str()),
            Expr::BoolOp(found) => self.bool_op(found),
            Expr::Named(found) => {
                self.expr(&found.value);
                self.emit(Op::Dup);
                self.assign_to(&found.target);
            }
            Expr::BinOp(found) => {
                self.expr(&found.left);
                self.expr(&found.right);
                self.emit(Op::Binary(binary(found.op)));
            }
            Expr::UnaryOp(found) => {
                self.expr(&found.operand);
                self.emit(Op::Unary(match found.op {
                    ast::UnaryOp::Invert => UnaryOp::Invert,
                    ast::UnaryOp::Not => UnaryOp::Not,
                    ast::UnaryOp::UAdd => UnaryOp::Pos,
                    ast::UnaryOp::USub => UnaryOp::Neg,
                }));
            }
            Expr::Lambda(found) => self.lambda(found),
            Expr::If(found) => {
                self.expr(&found.test);
                let branch = self.branch(&found.test);
                let other = self.emit(Op::JumpIfFalse(0, branch));
                self.expr(&found.body);
                let end = self.emit(Op::Jump(0));
                self.patch_jump(other);
                self.expr(&found.orelse);
                self.patch_jump(end);
            }
            Expr::Tuple(found) => self.sequence(&found.elts, SequenceKind::Tuple),
            Expr::List(found) => self.sequence(&found.elts, SequenceKind::List),
            Expr::Set(found) => self.sequence(&found.elts, SequenceKind::Set),
            Expr::Dict(found) => self.dict(found),
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.comprehension(expr);
            }
            Expr::Yield(found) => {
                match &found.value {
                    Some(value) => self.expr(value),
                    None => self.constant(Const::None),
                }
                self.emit(Op::Yield);
            }
            Expr::YieldFrom(found) => {
                self.expr(&found.value);
                self.emit(Op::GetIter);
                self.emit(Op::YieldFrom);
            }
            Expr::Compare(found) => self.compare(found),
            Expr::Call(found) => self.call(found),
            Expr::Attribute(found) => {
                self.expr(&found.value);
                self.emit(Op::LoadAttr(found.attr.as_str().into()));
            }
            Expr::Subscript(found) => {
                self.expr(&found.value);
                self.expr(&found.slice);
                self.emit(Op::Subscript);
            }
            Expr::Slice(found) => {
                for part in [&found.lower, &found.upper, &found.step] {
                    match part {
                        Some(part) => self.expr(part),
                        None => self.constant(Const::None),
                    }
                }
                self.emit(Op::BuildSlice);
            }
            Expr::Starred(_) => self.unsupported("a star here"),
            Expr::Await(_) => self.unsupported("await"),
            Expr::TString(_) => self.unsupported("a template string"),
            Expr::IpyEscapeCommand(_) => self.unsupported("a notebook command"),
        }
    }

    fn number(&mut self, number: &Number) {
        match number {
            Number::Int(value) => match value.as_i64() {
                Some(small) => self.constant(Const::Int(small.into())),
                None => self.big(&value.to_string()),
            },
            Number::Float(value) => self.constant(Const::Float(*value)),
            Number::Complex { .. } => self.unsupported("a complex number"),
        }
    }

    fn big(&mut self, text: &str) {
        let plain: String = text.chars().filter(|c| *c != '_').collect::<String>().to_lowercase();
        let (digits, radix) = match plain.get(..2) {
            Some("0x") => (plain.get(2..), 16),
            Some("0o") => (plain.get(2..), 8),
            Some("0b") => (plain.get(2..), 2),
            _ => (plain.get(..), 10),
        };
        let value = digits.and_then(|digits| BigInt::parse_bytes(digits.as_bytes(), radix));
        match value {
            Some(value) => self.constant(Const::Int(value)),
            None => self.unsupported("this number"),
        }
    }

    fn bool_op(&mut self, found: &'a ast::ExprBoolOp) {
        let mut jumps = Vec::new();
        for (index, value) in found.values.iter().enumerate() {
            self.expr(value);
            if index + 1 < found.values.len() {
                jumps.push(self.emit(match found.op {
                    ast::BoolOp::And => Op::JumpIfFalseOrPop(0),
                    ast::BoolOp::Or => Op::JumpIfTrueOrPop(0),
                }));
            }
        }
        jumps.into_iter().for_each(|jump| self.patch_jump(jump));
    }

    fn compare(&mut self, found: &'a ast::ExprCompare) {
        self.expr(&found.left);
        let mut jumps = Vec::new();
        let last = found.ops.len().saturating_sub(1);
        for (index, (op, right)) in found.ops.iter().zip(&found.comparators).enumerate() {
            self.expr(right);
            if index < last {
                // `a < b < c`: keep b below the result.
                self.emit(Op::Dup);
                self.emit(Op::Rot3);
                self.emit(Op::Compare(comparison(*op)));
                jumps.push(self.emit(Op::JumpIfFalseOrPop(0)));
            } else {
                self.emit(Op::Compare(comparison(*op)));
            }
        }
        if !jumps.is_empty() {
            let end = self.emit(Op::Jump(0));
            jumps.into_iter().for_each(|jump| self.patch_jump(jump));
            // Here the middle operand is still below the result.
            self.emit(Op::Swap);
            self.emit(Op::Pop);
            self.patch_jump(end);
        }
    }

    fn lambda(&mut self, found: &'a ast::ExprLambda) {
        self.defaults(found.parameters.as_deref());
        let mut inner = CodeLowering::new(self.shared, key_of::<Expr>(&found.body), "<lambda>", "");
        inner.line = self.line;
        inner.code.line = self.line;
        inner.enter_function(found.parameters.as_deref());
        inner.expr(&found.body);
        inner.emit(Op::Return);
        let code = inner.finish();
        self.make_function(code);
    }

    pub(super) fn sequence(&mut self, items: &'a [Expr], kind: SequenceKind) {
        if !items.iter().any(Expr::is_starred_expr) {
            items.iter().for_each(|item| self.expr(item));
            let count = Self::target(items.len());
            self.emit(match kind {
                SequenceKind::Tuple => Op::BuildTuple(count),
                SequenceKind::List => Op::BuildList(count),
                SequenceKind::Set => Op::BuildSet(count),
            });
            return;
        }
        self.emit(if kind == SequenceKind::Set { Op::BuildSet(0) } else { Op::BuildList(0) });
        for item in items {
            match item {
                Expr::Starred(starred) => {
                    self.expr(&starred.value);
                    self.emit(if kind == SequenceKind::Set { Op::SetUpdate } else { Op::ListExtend });
                }
                item => {
                    self.expr(item);
                    self.emit(if kind == SequenceKind::Set { Op::SetAdd(1) } else { Op::ListAppend(1) });
                }
            }
        }
        if kind == SequenceKind::Tuple {
            self.emit(Op::ListToTuple);
        }
    }

    fn dict(&mut self, found: &'a ast::ExprDict) {
        self.emit(Op::BuildDict);
        for item in &found.items {
            match &item.key {
                Some(key) => {
                    self.expr(key);
                    self.expr(&item.value);
                    self.emit(Op::DictSet(1));
                }
                None => {
                    self.expr(&item.value);
                    self.emit(Op::DictMerge);
                }
            }
        }
    }

    fn call(&mut self, found: &'a ast::ExprCall) {
        self.expr(&found.func);
        let arguments = &found.arguments;
        let spreads = arguments.args.iter().any(Expr::is_starred_expr)
            || arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        if !spreads {
            arguments.args.iter().for_each(|argument| self.expr(argument));
            arguments.keywords.iter().for_each(|keyword| self.expr(&keyword.value));
            let names: Vec<Name> =
                arguments.keywords.iter().filter_map(|k| k.arg.as_ref()).map(|n| n.as_str().into()).collect();
            self.emit(Op::Call(Self::target(arguments.args.len()), names.into()));
            return;
        }
        self.sequence(&arguments.args, SequenceKind::List);
        self.emit(Op::BuildDict);
        for keyword in &arguments.keywords {
            match &keyword.arg {
                Some(name) => {
                    self.text(name.as_str());
                    self.expr(&keyword.value);
                    self.emit(Op::DictSet(1));
                }
                None => {
                    self.expr(&keyword.value);
                    self.emit(Op::KeywordMerge);
                }
            }
        }
        self.emit(Op::CallSpread);
    }

    /// A jump that is not a branch of the source.
    pub(super) fn jump_if_false(&mut self) -> usize {
        self.emit(Op::JumpIfFalse(0, NO_BRANCH))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SequenceKind {
    Tuple,
    List,
    Set,
}

pub(super) fn binary(op: ast::Operator) -> BinaryOp {
    match op {
        ast::Operator::Add => BinaryOp::Add,
        ast::Operator::Sub => BinaryOp::Sub,
        ast::Operator::Mult => BinaryOp::Mul,
        ast::Operator::MatMult => BinaryOp::MatMul,
        ast::Operator::Div => BinaryOp::Div,
        ast::Operator::Mod => BinaryOp::Mod,
        ast::Operator::Pow => BinaryOp::Pow,
        ast::Operator::LShift => BinaryOp::LShift,
        ast::Operator::RShift => BinaryOp::RShift,
        ast::Operator::BitOr => BinaryOp::Or,
        ast::Operator::BitXor => BinaryOp::Xor,
        ast::Operator::BitAnd => BinaryOp::And,
        ast::Operator::FloorDiv => BinaryOp::FloorDiv,
    }
}

fn comparison(op: ast::CmpOp) -> CompareOp {
    match op {
        ast::CmpOp::Eq => CompareOp::Eq,
        ast::CmpOp::NotEq => CompareOp::Ne,
        ast::CmpOp::Lt => CompareOp::Lt,
        ast::CmpOp::LtE => CompareOp::Le,
        ast::CmpOp::Gt => CompareOp::Gt,
        ast::CmpOp::GtE => CompareOp::Ge,
        ast::CmpOp::Is => CompareOp::Is,
        ast::CmpOp::IsNot => CompareOp::IsNot,
        ast::CmpOp::In => CompareOp::In,
        ast::CmpOp::NotIn => CompareOp::NotIn,
    }
}
