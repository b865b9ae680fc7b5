//! The scope of names in a function: local, captured or global.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{self as ast, Expr, ExprContext, Parameters, Pattern, Stmt};

/// The storage of a name, as CPython's symtable decides it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameAccess {
    Local,
    /// A local that a nested function captures, or a variable captured from outside.
    Cell,
    Global,
    /// A name of a class body.
    Named,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ScopeKind {
    Module,
    Function,
    Class,
}

#[derive(Clone, Debug)]
pub(super) struct SymbolTable {
    pub(super) kind: ScopeKind,
    pub(super) bound: BTreeSet<String>,
    pub(super) globals: BTreeSet<String>,
    /// Bound here and captured by a nested function.
    pub(super) captured: BTreeSet<String>,
    /// Captured from an enclosing function.
    pub(super) free: BTreeSet<String>,
    pub(super) is_generator: bool,
}

impl SymbolTable {
    pub(super) fn reach(&self, name: &str) -> NameAccess {
        if self.globals.contains(name) {
            return NameAccess::Global;
        }
        if self.free.contains(name) || self.captured.contains(name) {
            return NameAccess::Cell;
        }
        match self.kind {
            ScopeKind::Module => NameAccess::Global,
            ScopeKind::Class => NameAccess::Named,
            ScopeKind::Function if self.bound.contains(name) => NameAccess::Local,
            ScopeKind::Function => NameAccess::Global,
        }
    }
}

/// Collects the names used and bound in one scope. Nested scopes are collected in `inner`.
#[derive(Default)]
struct NameCollector<'a> {
    bound: BTreeSet<String>,
    used: BTreeSet<String>,
    globals: BTreeSet<String>,
    nonlocals: BTreeSet<String>,
    inner: Vec<NestedScope<'a>>,
    is_generator: bool,
}

enum NestedScope<'a> {
    Function(&'a Parameters, &'a [Stmt]),
    Lambda(Option<&'a Parameters>, &'a Expr),
    Class(&'a [Stmt]),
    Comprehension(Vec<&'a Expr>, &'a [ast::Comprehension]),
}

impl<'a> NameCollector<'a> {
    fn parameters(&mut self, parameters: &'a Parameters) {
        self.bound.extend(parameters.iter().map(|parameter| parameter.name().to_string()));
    }

    fn defaults(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            if let Some(default) = parameter.default() {
                self.visit_expr(default);
            }
        }
    }

    fn comprehension(&mut self, elements: Vec<&'a Expr>, generators: &'a [ast::Comprehension]) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        // A walrus inside a comprehension binds in the enclosing scope.
        let mut walrus = WalrusTargets::default();
        for element in &elements {
            walrus.visit_expr(element);
        }
        for condition in generators.iter().flat_map(|generator| &generator.ifs) {
            walrus.visit_expr(condition);
        }
        self.bound.extend(walrus.0);
        self.inner.push(NestedScope::Comprehension(elements, generators));
    }
}

#[derive(Default)]
struct WalrusTargets(BTreeSet<String>);

impl<'a> Visitor<'a> for WalrusTargets {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Named(named) = expr
            && let Expr::Name(name) = named.target.as_ref()
        {
            self.0.insert(name.id.to_string());
        }
        walk_expr(self, expr);
    }
}

impl<'a> Visitor<'a> for NameCollector<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                self.bound.insert(def.name.to_string());
                def.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                self.defaults(&def.parameters);
                self.inner.push(NestedScope::Function(&def.parameters, &def.body));
            }
            Stmt::ClassDef(class) => {
                self.bound.insert(class.name.to_string());
                class.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
                if let Some(arguments) = &class.arguments {
                    self.visit_arguments(arguments);
                }
                self.inner.push(NestedScope::Class(&class.body));
            }
            Stmt::Global(global) => self.globals.extend(global.names.iter().map(ToString::to_string)),
            Stmt::Nonlocal(names) => self.nonlocals.extend(names.names.iter().map(ToString::to_string)),
            Stmt::Import(import) => {
                for alias in &import.names {
                    let bound = alias.asname.as_ref().unwrap_or(&alias.name).to_string();
                    self.bound.insert(bound.split('.').next().unwrap_or_default().to_owned());
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.bound.insert(alias.asname.as_ref().unwrap_or(&alias.name).to_string());
                }
            }
            Stmt::AnnAssign(assign) => {
                // The annotation is never evaluated.
                self.visit_expr(&assign.target);
                if let Some(value) = &assign.value {
                    self.visit_expr(value);
                }
            }
            Stmt::Try(attempt) => {
                for handler in &attempt.handlers {
                    let ast::ExceptHandler::ExceptHandler(handler) = handler;
                    self.bound.extend(handler.name.iter().map(ToString::to_string));
                }
                walk_stmt(self, stmt);
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                let set = if name.ctx == ExprContext::Load { &mut self.used } else { &mut self.bound };
                set.insert(name.id.to_string());
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.defaults(parameters);
                }
                self.inner.push(NestedScope::Lambda(lambda.parameters.as_deref(), &lambda.body));
            }
            Expr::ListComp(comp) => self.comprehension(vec![&comp.elt], &comp.generators),
            Expr::SetComp(comp) => self.comprehension(vec![&comp.elt], &comp.generators),
            Expr::Generator(comp) => self.comprehension(vec![&comp.elt], &comp.generators),
            Expr::DictComp(comp) => {
                let elements = comp.key.as_deref().into_iter().chain([&*comp.value]).collect();
                self.comprehension(elements, &comp.generators);
            }
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                self.is_generator = true;
                walk_expr(self, expr);
            }
            _ => walk_expr(self, expr),
        }
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(found) => found.name.as_ref(),
            Pattern::MatchStar(found) => found.name.as_ref(),
            Pattern::MatchMapping(found) => found.rest.as_ref(),
            _ => None,
        };
        self.bound.extend(name.map(ToString::to_string));
        walk_pattern(self, pattern);
    }
}

/// The symbol tables of a module, resolved from the outermost scope inwards.
#[derive(Default, Debug)]
pub(super) struct SymbolTables {
    found: BTreeMap<ScopeKey, SymbolTable>,
}

/// The id of a scope: the address of its syntax node.
pub(super) type ScopeKey = usize;

pub(super) fn key_of<T: ?Sized>(syntax: &T) -> ScopeKey {
    std::ptr::from_ref(syntax).cast::<()>() as usize
}

impl SymbolTables {
    pub(super) fn of_module(body: &[Stmt]) -> Self {
        let mut scopes = Self::default();
        let mut collector = NameCollector::default();
        body.iter().for_each(|stmt| collector.visit_stmt(stmt));
        scopes.resolve(key_of(body), ScopeKind::Module, collector, &[]);
        scopes
    }

    /// A standalone expression, treated as part of a function with these parameters.
    pub(super) fn of_expression(expression: &Expr, parameters: &[String]) -> Self {
        let mut scopes = Self::default();
        let mut collector = NameCollector::default();
        collector.bound.extend(parameters.iter().cloned());
        collector.visit_expr(expression);
        scopes.resolve(key_of(expression), ScopeKind::Function, collector, &[]);
        scopes
    }

    pub(super) fn get(&self, key: ScopeKey) -> Option<&SymbolTable> {
        self.found.get(&key)
    }

    /// Resolves one scope. `outer` are the names that enclosing functions bind. Returns the captured ones.
    fn resolve(
        &mut self,
        key: ScopeKey,
        kind: ScopeKind,
        collected: NameCollector<'_>,
        outer: &[BTreeSet<String>],
    ) -> BTreeSet<String> {
        let NameCollector { mut bound, used, mut globals, mut nonlocals, inner, is_generator } = collected;
        let is_outside = |name: &String| outer.iter().any(|names| names.contains(name));
        globals.extend(nonlocals.iter().filter(|name| !is_outside(name)).cloned());
        nonlocals.retain(is_outside);
        for name in globals.iter().chain(&nonlocals) {
            bound.remove(name);
        }
        let mut visible = outer.to_vec();
        if kind == ScopeKind::Function {
            visible.push(bound.clone());
        }
        let mut wanted = BTreeSet::new();
        for scope in inner {
            let (key, kind, collector) = open(scope);
            wanted.extend(self.resolve(key, kind, collector, &visible));
        }
        let captured: BTreeSet<String> = if kind == ScopeKind::Function {
            wanted.intersection(&bound).cloned().collect()
        } else {
            BTreeSet::new()
        };
        let mut free: BTreeSet<String> =
            wanted.into_iter().filter(|name| !captured.contains(name) && is_outside(name)).collect();
        free.extend(
            used.into_iter()
                .filter(|name| !bound.contains(name) && !globals.contains(name) && is_outside(name)),
        );
        free.extend(nonlocals);
        let scope = SymbolTable { kind, bound, globals, captured, free: free.clone(), is_generator };
        self.found.insert(key, scope);
        free
    }
}

fn open(inner: NestedScope<'_>) -> (ScopeKey, ScopeKind, NameCollector<'_>) {
    let mut collector = NameCollector::default();
    match inner {
        NestedScope::Function(parameters, body) => {
            collector.parameters(parameters);
            body.iter().for_each(|stmt| collector.visit_stmt(stmt));
            (key_of(body), ScopeKind::Function, collector)
        }
        NestedScope::Lambda(parameters, body) => {
            if let Some(parameters) = parameters {
                collector.parameters(parameters);
            }
            collector.visit_expr(body);
            (key_of(body), ScopeKind::Function, collector)
        }
        NestedScope::Class(body) => {
            body.iter().for_each(|stmt| collector.visit_stmt(stmt));
            (key_of(body), ScopeKind::Class, collector)
        }
        NestedScope::Comprehension(elements, generators) => {
            for (index, generator) in generators.iter().enumerate() {
                collector.visit_expr(&generator.target);
                if index > 0 {
                    collector.visit_expr(&generator.iter);
                }
                generator.ifs.iter().for_each(|condition| collector.visit_expr(condition));
            }
            elements.iter().for_each(|element| collector.visit_expr(element));
            // Bound by a walrus: the enclosing scope owns it.
            let mut walrus = WalrusTargets::default();
            elements.iter().for_each(|element| walrus.visit_expr(element));
            for condition in generators.iter().flat_map(|generator| &generator.ifs) {
                walrus.visit_expr(condition);
            }
            for name in walrus.0 {
                collector.bound.remove(&name);
                collector.nonlocals.insert(name);
            }
            (key_of(generators), ScopeKind::Function, collector)
        }
    }
}
