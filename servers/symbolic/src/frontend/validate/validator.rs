//! Checks every name, attribute, import and text of the code: bodies, decorators, defaults, classes,
//! patterns, annotations, contracts in docstrings.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Comprehension, Expr, ExprCall, ExprContext, PatternKeyword, Stmt, StmtFunctionDef, StmtImport,
    StmtImportFrom,
};
use ruff_text_size::{Ranged, TextSize};

use super::lists::{
    ALL_BY_NAME, ALLOWED_MODULES, BLOCKED_ATTRIBUTES, BLOCKED_BUILTINS, BLOCKED_MEMBERS, BLOCKED_MODULES,
    BY_NAME, READ_ONLY_MODULES, SUBMODULES, is_foreign_module,
};
use super::scopes::{FunctionScope, NameOwner, bound_by, certain};
use super::text::{blocked_in, fold};

/// A name the code may not use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProhibitedUse {
    Blocked(String),
    NotAllowed(String),
}

/// A prohibited use and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prohibition {
    pub(super) what: ProhibitedUse,
    pub(super) at: TextSize,
}

/// The first prohibited use in the code.
pub(super) fn first_blocked(body: &[Stmt]) -> Option<Prohibition> {
    let mut walk = Validator { certain: certain(body), ..Validator::default() };
    let mut imports = Imports::default();
    imports.visit_body(body);
    walk.modules = imports.modules;
    walk.lookups = imports.lookups;
    walk.docstring(body);
    walk.visit_body(body);
    walk.found
}

/// The names that the code gives to modules and to functions that look up attributes by name.
#[derive(Default)]
struct Imports {
    modules: HashMap<String, String>,
    lookups: HashSet<String>,
}

impl<'a> Visitor<'a> for Imports {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let whole = alias.name.as_str();
                    let root = whole.split('.').next().unwrap_or_default();
                    let known = if alias.asname.is_some() { whole } else { root };
                    self.modules.insert(bound_by(alias), known.to_owned());
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    if ALL_BY_NAME.contains(&alias.name.as_str()) {
                        self.lookups.insert(bound_by(alias));
                    }
                    // `from collections import abc` also returns a module.
                    if let Some(module) = &import.module {
                        let whole = format!("{}.{}", module.as_str(), alias.name.as_str());
                        if SUBMODULES.contains(&whole.as_str()) {
                            self.modules.insert(bound_by(alias), whole);
                        }
                    }
                }
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }
}

#[derive(Default)]
struct Validator {
    scopes: Vec<FunctionScope>,
    certain: HashMap<String, TextSize>,
    modules: HashMap<String, String>,
    lookups: HashSet<String>,
    in_annotation: bool,
    found: Option<Prohibition>,
}

impl Validator {
    fn blocked(&mut self, name: impl Into<String>, at: TextSize) {
        self.report(ProhibitedUse::Blocked(name.into()), at);
    }

    fn report(&mut self, what: ProhibitedUse, at: TextSize) {
        if self.found.is_none() {
            self.found = Some(Prohibition { what, at });
        }
    }

    fn within(&mut self, scope: FunctionScope, work: impl FnOnce(&mut Validator)) {
        self.scopes.push(scope);
        work(self);
        self.scopes.pop();
    }

    fn is_own(&self, name: &str, at: TextSize) -> bool {
        match FunctionScope::owner(&self.scopes, name) {
            NameOwner::Function => true,
            NameOwner::Outside => self.certain.get(name).is_some_and(|from| at >= *from),
        }
    }

    /// The module that a name refers to.
    fn module(&self, expression: &Expr) -> Option<String> {
        let Expr::Name(name) = expression else { return None };
        if FunctionScope::owner(&self.scopes, name.id.as_str()) == NameOwner::Function {
            return None;
        }
        self.modules.get(name.id.as_str()).cloned()
    }

    fn name(&mut self, name: &str, context: ExprContext, at: TextSize) {
        if context != ExprContext::Load {
            // Binding such a name shadows it. Only these two have a special meaning.
            if name == "__builtins__" || name == "__class__" {
                self.blocked(name, at);
            }
            return;
        }
        if self.is_own(name, at) {
            return;
        }
        let by_name = BY_NAME.contains(&name) || ALL_BY_NAME.contains(&name) || self.lookups.contains(name);
        if by_name || BLOCKED_BUILTINS.contains(&name) {
            self.blocked(name, at);
        } else if self.modules.contains_key(name) {
            self.blocked(format!("module {name} as a value"), at);
        }
    }

    fn attribute(&mut self, name: &str, at: TextSize) {
        if BLOCKED_ATTRIBUTES.contains(&name) {
            self.blocked(name, at);
        }
    }

    /// Checks a member of a module, for every way of access.
    fn member(&mut self, module: &str, name: &str, at: TextSize) {
        self.attribute(name, at);
        let whole = format!("{module}.{name}");
        if SUBMODULES.contains(&whole.as_str()) || READ_ONLY_MODULES.contains(&module) {
            return;
        }
        let root = module.split('.').next().unwrap_or_default();
        if is_foreign_module(name) {
            self.blocked(format!("import {}", name.trim_start_matches('_')), at);
        } else if name.starts_with('_') && !(name.starts_with("__") && name.ends_with("__")) {
            self.blocked(whole, at);
        } else if BLOCKED_MEMBERS.contains(&(root, name)) {
            self.blocked(name, at);
        }
    }

    fn import(&mut self, import: &StmtImport) {
        for alias in &import.names {
            self.module_named(alias.name.as_str(), alias.start());
            self.name(&bound_by(alias), ExprContext::Store, alias.start());
        }
    }

    fn import_from(&mut self, import: &StmtImportFrom) {
        let module = import.module.as_ref().map(|name| name.as_str()).unwrap_or_default();
        if import.level > 0 {
            self.report(ProhibitedUse::NotAllowed(format!(".{module}")), import.start());
            return;
        }
        self.module_named(module, import.start());
        for alias in &import.names {
            if alias.name.as_str() != "*" {
                self.member(module, alias.name.as_str(), alias.start());
            }
            self.name(&bound_by(alias), ExprContext::Store, alias.start());
        }
    }

    fn module_named(&mut self, whole: &str, at: TextSize) {
        let root = whole.split('.').next().unwrap_or_default();
        let is_submodule = whole != root && !SUBMODULES.contains(&whole);
        if BLOCKED_MODULES.contains(&root) {
            self.blocked(format!("import {root}"), at);
        } else if READ_ONLY_MODULES.contains(&root) {
            // Read as contracts, never executed.
        } else if !ALLOWED_MODULES.contains(&root) || is_submodule {
            self.report(ProhibitedUse::NotAllowed(whole.to_owned()), at);
        }
    }

    /// Checks a call together with its arguments, if it looks up attributes. Returns whether it does.
    fn lookup(&mut self, call: &ExprCall) -> bool {
        let function = match &*call.func {
            Expr::Name(name) if !self.is_own(name.id.as_str(), name.start()) => name.id.as_str(),
            Expr::Attribute(attribute) if self.module(&attribute.value).is_some() => attribute.attr.as_str(),
            _ => return false,
        };
        let by_name = BY_NAME.contains(&function) && matches!(&*call.func, Expr::Name(_));
        let all_by_name = ALL_BY_NAME.contains(&function) || self.lookups.contains(function);
        if !by_name && !all_by_name {
            return false;
        }
        let starred = call.arguments.args.iter().any(Expr::is_starred_expr)
            || call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        let names: Vec<&Expr> = if by_name {
            call.arguments.args.get(1).into_iter().collect()
        } else if function == "methodcaller" {
            call.arguments.args.first().into_iter().collect()
        } else {
            call.arguments.args.iter().collect()
        };
        if starred || names.is_empty() {
            self.blocked(function, call.start());
        }
        let target =
            by_name.then(|| call.arguments.args.first().and_then(|first| self.module(first))).flatten();
        for name in names {
            match (fold(name), &target) {
                (None, _) => self.blocked(function, name.start()),
                (Some(text), Some(module)) => self.member(module, &text, name.start()),
                (Some(text), None) => {
                    for step in text.split('.') {
                        self.attribute(step, name.start());
                    }
                }
            }
        }
        let skip_target = usize::from(target.is_some());
        for argument in call.arguments.args.iter().skip(skip_target) {
            self.visit_expr(argument);
        }
        for keyword in &call.arguments.keywords {
            self.visit_expr(&keyword.value);
        }
        true
    }

    fn function(&mut self, def: &StmtFunctionDef) {
        for decorator in &def.decorator_list {
            self.visit_decorator(decorator);
        }
        if let Some(parameters) = &def.type_params {
            self.visit_type_params(parameters);
        }
        self.visit_parameters(&def.parameters);
        if let Some(returns) = &def.returns {
            self.visit_annotation(returns);
        }
        let scope = FunctionScope::of_function(&def.parameters, &def.body);
        self.within(scope, |walk| {
            walk.docstring(&def.body);
            walk.visit_body(&def.body);
        });
    }

    /// Contracts in a docstring are code.
    fn docstring(&mut self, body: &[Stmt]) {
        let Some(Stmt::Expr(first)) = body.first() else { return };
        let Expr::StringLiteral(text) = &*first.value else { return };
        for line in text.value.to_str().lines() {
            let line = line.trim();
            let kind = ["pre", "post", "inv", "raises"].into_iter().find(|kind| line.starts_with(kind));
            if let Some((head, condition)) = line.split_once(':')
                && kind.is_some_and(|kind| head == kind || head.starts_with(&format!("{kind}[")))
            {
                self.written(condition.trim(), first.start());
            }
        }
    }

    /// Validates code inside a string literal. Findings are reported at the literal.
    fn written(&mut self, code: &str, at: TextSize) {
        let Ok(parsed) = ruff_python_parser::parse_expression(code) else { return };
        let before = self.found.is_some();
        self.visit_expr(&parsed.syntax().body);
        if !before && let Some(found) = &mut self.found {
            found.at = at;
        }
    }

    fn comprehension(&mut self, results: &[&Expr], generators: &[Comprehension]) {
        // The first iterable of a comprehension is evaluated in the enclosing scope.
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        let scope = FunctionScope::of_targets(generators.iter().map(|generator| &generator.target));
        self.within(scope, |walk| {
            for (place, generator) in generators.iter().enumerate() {
                if place > 0 {
                    walk.visit_expr(&generator.iter);
                }
                walk.visit_expr(&generator.target);
                for condition in &generator.ifs {
                    walk.visit_expr(condition);
                }
            }
            for result in results {
                walk.visit_expr(result);
            }
        });
    }
}

impl<'a> Visitor<'a> for Validator {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if self.found.is_some() {
            return;
        }
        match statement {
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(def) => {
                self.docstring(&def.body);
                visitor::walk_stmt(self, statement);
            }
            // A standalone text is a comment.
            Stmt::Expr(alone) if alone.value.is_string_literal_expr() => {}
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_annotation(&mut self, annotation: &'a Expr) {
        let before = std::mem::replace(&mut self.in_annotation, true);
        self.visit_expr(annotation);
        self.in_annotation = before;
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if self.found.is_some() {
            return;
        }
        match expression {
            Expr::Name(name) => return self.name(name.id.as_str(), name.ctx, name.start()),
            Expr::Attribute(attribute) => {
                if let Some(module) = self.module(&attribute.value) {
                    self.member(&module, attribute.attr.as_str(), attribute.attr.start());
                    if ALL_BY_NAME.contains(&attribute.attr.as_str()) {
                        self.blocked(attribute.attr.as_str(), attribute.attr.start());
                    }
                    return;
                }
                self.attribute(attribute.attr.as_str(), attribute.attr.start());
            }
            Expr::Call(call) if self.lookup(call) => return,
            Expr::Lambda(lambda) => {
                let scope =
                    lambda.parameters.as_deref().map(FunctionScope::of_parameters).unwrap_or_default();
                if let Some(parameters) = &lambda.parameters {
                    self.visit_parameters(parameters);
                }
                return self.within(scope, |walk| walk.visit_expr(&lambda.body));
            }
            Expr::ListComp(inner) => return self.comprehension(&[&inner.elt], &inner.generators),
            Expr::SetComp(inner) => return self.comprehension(&[&inner.elt], &inner.generators),
            Expr::Generator(inner) => return self.comprehension(&[&inner.elt], &inner.generators),
            Expr::DictComp(inner) => {
                let mut results: Vec<&Expr> = vec![&inner.value];
                results.extend(inner.key.as_deref());
                return self.comprehension(&results, &inner.generators);
            }
            Expr::Subscript(subscript) if self.in_annotation && is_literal(&subscript.value) => {
                return self.visit_expr(&subscript.value);
            }
            Expr::StringLiteral(text) if self.in_annotation => {
                let code = text.value.to_str().to_owned();
                self.in_annotation = false;
                self.written(&code, text.start());
                self.in_annotation = true;
                return;
            }
            _ => {}
        }
        if let Some(name) = fold(expression).as_deref().and_then(blocked_in) {
            return self.blocked(name, expression.start());
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_pattern_keyword(&mut self, keyword: &'a PatternKeyword) {
        self.attribute(keyword.attr.as_str(), keyword.attr.start());
        visitor::walk_pattern_keyword(self, keyword);
    }
}

/// `Literal["eval"]` is a text, not code.
fn is_literal(of: &Expr) -> bool {
    match of {
        Expr::Name(name) => name.id.as_str() == "Literal",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "Literal",
        _ => false,
    }
}
