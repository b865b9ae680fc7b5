//! Definitions of types, variants, functions and modules in one source file, with the `cfg` they stand under.

use crate::rust::{Kind, Token, tokens};

/// The kind of definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Type,
    Variant,
    Function,
    Module,
}

/// One definition and where it stands.
#[derive(Debug)]
pub(super) struct Definition<'a> {
    pub(super) kind: ItemKind,
    pub(super) name: &'a str,
    pub(super) line: usize,
    /// The predicates of every `#[cfg]` around it, without white space.
    pub(super) conditions: Vec<String>,
    /// The file of a module declared with `#[path = "…"]`.
    pub(super) path: Option<&'a str>,
}

impl Definition<'_> {
    /// Whether no build holds both: one stands under the negation of a condition of the other.
    pub(super) fn excludes(&self, other: &Definition<'_>) -> bool {
        let negates = |one: &Definition<'_>, two: &Definition<'_>| {
            one.conditions.iter().any(|condition| two.conditions.contains(&format!("not({condition})")))
        };
        negates(self, other) || negates(other, self)
    }
}

/// All definitions of a file, nested ones included. Associated types are none: they are named by their trait.
pub(super) fn of_source(source: &str) -> Vec<Definition<'_>> {
    let mut tokens = tokens(source);
    tokens.retain(|token| token.kind != Kind::Comment);
    Reader { tokens: &tokens, at: 0, found: Vec::new() }.run()
}

/// The classes of a Python file.
pub(super) fn classes<'a>(tokens: &[Token<'a>]) -> Vec<Definition<'a>> {
    let pairs = tokens.iter().zip(tokens.iter().skip(1)).filter(|(word, _)| word.text == "class");
    let names = pairs.map(|(_, name)| name).filter(|name| name.kind == Kind::Word);
    names
        .map(|name| Definition {
            kind: ItemKind::Type,
            name: name.text,
            line: name.line,
            conditions: Vec::new(),
            path: None,
        })
        .collect()
}

/// The item that an open block belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockOwner {
    /// A trait or an `impl`, whose types are associated.
    Trait,
    Enum,
    Other,
}

/// A block that is open, and the conditions it stands under.
struct Block {
    owner: BlockOwner,
    conditions: Vec<String>,
    /// The number of brackets that are open around the block.
    brackets: usize,
}

struct Reader<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    found: Vec<Definition<'a>>,
}

impl<'a> Reader<'_, 'a> {
    fn run(mut self) -> Vec<Definition<'a>> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut pending = Vec::new();
        let mut path = None;
        let mut owner = BlockOwner::Other;
        let mut brackets = 0usize;
        while let Some(token) = self.tokens.get(self.at).copied() {
            match token.text {
                "#" => {
                    self.attribute(&mut pending, &mut path);
                    continue;
                }
                "impl" | "trait" if self.begins_item() => {
                    owner = BlockOwner::Trait;
                    if token.text == "trait" {
                        self.define(ItemKind::Type, &blocks, &pending, None);
                    }
                }
                "struct" => self.define(ItemKind::Type, &blocks, &pending, None),
                "enum" => {
                    owner = BlockOwner::Enum;
                    self.define(ItemKind::Type, &blocks, &pending, None);
                }
                "union" if self.begins_item() => self.define(ItemKind::Type, &blocks, &pending, None),
                "type"
                    if self.begins_item()
                        && blocks.last().is_none_or(|block| block.owner != BlockOwner::Trait) =>
                {
                    self.define(ItemKind::Type, &blocks, &pending, None);
                }
                "fn" => self.define(ItemKind::Function, &blocks, &pending, None),
                "mod" => self.define(ItemKind::Module, &blocks, &pending, path.take()),
                "{" => {
                    blocks.push(Block { owner, conditions: std::mem::take(&mut pending), brackets });
                    (owner, brackets) = (BlockOwner::Other, 0);
                }
                "}" => {
                    brackets = blocks.pop().map_or(0, |block| block.brackets);
                    pending.clear();
                }
                ";" => {
                    pending.clear();
                    owner = BlockOwner::Other;
                }
                "(" | "[" => brackets += 1,
                ")" | "]" => brackets = brackets.saturating_sub(1),
                _ if brackets == 0 && self.begins_variant(blocks.last()) => {
                    self.add(ItemKind::Variant, token, &blocks, &pending, None);
                }
                _ => {}
            }
            self.at += 1;
        }
        self.found
    }

    /// Whether the word here can begin an item: `impl Trait` in a signature cannot.
    fn begins_item(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_none_or(|token| {
            matches!(token.text, "{" | "}" | ";" | "]" | ")" | "pub" | "unsafe" | "default" | "auto")
        })
    }

    /// Whether the word here can begin a variant: in the block of an enum, after its start, a comma or an attribute.
    fn begins_variant(&self, block: Option<&Block>) -> bool {
        let is_word = self.tokens.get(self.at).is_some_and(|token| token.kind == Kind::Word);
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        is_word
            && block.is_some_and(|block| block.owner == BlockOwner::Enum)
            && before.is_some_and(|token| matches!(token.text, "{" | "," | "]"))
    }

    /// Adds the definition whose name follows the keyword here.
    fn define(&mut self, kind: ItemKind, blocks: &[Block], pending: &[String], path: Option<&'a str>) {
        if let Some(name) = self.tokens.get(self.at + 1).copied().filter(|token| token.kind == Kind::Word) {
            self.add(kind, name, blocks, pending, path);
        }
    }

    fn add(
        &mut self,
        kind: ItemKind,
        name: Token<'a>,
        blocks: &[Block],
        pending: &[String],
        path: Option<&'a str>,
    ) {
        let around = blocks.iter().flat_map(|block| &block.conditions);
        let conditions = around.chain(pending).cloned().collect();
        self.found.push(Definition { kind, name: name.text, line: name.line, conditions, path });
    }

    /// Steps over `#[…]` or `#![…]`; keeps a `cfg` and a `path`.
    fn attribute(&mut self, pending: &mut Vec<String>, path: &mut Option<&'a str>) {
        self.at += 1;
        if self.tokens.get(self.at).is_some_and(|token| token.text == "!") {
            self.at += 1;
        }
        if self.tokens.get(self.at).is_none_or(|token| token.text != "[") {
            return;
        }
        let start = self.at + 1;
        let mut depth = 0usize;
        while let Some(token) = self.tokens.get(self.at) {
            match token.text {
                "[" => depth += 1,
                "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        let inside = self.tokens.get(start..self.at.saturating_sub(1)).unwrap_or_default();
        match inside {
            [name, open, predicate @ .., _] if name.text == "cfg" && open.text == "(" => {
                pending.push(predicate.iter().map(|token| token.text).collect());
            }
            [name, _, file] if name.text == "path" => *path = Some(file.text.trim_matches('"')),
            _ => {}
        }
    }
}
