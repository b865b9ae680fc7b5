//! What code consists of.

use std::rc::Rc;

use num_bigint::BigInt;

/// A name of the analysed code.
pub(crate) type Name = Rc<str>;

/// A constant.
#[derive(Clone, Debug)]
pub(crate) enum Const {
    None,
    Ellipsis,
    Bool(bool),
    Int(BigInt),
    Float(f64),
    Str(Rc<Vec<u32>>),
    Bytes(Rc<Vec<u8>>),
    Code(Rc<Code>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    LShift,
    RShift,
    And,
    Or,
    Xor,
    MatMul,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnaryOp {
    Neg,
    Pos,
    Invert,
    Not,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Is,
    IsNot,
    In,
    NotIn,
}

/// `!s`, `!r`, `!a` of an f-string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Conversion {
    None,
    Str,
    Repr,
    Ascii,
}

/// An instruction. Jumps name the index they go to; `u32` operands index the tables of the [`Code`].
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Const(u32),
    LoadLocal(u32),
    StoreLocal(u32),
    DelLocal(u32),
    LoadCell(u32),
    StoreCell(u32),
    DelCell(u32),
    /// The cell itself, to be captured by a function.
    CellRef(u32),
    LoadGlobal(Name),
    StoreGlobal(Name),
    DelGlobal(Name),
    /// Names of a class body: its own, then the module's.
    LoadName(Name),
    StoreName(Name),
    DelName(Name),
    /// Names of a module of the library, with the module's in front; then built-in ones.
    LoadLibrary(Name),
    StoreLibrary(Name),
    Pop,
    Dup,
    /// `a b` to `a b a b`.
    Dup2,
    Swap,
    /// `a b c` to `c a b`.
    Rot3,
    Unary(UnaryOp),
    Binary(BinaryOp),
    InPlace(BinaryOp),
    Compare(CompareOp),
    LoadAttr(Name),
    StoreAttr(Name),
    DelAttr(Name),
    Subscript,
    /// `value container index`.
    StoreSubscript,
    DelSubscript,
    BuildSlice,
    BuildTuple(u32),
    BuildList(u32),
    BuildSet(u32),
    /// An empty one.
    BuildDict,
    /// Adds to the list this far below the top.
    ListAppend(u32),
    ListExtend,
    SetAdd(u32),
    SetUpdate,
    DictSet(u32),
    DictMerge,
    /// As `DictMerge`, for keyword arguments: keys are distinct texts.
    KeywordMerge,
    ListToTuple,
    Format(Conversion),
    /// With the specification on the stack.
    FormatSpec(Conversion),
    BuildString(u32),
    Jump(u32),
    /// Pops; the second operand is the branch this is, or `u32::MAX`.
    JumpIfFalse(u32, u32),
    JumpIfTrue(u32, u32),
    JumpIfFalseOrPop(u32),
    JumpIfTrueOrPop(u32),
    GetIter,
    /// Next of the iterator in a local; jumps when there is none.
    ForIter(u32, u32, u32),
    Unpack(u32),
    UnpackStar(u32, u32),
    /// Positional arguments, then values of the named ones.
    Call(u32, Rc<[Name]>),
    /// A list of positional and a dict of named arguments.
    CallSpread,
    /// Defaults tuple, dict of keyword defaults, cells tuple, then the code's constant.
    MakeFunction(u32),
    /// Body function, positional bases tuple, dict of keywords.
    MakeClass(Name),
    Return,
    Yield,
    YieldFrom,
    /// Exceptions go there, with the exception on the stack.
    SetupTry(u32),
    PopTry,
    /// The exception on the stack is no longer the one being handled.
    PopHandled,
    Raise,
    RaiseFrom,
    /// Raises what is being handled again.
    Reraise,
    /// Raises `AssertionError`; with a message on the stack. The flag tells asserts that lead the body.
    RaiseAssert {
        has_message: bool,
        leading: bool,
    },
    /// `exception class` to `exception bool`.
    MatchException,
    Import(Name),
    ImportFrom(Name),
    /// Patterns of `match`, each leaves a truth on the stack.
    IsSequence,
    IsMapping,
    /// Length of the top, exactly or at least.
    LengthIs(u32),
    LengthAtLeast(u32),
    /// `subject class` to a tuple of attributes or `None`; positional count and names.
    MatchClass(u32, Rc<[Name]>),
    /// `subject keys` to a tuple of values or `None`.
    MatchKeys,
    /// `subject keys` to a dict of the rest.
    MappingRest,
    /// Something the engine does not know.
    Unsupported(Rc<str>),
}

/// Parameters of a function, in the order of their locals.
#[derive(Clone, Default, Debug)]
pub(crate) struct Parameters {
    pub(crate) positional_only: usize,
    /// Positional ones, the positional-only first.
    pub(crate) positional: Vec<Name>,
    pub(crate) keyword_only: Vec<Name>,
    pub(crate) star: Option<Name>,
    pub(crate) double_star: Option<Name>,
}

/// A condition of the source that can go two ways.
#[derive(Clone, Debug)]
pub(crate) struct BranchPlace {
    pub(crate) line: u32,
    /// Where the condition, or what a loop goes through, is in the source: line, and bytes before it in the line. Patterns
    /// have none.
    pub(crate) at: Option<(u32, u32)>,
    pub(crate) condition: String,
}

/// One function, class body, comprehension or module.
#[derive(Clone, Default, Debug)]
pub(crate) struct Code {
    pub(crate) name: String,
    pub(crate) qualified: String,
    pub(crate) parameters: Parameters,
    pub(crate) ops: Vec<Op>,
    pub(crate) lines: Vec<u32>,
    pub(crate) consts: Vec<Const>,
    pub(crate) locals: Vec<Name>,
    /// Locals that functions inside capture, by local index; they come first among the cells.
    pub(crate) own_cells: Vec<(Name, Option<u32>)>,
    /// Captured from outside; they follow.
    pub(crate) free: Vec<Name>,
    pub(crate) is_generator: bool,
    /// Numbers of the branches in this code count from here.
    pub(crate) branches: Vec<BranchPlace>,
    /// Identity among all code of the module.
    pub(crate) id: u32,
    pub(crate) line: u32,
    pub(crate) docstring: Option<String>,
    /// Not of the analysed code: a module of the library.
    pub(crate) is_library: bool,
}
