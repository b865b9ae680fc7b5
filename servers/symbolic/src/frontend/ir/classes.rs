//! Classes: a body function that fills a namespace.

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::code::{Const, Op};
use super::expressions::SequenceKind;
use super::lower::CodeLowering;
use super::symbol_table::key_of;

/// The name under which a class body stores its annotated fields: name, whether it has a value, and the
/// annotation's text.
pub(crate) const FIELDS: &str = "__annotations__";

impl<'a> CodeLowering<'a, '_> {
    pub(super) fn class(&mut self, class: &'a ast::StmtClassDef) {
        for decorator in &class.decorator_list {
            self.expr(&decorator.expression);
        }
        self.emit(Op::BuildTuple(0));
        self.emit(Op::BuildDict);
        let outer = self.qualifier();
        let mut inner =
            CodeLowering::new(self.shared, key_of::<[Stmt]>(&class.body), class.name.as_str(), &outer);
        inner.at(class);
        inner.bind_cells();
        inner.emit(Op::BuildDict);
        inner.emit(Op::StoreName(FIELDS.into()));
        if let Some(text) = super::statements::docstring(&class.body) {
            inner.text(&text);
            inner.emit(Op::StoreName("__doc__".into()));
        }
        inner.body(&class.body);
        inner.constant(Const::None);
        inner.emit(Op::Return);
        let code = inner.finish();
        self.make_function(code);
        let (bases, keywords): (&[Expr], &[ast::Keyword]) = match &class.arguments {
            Some(arguments) => (&arguments.args, &arguments.keywords),
            None => (&[], &[]),
        };
        self.sequence(bases, SequenceKind::Tuple);
        self.emit(Op::BuildDict);
        for keyword in keywords {
            let Some(name) = &keyword.arg else { return self.unsupported("** in a class statement") };
            self.text(name.as_str());
            self.expr(&keyword.value);
            self.emit(Op::DictSet(1));
        }
        self.emit(Op::MakeClass(class.name.as_str().into()));
        for decorator in class.decorator_list.iter().rev() {
            self.at(&decorator.expression);
            self.emit(Op::Call(1, [].into()));
        }
        self.store(class.name.as_str());
    }

    /// Records an annotated name of a class body, in order, with the text of its annotation.
    pub(super) fn note_field(&mut self, name: &str, annotation: &'a Expr, _has_value: bool) {
        self.emit(Op::LoadName(FIELDS.into()));
        self.text(name);
        let text = self.source(annotation);
        self.text(text);
        self.emit(Op::DictSet(1));
        self.emit(Op::Pop);
    }
}
