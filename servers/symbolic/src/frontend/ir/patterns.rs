//! Pattern matching with `match`.

use std::rc::Rc;

use ruff_python_ast::{self as ast, Pattern, Singleton};

use super::code::{CompareOp, Const, Name, Op};
use super::lower::CodeLowering;

impl<'a> CodeLowering<'a, '_> {
    pub(super) fn match_(&mut self, found: &'a ast::StmtMatch) {
        self.expr(&found.subject);
        let subject = self.hidden();
        self.emit(Op::StoreLocal(subject));
        let mut ends = Vec::new();
        for case in &found.cases {
            self.at(&case.pattern);
            let mut fails = Vec::new();
            self.pattern(&case.pattern, subject, &mut fails);
            if let Some(guard) = &case.guard {
                self.expr(guard);
                let branch = self.branch(guard);
                fails.push(self.emit(Op::JumpIfFalse(0, branch)));
            }
            self.body(&case.body);
            ends.push(self.emit(Op::Jump(0)));
            fails.into_iter().for_each(|jump| self.patch_jump(jump));
        }
        ends.into_iter().for_each(|jump| self.patch_jump(jump));
    }

    fn fail_unless(&mut self, fails: &mut Vec<usize>, pattern: &'a Pattern) {
        let text = format!("case {}", self.source(pattern));
        let branch = self.branch_at(self.line, text, None);
        fails.push(self.emit(Op::JumpIfFalse(0, branch)));
    }

    /// Tests the value in a local. The jumps in `fails` are taken if it does not match.
    fn pattern(&mut self, pattern: &'a Pattern, subject: u32, fails: &mut Vec<usize>) {
        match pattern {
            Pattern::MatchValue(found) => {
                self.emit(Op::LoadLocal(subject));
                self.expr(&found.value);
                self.emit(Op::Compare(CompareOp::Eq));
                self.fail_unless(fails, pattern);
            }
            Pattern::MatchSingleton(found) => {
                self.emit(Op::LoadLocal(subject));
                self.constant(match found.value {
                    Singleton::None => Const::None,
                    Singleton::True => Const::Bool(true),
                    Singleton::False => Const::Bool(false),
                });
                self.emit(Op::Compare(CompareOp::Is));
                self.fail_unless(fails, pattern);
            }
            Pattern::MatchAs(found) => {
                if let Some(inner) = &found.pattern {
                    self.pattern(inner, subject, fails);
                }
                self.capture(found.name.as_ref(), subject);
            }
            Pattern::MatchStar(_) => self.unsupported("a star pattern here"),
            Pattern::MatchOr(found) => self.alternatives(found, subject, fails),
            Pattern::MatchSequence(found) => self.sequence_pattern(pattern, &found.patterns, subject, fails),
            Pattern::MatchMapping(found) => self.mapping_pattern(pattern, found, subject, fails),
            Pattern::MatchClass(found) => self.class_pattern(pattern, found, subject, fails),
        }
    }

    fn capture(&mut self, name: Option<&'a ast::Identifier>, subject: u32) {
        if let Some(name) = name {
            self.emit(Op::LoadLocal(subject));
            self.store(name.as_str());
        }
    }

    fn alternatives(&mut self, found: &'a ast::PatternMatchOr, subject: u32, fails: &mut Vec<usize>) {
        let mut matched = Vec::new();
        let last = found.patterns.len().saturating_sub(1);
        for (index, pattern) in found.patterns.iter().enumerate() {
            if index == last {
                self.pattern(pattern, subject, fails);
            } else {
                let mut here = Vec::new();
                self.pattern(pattern, subject, &mut here);
                matched.push(self.emit(Op::Jump(0)));
                here.into_iter().for_each(|jump| self.patch_jump(jump));
            }
        }
        matched.into_iter().for_each(|jump| self.patch_jump(jump));
    }

    fn sequence_pattern(
        &mut self,
        pattern: &'a Pattern,
        parts: &'a [Pattern],
        subject: u32,
        fails: &mut Vec<usize>,
    ) {
        self.emit(Op::LoadLocal(subject));
        self.emit(Op::IsSequence);
        self.fail_unless(fails, pattern);
        let star = parts.iter().position(Pattern::is_match_star);
        let fixed = Self::target(parts.len() - usize::from(star.is_some()));
        self.emit(Op::LoadLocal(subject));
        self.emit(if star.is_some() { Op::LengthAtLeast(fixed) } else { Op::LengthIs(fixed) });
        self.fail_unless(fails, pattern);
        self.emit(Op::LoadLocal(subject));
        self.emit(match star {
            None => Op::Unpack(fixed),
            Some(before) => Op::UnpackStar(Self::target(before), Self::target(parts.len() - before - 1)),
        });
        let slots: Vec<u32> = parts.iter().map(|_| self.hidden()).collect();
        for slot in &slots {
            self.emit(Op::StoreLocal(*slot));
        }
        for (part, slot) in parts.iter().zip(slots) {
            match part {
                Pattern::MatchStar(found) => self.capture(found.name.as_ref(), slot),
                part => self.pattern(part, slot, fails),
            }
        }
    }

    fn mapping_pattern(
        &mut self,
        pattern: &'a Pattern,
        found: &'a ast::PatternMatchMapping,
        subject: u32,
        fails: &mut Vec<usize>,
    ) {
        self.emit(Op::LoadLocal(subject));
        self.emit(Op::IsMapping);
        self.fail_unless(fails, pattern);
        let keys = self.hidden();
        found.keys.iter().for_each(|key| self.expr(key));
        self.emit(Op::BuildTuple(Self::target(found.keys.len())));
        self.emit(Op::StoreLocal(keys));
        self.emit(Op::LoadLocal(subject));
        self.emit(Op::LoadLocal(keys));
        self.emit(Op::MatchKeys);
        self.parts(pattern, found.patterns.iter(), fails);
        if let Some(rest) = &found.rest {
            self.emit(Op::LoadLocal(subject));
            self.emit(Op::LoadLocal(keys));
            self.emit(Op::MappingRest);
            self.store(rest.as_str());
        }
    }

    /// Matches each part with its value. A tuple of values or `None` is on the stack.
    fn parts<I>(&mut self, pattern: &'a Pattern, parts: I, fails: &mut Vec<usize>)
    where
        I: Iterator<Item = &'a Pattern> + Clone,
    {
        let values = self.hidden();
        self.emit(Op::StoreLocal(values));
        self.emit(Op::LoadLocal(values));
        self.constant(Const::None);
        self.emit(Op::Compare(CompareOp::IsNot));
        self.fail_unless(fails, pattern);
        self.emit(Op::LoadLocal(values));
        self.emit(Op::Unpack(Self::target(parts.clone().count())));
        let slots: Vec<u32> = parts.clone().map(|_| self.hidden()).collect();
        for slot in &slots {
            self.emit(Op::StoreLocal(*slot));
        }
        for (part, slot) in parts.zip(slots) {
            self.pattern(part, slot, fails);
        }
    }

    fn class_pattern(
        &mut self,
        pattern: &'a Pattern,
        found: &'a ast::PatternMatchClass,
        subject: u32,
        fails: &mut Vec<usize>,
    ) {
        self.emit(Op::LoadLocal(subject));
        self.expr(&found.cls);
        let names: Rc<[Name]> =
            found.arguments.keywords.iter().map(|keyword| keyword.attr.as_str().into()).collect();
        self.emit(Op::MatchClass(Self::target(found.arguments.patterns.len()), names));
        let parts =
            found.arguments.patterns.iter().chain(found.arguments.keywords.iter().map(|k| &k.pattern));
        self.parts(pattern, parts, fails);
    }
}
