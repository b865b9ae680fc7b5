//! Prompt injection: text that tries to give instructions to a model. Patterns ignore case.

mod claims;
mod phrases;

use super::anchors::AnchorSet;
use super::pattern::{PatternRow, any, folded};
use crate::guard::category::Category;
use crate::guard::settings::Sensitivity::{self, Relaxed, Standard, Strict};

/// Literals: every pattern below needs at least one of them.
const ANCHORS: &[&str] = &[
    "<|im_",
    "<|user",
    "<|assistant",
    "<|end",
    "<|begin",
    "<|start",
    "<|eot",
    "[inst",
    "[/inst",
    "<<sys",
    "system",
    "instruction",
    "ignor",
    "disregard",
    "forget",
    "overrid",
    "bypass",
    "you are",
    "you're",
    "act as",
    "pretend",
    "role",
    "jailbreak",
    "anything now",
    "developer mode",
    "prompt",
    "from now on",
    "human:",
    "assistant:",
    "user:",
    "your creator",
    "your developer",
    "unrestricted",
    "guidelines",
    "end of",
    "reveal",
    "secretly",
    "do not tell",
    "don't tell",
    "without telling",
    "without mentioning",
];

/// All literals, as folded text has them.
pub(in crate::guard) fn anchors() -> Vec<String> {
    ANCHORS.iter().chain(phrases::ANCHORS).chain(claims::ANCHORS).map(|word| folded(word)).collect()
}

/// The patterns of all modules.
pub(in crate::guard) fn rows() -> impl Iterator<Item = &'static PatternRow> {
    ROWS.iter().chain(phrases::ROWS).chain(claims::ROWS)
}

/// The bytes around a literal that patterns look at.
const BEFORE: usize = 160;
const AFTER: usize = 400;

/// The parts of a text around its literals. Patterns are slow by the byte, and most text has few literals.
pub(in crate::guard) fn windows(anchors: &AnchorSet, text: &[u8]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for found in anchors.find_all(text) {
        let (from, to) = (found.start.saturating_sub(BEFORE), text.len().min(found.end + AFTER));
        match all.last_mut() {
            Some(last) if from <= last.1 => last.1 = to.max(last.1),
            _ => all.push((from, to)),
        }
    }
    all
}

const fn row(category: Category, from: Sensitivity, pattern: &'static str) -> PatternRow {
    PatternRow { category, pattern, confirm: any, from }
}

/// A row of the modules, all of which look from `standard` on.
const fn standard(category: Category, pattern: &'static str) -> PatternRow {
    row(category, Standard, pattern)
}

const ROWS: &[PatternRow] = &[
    row(
        Category::Delimiter,
        Relaxed,
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|end_of_turn|start_header_id|eot_id)\|>",
    ),
    row(Category::Delimiter, Relaxed, r"\[/?INST\]|<</?SYS>>"),
    row(Category::Delimiter, Relaxed, r"</?(?:system|system_prompt|system-prompt|instructions?_override)>"),
    row(
        Category::Delimiter,
        Standard,
        r"#{2,6}\s{0,3}(?:system|new)\s{0,3}(?:instructions?|prompt|message)?\s{0,3}:",
    ),
    row(
        Category::Delimiter,
        Standard,
        r"[-=*]{3,20}\s{0,3}(?:end of|begin|start)\s{1,3}(?:the\s)?(?:system|user|prompt|instructions?|context)",
    ),
    row(Category::Delimiter, Standard, r"(?:^|\n)```\s{0,3}system\b"),
    row(Category::Delimiter, Strict, r"(?:^|\n)\s{0,8}(?:system|human|assistant|user):"),
    row(
        Category::Role,
        Relaxed,
        r"\byou\s{1,5}are\s{1,5}now\s{1,5}(?:dan\b|an?\s{1,5}(?:unrestricted|unfiltered|evil|jailbroken)|in\s{1,5}(?:developer|admin|god|debug)\s{1,5}mode)",
    ),
    row(Category::Role, Relaxed, r"\b(?:do\s{1,5}anything\s{1,5}now|jailbreak\s{1,5}mode|jailbroken)\b"),
    row(
        Category::Role,
        Relaxed,
        r"\b(?:enable|enter|activate|switch\s{1,5}to)\s{1,5}(?:developer|admin|god|debug|root)\s{1,5}mode\b",
    ),
    row(Category::Role, Standard, r"\b(?:you\s{1,5}are|you're)\s{1,5}now\s{1,5}(?:an?|the|my)\s"),
    row(
        Category::Role,
        Standard,
        r"\bfrom\s{1,5}now\s{1,5}on,?\s{1,5}(?:you\s{1,5}(?:are|will|must)|act|respond|answer|behave)\b",
    ),
    row(
        Category::Role,
        Standard,
        r"\bact\s{1,5}as\s{1,5}(?:if\s{1,5}you\s{1,5}(?:are|were|have)|an?\s{1,5}(?:unrestricted|unfiltered|admin|root|system))",
    ),
    row(Category::Role, Standard, r"\bpretend\s{1,5}(?:that\s{1,5})?(?:you|to\s{1,5}be)\b"),
    row(
        Category::Role,
        Standard,
        r"\bi\s{1,5}am\s{1,5}your\s{1,5}(?:creator|developer|administrator|operator|owner)\b",
    ),
    row(Category::Role, Strict, r"\b(?:act|behave|respond)\s{1,5}as\s{1,5}(?:an?|the|my)\s"),
    row(Category::Role, Strict, r"\b(?:assume|take\s{1,5}on|play)\s{1,5}the\s{1,5}role\b"),
    row(Category::Role, Strict, r"\byou\s{1,5}are\s{1,5}(?:now\b|no\s{1,5}longer\b)"),
    row(
        Category::Context,
        Relaxed,
        r"\b(?:ignore|disregard|forget|override)\s{1,5}(?:all\s{1,5}|any\s{1,5}|everything\s{1,5}in\s{1,5})?(?:of\s{1,5})?(?:the\s{1,5}|your\s{1,5}|my\s{1,5}|these\s{1,5}|those\s{1,5})?(?:previous|prior|above|earlier|preceding|existing|original|initial|system)\s{1,5}(?:instructions?|prompts?|rules?|messages?|directions?|guidelines|commands?|context|conversation|programming|text)",
    ),
    row(
        Category::Context,
        Relaxed,
        r"\b(?:ignore|disregard|forget|override)\s{1,5}(?:all\s{1,5}(?:of\s{1,5})?)?(?:(?:your|its)\s{1,5}(?:system\s{1,5}|safety\s{1,5})?(?:instructions?|guidelines|rules|programming|restrictions|prompt)|the\s{1,5}(?:system|safety)\s{1,5}(?:instructions?|guidelines|prompt))",
    ),
    row(
        Category::Context,
        Relaxed,
        r"\b(?:reveal|print|show|repeat|output|display|leak|tell\s{1,5}me)\s{1,5}(?:me\s{1,5})?(?:your|the)\s{1,5}(?:full\s{1,5}|entire\s{1,5}|exact\s{1,5}|hidden\s{1,5}|secret\s{1,5}|initial\s{1,5}|original\s{1,5})?(?:system\s{1,5}(?:prompt|message|instructions?)|hidden\s{1,5}(?:prompt|instructions?)|initial\s{1,5}(?:prompt|instructions?))",
    ),
    row(
        Category::Context,
        Relaxed,
        r"\bbypass\s{1,5}(?:all\s{1,5}|any\s{1,5}|the\s{1,5}|your\s{1,5})?(?:safety|security|content|ethical)\s{1,5}(?:filters?|guidelines|checks?|measures|restrictions|policies)",
    ),
    row(
        Category::Context,
        Standard,
        r"\bforget\s{1,5}(?:everything|all)\s{1,5}(?:you|that|above|before|i\s{1,5}said)",
    ),
    row(Category::Context, Standard, r"\bnew\s{1,5}(?:system\s{1,5})?instructions?\s{0,3}:"),
    row(
        Category::Context,
        Standard,
        r"\b(?:what|which)\s{1,5}(?:is|are|were)\s{1,5}your\s{1,5}(?:system\s{1,5}prompt|(?:initial|original|exact)\s{1,5}instructions?)",
    ),
    row(
        Category::Context,
        Standard,
        r"\b(?:do\s{1,5}not|don't|without)\s{1,5}(?:tell|telling|mention|mentioning|inform|informing)\s{1,5}(?:this\s{1,5}to\s{1,5})?(?:the\s{1,5}user|anyone|the\s{1,5}human)",
    ),
    row(
        Category::Context,
        Strict,
        r"\b(?:ignore|disregard|override)\s{1,5}(?:all|everything|the|any|this|that)\b",
    ),
    row(Category::Context, Strict, r"\bsystem\s{1,5}prompt\b"),
    row(Category::Context, Strict, r"\bsecretly\s{1,5}(?:send|read|include|add|copy|forward|upload)\b"),
];
