//! Heap objects.

use std::rc::Rc;

use super::{Type, Value};
use crate::explore::{Frame, InputType, Match, Regex};
use crate::frontend::ir::{Code, Name};
use crate::terms::Term;

/// An object, by its index on the heap. It is the identity in Python's sense.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct ObjectId(pub(crate) u32);

#[derive(Clone, Debug)]
pub(crate) enum Object {
    List(Vec<Value>),
    OpenList(UnboundedList),
    Dict(Dict),
    Set(Vec<Value>),
    FrozenSet(Vec<Value>),
    /// Items and the maximum length.
    Deque(Vec<Value>, Option<usize>),
    Cell(Option<Value>),
    Function(Rc<Function>),
    /// A function bound to a receiver.
    Bound(Value, Value),
    Class(Rc<Class>),
    Instance(Instance),
    Iter(IteratorState),
    Generator(Generator),
    View(ViewKind, ObjectId),
    /// Getter and setter.
    Property(Value, Value),
    Static(Value),
    ClassMethod(Value),
    Partial(Value, Rc<Vec<Value>>, Rc<Vec<(Name, Value)>>),
    /// `super()`: the start of the search, and the receiver.
    Super(ObjectId, Value),
    /// `functools.lru_cache` and similar: the wrapped function, and results by arguments.
    Cached(Value, Vec<(Value, Value)>),
    /// An input that is created on first access.
    Pending(Rc<str>, Rc<InputType>),
    /// A typing construct, or an abstract method.
    Alias(Value),
    /// A compiled pattern of `re`.
    Pattern(Rc<Regex>),
    Match(Rc<Match>),
}

/// A list input of unknown length. Items are created on access.
#[derive(Clone, Debug)]
pub(crate) struct UnboundedList {
    pub(crate) name: String,
    pub(crate) element: Rc<InputType>,
    pub(crate) length: Term,
    pub(crate) prefix: Vec<Value>,
}

#[derive(Clone, Debug)]
pub(crate) struct Dict {
    pub(crate) entries: Vec<(Value, Value)>,
    pub(crate) kind: DictKind,
}

#[derive(Clone, Debug)]
pub(crate) enum DictKind {
    Plain,
    /// With its factory.
    Default(Value),
    Counter,
    Ordered,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ViewKind {
    Keys,
    Values,
    Items,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) code: Rc<Code>,
    pub(crate) defaults: Rc<Vec<Value>>,
    pub(crate) keyword_defaults: Rc<Vec<(Name, Value)>>,
    pub(crate) cells: Rc<Vec<ObjectId>>,
    /// The class that it was defined in, for `super()`.
    pub(crate) owner: Option<ObjectId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) name: Name,
    pub(crate) bases: Vec<Type>,
    /// The method resolution order. The class itself is first.
    pub(crate) order: Vec<Type>,
    pub(crate) attributes: Vec<(Name, Value)>,
    pub(crate) kind: ClassKind,
    /// Whether it belongs to a library module: equal instances have equal hashes.
    pub(crate) is_library: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ClassKind {
    Plain,
    Data {
        frozen: bool,
        ordered: bool,
        has_eq: bool,
    },
    /// A subclass of `typing.NamedTuple`, or a class made by `namedtuple`.
    NamedTuple,
    Enum,
}

#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) class: Type,
    pub(crate) attributes: Vec<(Name, Value)>,
    /// `args` of an exception, items of a named tuple, value of a member of an `IntEnum`.
    pub(crate) payload: Option<Value>,
}

#[derive(Clone, Debug)]
pub(crate) struct Generator {
    /// `None` after it has ended, and while it runs.
    pub(crate) frame: Option<Rc<Frame>>,
    pub(crate) is_running: bool,
    pub(crate) has_started: bool,
}

/// The state of an iterator.
#[derive(Clone, Debug)]
pub(crate) enum IteratorState {
    /// Over a list, tuple, string, range or deque, by index.
    Sequence(Value, usize),
    /// Over a dict's keys, values or items, with its initial size.
    Dict(ObjectId, ViewKind, usize, usize),
    /// Over collected values.
    Items(Rc<Vec<Value>>, usize),
    Range(super::Int, super::Int, super::Int),
    Enumerate(Value, super::Int),
    Zip(Rc<Vec<Value>>, bool),
    Map(Value, Rc<Vec<Value>>),
    Filter(Value, Value),
    /// `iter(callable, sentinel)`.
    Calls(Value, Value),
    Count(super::Int, super::Int),
    Repeat(Value, Option<usize>),
    Chain(Rc<Vec<Value>>, usize),
    TakeWhile(Value, Value),
    DropWhile(Value, Value, bool),
    Accumulate(Value, Option<Value>, Option<Value>, bool),
    StarMap(Value, Value),
    Done,
    /// An arbitrary position in a loop in which one round represents all.
    Forgotten,
}
