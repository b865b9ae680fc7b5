//! Types of values and the subtype relation.

use crate::explore::machine::{Machine, OrTrap};
use crate::values::{BuiltinType, Dict, DictKind, IteratorState, Object, Type, Value};

impl Machine {
    pub(crate) fn type_of(&self, value: &Value) -> Type {
        let kind = match value {
            Value::None => BuiltinType::NoneType,
            Value::NotImplemented => BuiltinType::NotImplementedType,
            Value::Ellipsis => BuiltinType::Ellipsis,
            Value::Bool(_) => BuiltinType::Bool,
            Value::Int(_) => BuiltinType::Int,
            Value::Float(_) => BuiltinType::Float,
            Value::Str(_) => BuiltinType::Str,
            Value::Bytes(_) => BuiltinType::Bytes,
            Value::Tuple(_) => BuiltinType::Tuple,
            Value::Range(_) => BuiltinType::Range,
            Value::Slice(_) => BuiltinType::Slice,
            Value::Type(_) => BuiltinType::Type,
            Value::Builtin(_) | Value::Method(_) => BuiltinType::BuiltinFunction,
            Value::Module(_) => BuiltinType::Module,
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

    /// Whether `class` equals `above` or is a subtype of it.
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

    pub(crate) fn is_instance(&mut self, value: &Value, class: &Value) -> OrTrap<bool> {
        match class {
            Value::Type(Type::Builtin(
                BuiltinType::Typing | BuiltinType::Protocol | BuiltinType::Generic,
            )) => self.unsupported("isinstance with a typing construct"),
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

fn kind_of(object: &Object) -> BuiltinType {
    match object {
        Object::List(_) | Object::OpenList(_) => BuiltinType::List,
        Object::Dict(Dict { kind, .. }) => match kind {
            DictKind::Plain => BuiltinType::Dict,
            DictKind::Default(_) => BuiltinType::DefaultDict,
            DictKind::Counter => BuiltinType::Counter,
            DictKind::Ordered => BuiltinType::OrderedDict,
        },
        Object::Set(_) => BuiltinType::Set,
        Object::FrozenSet(_) => BuiltinType::FrozenSet,
        Object::Deque(..) => BuiltinType::Deque,
        Object::Function(_) | Object::Cached(..) => BuiltinType::Function,
        Object::Bound(..) => BuiltinType::Method,
        Object::Class(_) | Object::Alias(_) => BuiltinType::Type,
        Object::Iter(IteratorState::Enumerate(..)) => BuiltinType::Enumerate,
        Object::Iter(IteratorState::Zip(..)) => BuiltinType::Zip,
        Object::Iter(IteratorState::Map(..)) => BuiltinType::Map,
        Object::Iter(IteratorState::Filter(..)) => BuiltinType::Filter,
        Object::Iter(_) => BuiltinType::Iterator,
        Object::Generator(_) => BuiltinType::Generator,
        Object::View(..) => BuiltinType::View,
        Object::Property(..) => BuiltinType::Property,
        Object::Static(_) => BuiltinType::StaticMethod,
        Object::ClassMethod(_) => BuiltinType::ClassMethod,
        Object::Partial(..) => BuiltinType::Partial,
        Object::Super(..) => BuiltinType::Super,
        Object::Pattern(_) => BuiltinType::Pattern,
        Object::Match(_) => BuiltinType::Match,
        Object::Pending(_, kind) => match **kind {
            crate::explore::InputType::Dict(..) => BuiltinType::Dict,
            crate::explore::InputType::Set(_) => BuiltinType::Set,
            _ => BuiltinType::FrozenSet,
        },
        Object::Cell(_) | Object::Instance(_) => BuiltinType::Object,
    }
}
