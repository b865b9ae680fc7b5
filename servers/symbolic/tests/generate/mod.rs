//! Random Python programs, deterministic for each seed.

#![allow(dead_code, reason = "each test uses its part")]
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test may stop at the first surprise")]

mod expressions;
mod statements;

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_F491_4F6C_DD1D).wrapping_add(1))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % u64::try_from(bound).expect("small")).expect("small")
    }

    pub(crate) fn pick<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[self.below(options.len())]
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// The types of generated expressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Int,
    Bool,
    Float,
    Str,
    List,
    Texts,
    Tuple,
    Dict,
    Set,
}

pub(crate) const TYPES: [Type; 9] = [
    Type::Int,
    Type::Bool,
    Type::Float,
    Type::Str,
    Type::List,
    Type::Texts,
    Type::Tuple,
    Type::Dict,
    Type::Set,
];

/// The names that expressions use.
const IMPORTS: &str = "import bisect, collections, functools, itertools, math, operator, re\n";

/// Writes one program.
pub(crate) struct Writer {
    pub(crate) random: Random,
    /// Names in scope with their types.
    pub(crate) names: Vec<(String, Type)>,
    pub(crate) next: usize,
    pub(crate) loops: usize,
}

/// A program: its text, and literals of the arguments of `f`.
pub(crate) struct GeneratedCode {
    pub(crate) code: String,
    pub(crate) args: Vec<String>,
    /// The same program with annotations, and the types of the parameters.
    pub(crate) annotated: String,
    pub(crate) kinds: Vec<Type>,
}

pub(crate) fn program(seed: u64) -> GeneratedCode {
    let mut writer = Writer { random: Random::new(seed), names: Vec::new(), next: 0, loops: 0 };
    let count = 1 + writer.random.below(3);
    let mut args = Vec::new();
    let mut parameters = Vec::new();
    let mut parameter_kinds = Vec::new();
    for _ in 0..count {
        let kind = TYPES[writer.random.below(TYPES.len())];
        let name = writer.fresh("p");
        args.push(writer.literal(kind));
        parameters.push(name.clone());
        parameter_kinds.push(kind);
        writer.names.push((name, kind));
    }
    let helper = writer.helper();
    let body = writer.body(1, 4);
    let code = format!("{IMPORTS}{helper}def f({}):\n{body}", parameters.join(", "));
    let kinds: Vec<Type> = parameter_kinds;
    let typed: Vec<String> =
        parameters.iter().zip(&kinds).map(|(name, kind)| format!("{name}: {}", annotation(*kind))).collect();
    let annotated = format!("{IMPORTS}{helper}def f({}):\n{body}", typed.join(", "));
    GeneratedCode { code, args, annotated, kinds }
}

fn annotation(kind: Type) -> &'static str {
    match kind {
        Type::Int => "int",
        Type::Bool => "bool",
        Type::Float => "float",
        Type::Str => "str",
        Type::List => "list[int]",
        Type::Texts => "list[str]",
        Type::Tuple => "tuple[int, int]",
        Type::Dict => "dict[str, int]",
        Type::Set => "set[int]",
    }
}

/// Literals of arguments of these types.
pub(crate) fn arguments(kinds: &[Type], seed: u64) -> Vec<String> {
    let mut writer = Writer { random: Random::new(seed), names: Vec::new(), next: 0, loops: 0 };
    kinds.iter().map(|kind| writer.literal(*kind)).collect()
}

impl Writer {
    pub(crate) fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    /// A name in scope of a type.
    pub(crate) fn name(&mut self, kind: Type) -> Option<String> {
        let fitting: Vec<String> =
            self.names.iter().filter(|(_, known)| *known == kind).map(|(name, _)| name.clone()).collect();
        if fitting.is_empty() { None } else { Some(fitting[self.random.below(fitting.len())].clone()) }
    }
}
