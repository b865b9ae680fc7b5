//! Which type a value has, and which types are below which.

use super::machine::{Machine, R};
use crate::values::{Dict, DictKind, Iter, Kind, Object, Type, Value};

impl Machine {
    pub(crate) fn type_of(&self, value: &Value) -> Type {
        let kind = match value {
            Value::None => Kind::NoneType,
            Value::NotImplemented => Kind::NotImplementedType,
            Value::Ellipsis => Kind::Ellipsis,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::Float(_) => Kind::Float,
            Value::Str(_) => Kind::Str,
            Value::Bytes(_) => Kind::Bytes,
            Value::Tuple(_) => Kind::Tuple,
            Value::Range(_) => Kind::Range,
            Value::Slice(_) => Kind::Slice,
            Value::Type(_) => Kind::Type,
            Value::Builtin(_) | Value::Method(_) => Kind::BuiltinFunction,
            Value::Module(_) => Kind::Module,
            Value::Object(id) => match self.state.get(*id) {
                Object::Instance(instance) => return instance.class,
                object => kind_of(object),
            },
        };
        Type::Builtin(kind)
    }

    pub(crate) fn type_name(&self, value: &Value) -> String {
        self.name_of_type(self.type_of(value))
    }

    /// Whether `class` is `above` or below it.
    pub(crate) fn is_subtype(&self, class: Type, above: Type) -> bool {
        if class == above {
            return true;
        }
        match (class, above) {
            (Type::Builtin(class), Type::Builtin(above)) => class.is_below(above),
            (Type::User(id), above) => self.class_of(id).is_some_and(|class| {
                class.order.iter().any(|known| match (known, above) {
                    (Type::Builtin(known), Type::Builtin(above)) => known.is_below(above),
                    (known, above) => *known == above,
                })
            }),
            (Type::Builtin(_), Type::User(_)) => false,
        }
    }

    pub(crate) fn is_instance(&mut self, value: &Value, class: &Value) -> R<bool> {
        match class {
            Value::Type(Type::Builtin(Kind::Typing | Kind::Protocol | Kind::Generic)) => {
                self.unsupported("isinstance with a typing construct")
            }
            Value::Type(class) => Ok(self.is_subtype(self.type_of(value), *class)),
            Value::Tuple(classes) => {
                for class in classes.iter() {
                    if self.is_instance(value, class)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Value::None => Ok(value.is_none()),
            Value::Object(id) => match self.state.get(*id).clone() {
                Object::Alias(Value::Tuple(union)) => self.is_instance(value, &Value::Tuple(union)),
                _ => self.raise("TypeError", ISINSTANCE),
            },
            _ => self.raise("TypeError", ISINSTANCE),
        }
    }
}

const ISINSTANCE: &str = "isinstance() arg 2 must be a type, a tuple of types, or a union";

fn kind_of(object: &Object) -> Kind {
    match object {
        Object::List(_) | Object::OpenList(_) => Kind::List,
        Object::Dict(Dict { kind, .. }) => match kind {
            DictKind::Plain => Kind::Dict,
            DictKind::Default(_) => Kind::DefaultDict,
            DictKind::Counter => Kind::Counter,
            DictKind::Ordered => Kind::OrderedDict,
        },
        Object::Set(_) => Kind::Set,
        Object::FrozenSet(_) => Kind::FrozenSet,
        Object::Deque(..) => Kind::Deque,
        Object::Function(_) | Object::Cached(..) => Kind::Function,
        Object::Bound(..) => Kind::Method,
        Object::Class(_) | Object::Alias(_) => Kind::Type,
        Object::Iter(Iter::Enumerate(..)) => Kind::Enumerate,
        Object::Iter(Iter::Zip(..)) => Kind::Zip,
        Object::Iter(Iter::Map(..)) => Kind::Map,
        Object::Iter(Iter::Filter(..)) => Kind::Filter,
        Object::Iter(_) => Kind::Iterator,
        Object::Generator(_) => Kind::Generator,
        Object::View(..) => Kind::View,
        Object::Property(..) => Kind::Property,
        Object::Static(_) => Kind::StaticMethod,
        Object::ClassMethod(_) => Kind::ClassMethod,
        Object::Partial(..) => Kind::Partial,
        Object::Super(..) => Kind::Super,
        Object::Pattern(_) => Kind::Pattern,
        Object::Match(_) => Kind::Match,
        Object::Pending(_, kind) => match **kind {
            crate::explore::InputType::Dict(..) => Kind::Dict,
            crate::explore::InputType::Set(_) => Kind::Set,
            _ => Kind::FrozenSet,
        },
        Object::Cell(_) | Object::Instance(_) => Kind::Object,
    }
}
