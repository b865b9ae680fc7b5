//! Ownership of names. Inside a function, a name bound anywhere in it is never the built-in one. Outside of
//! functions, a name may always fall through to it.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, ExceptHandler, Expr, ExprContext, Parameters, Pattern, Stmt};
use ruff_text_size::{Ranged, TextSize};

/// The names of one function, lambda or comprehension.
#[derive(Debug, Default, Clone)]
pub(super) struct FunctionScope {
    bound: HashSet<String>,
    imported: HashSet<String>,
    global: HashSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameOwner {
    /// A function of the code bound the name.
    Function,
    /// Uncertain: the module or the built-in.
    Outside,
}

impl FunctionScope {
    pub(super) fn of_function(parameters: &Parameters, body: &[Stmt]) -> FunctionScope {
        let mut scope = FunctionScope::of_parameters(parameters);
        let mut collect = ScopeCollector { scope: &mut scope, outer: HashSet::new() };
        for statement in body {
            collect.visit_stmt(statement);
        }
        let outer = collect.outer;
        scope.bound.retain(|name| !outer.contains(name) && !scope.global.contains(name));
        scope
    }

    pub(super) fn of_parameters(parameters: &Parameters) -> FunctionScope {
        let bound = parameters.iter().map(|any| any.name().as_str().to_owned()).collect();
        FunctionScope { bound, ..FunctionScope::default() }
    }

    pub(super) fn of_targets<'a>(targets: impl Iterator<Item = &'a Expr>) -> FunctionScope {
        let mut scope = FunctionScope::default();
        let mut collect = ScopeCollector { scope: &mut scope, outer: HashSet::new() };
        for target in targets {
            collect.visit_expr(target);
        }
        scope
    }

    /// Looks a name up from the innermost scope outwards.
    pub(super) fn owner(scopes: &[FunctionScope], name: &str) -> NameOwner {
        for scope in scopes.iter().rev() {
            if scope.global.contains(name) {
                return NameOwner::Outside;
            }
            if scope.bound.contains(name) {
                return if scope.imported.contains(name) { NameOwner::Outside } else { NameOwner::Function };
            }
        }
        NameOwner::Outside
    }
}

struct ScopeCollector<'s> {
    scope: &'s mut FunctionScope,
    outer: HashSet<String>,
}

impl ScopeCollector<'_> {
    fn bind(&mut self, name: &str) {
        self.scope.bound.insert(name.to_owned());
    }
}

impl<'a> Visitor<'a> for ScopeCollector<'_> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            // Their bodies are separate scopes. Their names belong to this one.
            Stmt::FunctionDef(def) => self.bind(def.name.as_str()),
            Stmt::ClassDef(def) => self.bind(def.name.as_str()),
            Stmt::Global(names) => {
                self.scope.global.extend(names.names.iter().map(|name| name.as_str().to_owned()));
            }
            Stmt::Nonlocal(names) => {
                self.outer.extend(names.names.iter().map(|name| name.as_str().to_owned()))
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.ctx != ExprContext::Load => self.bind(name.id.as_str()),
            Expr::Lambda(_) => {}
            // The targets of a comprehension belong to it, but a walrus inside binds here.
            Expr::ListComp(inner) => self.visit_expr(&inner.elt),
            Expr::SetComp(inner) => self.visit_expr(&inner.elt),
            Expr::Generator(inner) => self.visit_expr(&inner.elt),
            _ => visitor::walk_expr(self, expression),
        }
    }

    fn visit_alias(&mut self, alias: &'a Alias) {
        let name = bound_by(alias);
        self.scope.imported.insert(name.clone());
        self.scope.bound.insert(name);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.bind(name.as_str());
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(inner) => inner.name.as_ref(),
            Pattern::MatchStar(inner) => inner.name.as_ref(),
            Pattern::MatchMapping(inner) => inner.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name.as_str());
        }
        visitor::walk_pattern(self, pattern);
    }
}

/// The name an import binds.
pub(super) fn bound_by(alias: &Alias) -> String {
    match &alias.asname {
        Some(name) => name.as_str().to_owned(),
        None => alias.name.as_str().split('.').next().unwrap_or_default().to_owned(),
    }
}

/// Names that the module itself certainly binds, with the position of the binding: by a statement that is
/// never skipped, and without a later deletion.
pub(super) fn certain(body: &[Stmt]) -> HashMap<String, TextSize> {
    let mut from = HashMap::new();
    for statement in body {
        let bound = match statement {
            // The body runs after the name is bound; defaults and decorators run before.
            Stmt::FunctionDef(def) => {
                def.body.first().map(|first| (def.name.as_str().to_owned(), first.start()))
            }
            Stmt::ClassDef(def) => Some((def.name.as_str().to_owned(), def.end())),
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [Expr::Name(name)] => Some((name.id.as_str().to_owned(), assign.end())),
                _ => None,
            },
            Stmt::AnnAssign(assign) => match (&*assign.target, &assign.value) {
                (Expr::Name(name), Some(_)) => Some((name.id.as_str().to_owned(), assign.end())),
                _ => None,
            },
            _ => None,
        };
        if let Some((name, at)) = bound {
            from.entry(name).or_insert(at);
        }
    }
    let mut deleted = DeletedNames(HashSet::new());
    for statement in body {
        deleted.visit_stmt(statement);
    }
    from.retain(|name, _| !deleted.0.contains(name));
    from
}

struct DeletedNames(HashSet<String>);

impl<'a> Visitor<'a> for DeletedNames {
    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Expr::Name(name) = expression
            && name.ctx == ExprContext::Del
        {
            self.0.insert(name.id.as_str().to_owned());
        }
        visitor::walk_expr(self, expression);
    }
}
