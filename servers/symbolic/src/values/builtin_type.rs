//! Types: built-in ones and those of the analysed code.

use super::ObjectId;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Type {
    Builtin(BuiltinType),
    /// A class of the analysed code.
    User(ObjectId),
}

/// The builtin types of Python.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum BuiltinType {
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
    /// A construct of `typing` without effect at run time.
    Typing,
    /// An exception, by its index in the table.
    Exception(u8),
}

const NAMES: &[(BuiltinType, &str)] = &[
    (BuiltinType::Object, "object"),
    (BuiltinType::Type, "type"),
    (BuiltinType::NoneType, "NoneType"),
    (BuiltinType::NotImplementedType, "NotImplementedType"),
    (BuiltinType::Ellipsis, "ellipsis"),
    (BuiltinType::Bool, "bool"),
    (BuiltinType::Int, "int"),
    (BuiltinType::Float, "float"),
    (BuiltinType::Complex, "complex"),
    (BuiltinType::Str, "str"),
    (BuiltinType::Bytes, "bytes"),
    (BuiltinType::Tuple, "tuple"),
    (BuiltinType::List, "list"),
    (BuiltinType::Dict, "dict"),
    (BuiltinType::Set, "set"),
    (BuiltinType::FrozenSet, "frozenset"),
    (BuiltinType::Range, "range"),
    (BuiltinType::Slice, "slice"),
    (BuiltinType::Function, "function"),
    (BuiltinType::BuiltinFunction, "builtin_function_or_method"),
    (BuiltinType::Method, "method"),
    (BuiltinType::Generator, "generator"),
    (BuiltinType::Iterator, "iterator"),
    (BuiltinType::Module, "module"),
    (BuiltinType::View, "dict_view"),
    (BuiltinType::Property, "property"),
    (BuiltinType::StaticMethod, "staticmethod"),
    (BuiltinType::ClassMethod, "classmethod"),
    (BuiltinType::Super, "super"),
    (BuiltinType::Enumerate, "enumerate"),
    (BuiltinType::Zip, "zip"),
    (BuiltinType::Map, "map"),
    (BuiltinType::Filter, "filter"),
    (BuiltinType::Reversed, "reversed"),
    (BuiltinType::Deque, "deque"),
    (BuiltinType::DefaultDict, "defaultdict"),
    (BuiltinType::Counter, "Counter"),
    (BuiltinType::OrderedDict, "OrderedDict"),
    (BuiltinType::Partial, "partial"),
    (BuiltinType::Pattern, "Pattern"),
    (BuiltinType::Match, "Match"),
    (BuiltinType::NamedTupleBase, "NamedTuple"),
    (BuiltinType::EnumBase, "Enum"),
    (BuiltinType::IntEnumBase, "IntEnum"),
    (BuiltinType::FlagBase, "Flag"),
    (BuiltinType::AbstractBase, "ABC"),
    (BuiltinType::Protocol, "Protocol"),
    (BuiltinType::Generic, "Generic"),
    (BuiltinType::Typing, "typing"),
];

impl BuiltinType {
    pub(crate) fn name(self) -> &'static str {
        if let Self::Exception(index) = self {
            return super::exceptions::name(index);
        }
        NAMES.iter().find(|(kind, _)| *kind == self).map_or("object", |(_, name)| name)
    }

    /// Finds a built-in type by its name.
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

    /// Whether this equals `other` or is a subtype of it.
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
