//! Types: Python's own and those of the analysed code.

use super::ObjectId;

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Type {
    Builtin(Kind),
    /// A class of the analysed code.
    User(ObjectId),
}

/// Python's own types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    Object,
    Type,
    NoneType,
    NotImplementedType,
    Ellipsis,
    Bool,
    Int,
    Float,
    Complex,
    Str,
    Bytes,
    Tuple,
    List,
    Dict,
    Set,
    FrozenSet,
    Range,
    Slice,
    Function,
    BuiltinFunction,
    Method,
    Generator,
    Iterator,
    Module,
    View,
    Property,
    StaticMethod,
    ClassMethod,
    Super,
    Enumerate,
    Zip,
    Map,
    Filter,
    Reversed,
    Deque,
    DefaultDict,
    Counter,
    OrderedDict,
    Partial,
    Pattern,
    Match,
    NamedTupleBase,
    EnumBase,
    IntEnumBase,
    FlagBase,
    AbstractBase,
    Protocol,
    Generic,
    /// A stand-in of `typing` that means nothing at run time.
    Typing,
    /// An exception, by its index in the table.
    Exception(u8),
}

const NAMES: &[(Kind, &str)] = &[
    (Kind::Object, "object"),
    (Kind::Type, "type"),
    (Kind::NoneType, "NoneType"),
    (Kind::NotImplementedType, "NotImplementedType"),
    (Kind::Ellipsis, "ellipsis"),
    (Kind::Bool, "bool"),
    (Kind::Int, "int"),
    (Kind::Float, "float"),
    (Kind::Complex, "complex"),
    (Kind::Str, "str"),
    (Kind::Bytes, "bytes"),
    (Kind::Tuple, "tuple"),
    (Kind::List, "list"),
    (Kind::Dict, "dict"),
    (Kind::Set, "set"),
    (Kind::FrozenSet, "frozenset"),
    (Kind::Range, "range"),
    (Kind::Slice, "slice"),
    (Kind::Function, "function"),
    (Kind::BuiltinFunction, "builtin_function_or_method"),
    (Kind::Method, "method"),
    (Kind::Generator, "generator"),
    (Kind::Iterator, "iterator"),
    (Kind::Module, "module"),
    (Kind::View, "dict_view"),
    (Kind::Property, "property"),
    (Kind::StaticMethod, "staticmethod"),
    (Kind::ClassMethod, "classmethod"),
    (Kind::Super, "super"),
    (Kind::Enumerate, "enumerate"),
    (Kind::Zip, "zip"),
    (Kind::Map, "map"),
    (Kind::Filter, "filter"),
    (Kind::Reversed, "reversed"),
    (Kind::Deque, "deque"),
    (Kind::DefaultDict, "defaultdict"),
    (Kind::Counter, "Counter"),
    (Kind::OrderedDict, "OrderedDict"),
    (Kind::Partial, "partial"),
    (Kind::Pattern, "Pattern"),
    (Kind::Match, "Match"),
    (Kind::NamedTupleBase, "NamedTuple"),
    (Kind::EnumBase, "Enum"),
    (Kind::IntEnumBase, "IntEnum"),
    (Kind::FlagBase, "Flag"),
    (Kind::AbstractBase, "ABC"),
    (Kind::Protocol, "Protocol"),
    (Kind::Generic, "Generic"),
    (Kind::Typing, "typing"),
];

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        if let Self::Exception(index) = self {
            return super::exceptions::name(index);
        }
        NAMES.iter().find(|(kind, _)| *kind == self).map_or("object", |(_, name)| name)
    }

    /// The types whose names are built in.
    pub(crate) fn builtin(name: &str) -> Option<Self> {
        let kind = NAMES.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind);
        let visible = [
            Self::Object,
            Self::Type,
            Self::Bool,
            Self::Int,
            Self::Float,
            Self::Complex,
            Self::Str,
            Self::Bytes,
            Self::Tuple,
            Self::List,
            Self::Dict,
            Self::Set,
            Self::FrozenSet,
            Self::Range,
            Self::Slice,
            Self::Property,
            Self::StaticMethod,
            Self::ClassMethod,
            Self::Super,
            Self::Enumerate,
            Self::Zip,
            Self::Map,
            Self::Filter,
            Self::Reversed,
        ];
        kind.filter(|kind| visible.contains(kind))
            .or_else(|| super::exceptions::exception_named(name).map(Self::Exception))
    }

    /// Whether this is `other` or below it.
    pub(crate) fn is_below(self, other: Self) -> bool {
        if self == other || other == Self::Object {
            return true;
        }
        match (self, other) {
            (Self::Exception(a), Self::Exception(b)) => super::exceptions::is_exception_below(a, b),
            (Self::Bool, Self::Int)
            | (Self::DefaultDict | Self::Counter | Self::OrderedDict, Self::Dict)
            | (Self::IntEnumBase, Self::EnumBase | Self::Int)
            | (Self::NamedTupleBase, Self::Tuple) => true,
            _ => false,
        }
    }
}
