//! What lives on the heap.

use std::rc::Rc;

use super::{Type, Value};
use crate::explore::{Frame, InputType, Match, Regex};
use crate::ir::{Code, Name};
use crate::terms::Term;

/// An object, by its place on the heap. Identity in Python's sense.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct ObjectId(pub(crate) u32);

#[derive(Clone, Debug)]
pub(crate) enum Object {
    List(Vec<Value>),
    OpenList(OpenList),
    Dict(Dict),
    Set(Vec<Value>),
    FrozenSet(Vec<Value>),
    /// Items and the greatest length.
    Deque(Vec<Value>, Option<usize>),
    Cell(Option<Value>),
    Function(Rc<Function>),
    /// A function bound to a receiver.
    Bound(Value, Value),
    Class(Rc<Class>),
    Instance(Instance),
    Iter(Iter),
    Generator(Generator),
    View(ViewKind, ObjectId),
    /// Getter and setter.
    Property(Value, Value),
    Static(Value),
    ClassMethod(Value),
    Partial(Value, Rc<Vec<Value>>, Rc<Vec<(Name, Value)>>),
    /// `super()`: where the search begins, and the receiver.
    Super(ObjectId, Value),
    /// `functools.lru_cache` and friends: the function inside, and results by arguments.
    Cached(Value, Vec<(Value, Value)>),
    /// An input that is made when it is first looked at.
    Pending(Rc<str>, Rc<InputType>),
    /// A typing construct, or an abstract method.
    Alias(Value),
    /// A compiled pattern of `re`.
    Pattern(Rc<Regex>),
    Match(Rc<Match>),
}

/// A list input of unknown length. Items are made when they are looked at.
#[derive(Clone, Debug)]
pub(crate) struct OpenList {
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
    /// The class in whose body it was written, for `super()`.
    pub(crate) owner: Option<ObjectId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) name: Name,
    pub(crate) bases: Vec<Type>,
    /// Itself first.
    pub(crate) order: Vec<Type>,
    pub(crate) attributes: Vec<(Name, Value)>,
    pub(crate) kind: ClassKind,
    /// Of a module of the library: what is equal has the same hash.
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
    /// Names of the fields.
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
    /// `None` once it ended, and while it runs.
    pub(crate) frame: Option<Rc<Frame>>,
    pub(crate) is_running: bool,
    pub(crate) has_started: bool,
}

/// The state of an iterator.
#[derive(Clone, Debug)]
pub(crate) enum Iter {
    /// Through a list, tuple, string, range or deque by index.
    Sequence(Value, usize),
    /// Through a dict's keys, values or items; with the size it began with.
    Dict(ObjectId, ViewKind, usize, usize),
    /// Through values collected before.
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
    /// Somewhere in a loop of which one round stands for all.
    Forgotten,
}
