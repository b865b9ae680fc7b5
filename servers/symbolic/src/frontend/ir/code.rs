//! Instructions and code objects.

use std::rc::Rc;

use num_bigint::BigInt;

/// A name of the analysed code.
pub(crate) type Name = Rc<str>;

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

/// An instruction. Jump operands are target indices; other `u32` operands index the tables of the [`Code`].
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Const(u32),
    LoadLocal(u32),
    StoreLocal(u32),
    DelLocal(u32),
    LoadCell(u32),
    StoreCell(u32),
    DelCell(u32),
    /// The cell itself, for capture by a function.
    CellRef(u32),
    LoadGlobal(Name),
    StoreGlobal(Name),
    DelGlobal(Name),
    /// A name of a class body: its own names, then the module's.
    LoadName(Name),
    StoreName(Name),
    DelName(Name),
    /// A name of a library module, prefixed with the module; then the built-in names.
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
    /// An empty dict.
    BuildDict,
    /// Appends to the list at this distance below the top.
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
    /// With the format specification on the stack.
    FormatSpec(Conversion),
    BuildString(u32),
    Jump(u32),
    /// Pops the condition. The second operand is the branch number, or `u32::MAX`.
    JumpIfFalse(u32, u32),
    JumpIfTrue(u32, u32),
    JumpIfFalseOrPop(u32),
    JumpIfTrueOrPop(u32),
    GetIter,
    /// Advances the iterator in a local. Jumps when it is exhausted.
    ForIter(u32, u32, u32),
    Unpack(u32),
    UnpackStar(u32, u32),
    /// Positional arguments, then the values of keyword arguments.
    Call(u32, Rc<[Name]>),
    /// A list of positional and a dict of keyword arguments.
    CallSpread,
    /// Defaults tuple, dict of keyword defaults, cells tuple, then the code constant.
    MakeFunction(u32),
    /// Body function, tuple of positional bases, dict of keywords.
    MakeClass(Name),
    Return,
    Yield,
    YieldFrom,
    /// Sets the exception handler. It starts with the exception on the stack.
    SetupTry(u32),
    PopTry,
    /// Ends the handling of the exception on the stack.
    PopHandled,
    Raise,
    RaiseFrom,
    /// Raises the handled exception again.
    Reraise,
    /// Raises `AssertionError`, optionally with a message on the stack. The flag marks leading asserts.
    RaiseAssert {
        has_message: bool,
        leading: bool,
    },
    /// `exception class` to `exception bool`.
    MatchException,
    Import(Name),
    ImportFrom(Name),
    /// Patterns of `match`. Each pushes a bool.
    IsSequence,
    IsMapping,
    /// The length of the top, exactly or at least.
    LengthIs(u32),
    LengthAtLeast(u32),
    /// `subject class` to a tuple of attributes or `None`; positional count and names.
    MatchClass(u32, Rc<[Name]>),
    /// `subject keys` to a tuple of values or `None`.
    MatchKeys,
    /// `subject keys` to a dict of the remaining items.
    MappingRest,
    /// An unsupported construct.
    Unsupported(Rc<str>),
}

/// The parameters of a function, in the order of their locals.
#[derive(Clone, Default, Debug)]
pub(crate) struct Parameters {
    pub(crate) positional_only: usize,
    /// Positional parameters, the positional-only ones first.
    pub(crate) positional: Vec<Name>,
    pub(crate) keyword_only: Vec<Name>,
    pub(crate) star: Option<Name>,
    pub(crate) double_star: Option<Name>,
}

/// A condition of the source with two outcomes.
#[derive(Clone, Debug)]
pub(crate) struct BranchPlace {
    pub(crate) line: u32,
    /// The position of the condition, or of a loop's iterable: line and byte column. Patterns have none.
    pub(crate) at: Option<(u32, u32)>,
    pub(crate) condition: String,
}

/// The code of one function, class body, comprehension or module.
#[derive(Clone, Default, Debug)]
pub(crate) struct Code {
    pub(crate) name: String,
    pub(crate) qualified: String,
    pub(crate) parameters: Parameters,
    pub(crate) ops: Vec<Op>,
    pub(crate) lines: Vec<u32>,
    pub(crate) consts: Vec<Const>,
    pub(crate) locals: Vec<Name>,
    /// Locals that nested functions capture, by local index. They are the first cells.
    pub(crate) own_cells: Vec<(Name, Option<u32>)>,
    /// Variables captured from enclosing functions. They follow the own cells.
    pub(crate) free: Vec<Name>,
    pub(crate) is_generator: bool,
    /// The first branch number of this code.
    pub(crate) branches: Vec<BranchPlace>,
    /// Its id among all code objects of the module.
    pub(crate) id: u32,
    pub(crate) line: u32,
    pub(crate) docstring: Option<String>,
    /// Whether it belongs to a library module instead of the analysed code.
    pub(crate) is_library: bool,
}
