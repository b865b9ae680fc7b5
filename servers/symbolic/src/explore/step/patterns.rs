//! The instructions of `match`.

use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::explore::run::Flow;
use crate::frontend::ir::{CompareOp, Name, Op};
use crate::values::{BuiltinType, ClassKind, DictKind, Type, Value};

impl Machine {
    pub(super) fn execute_pattern(&mut self, op: &Op) -> OrTrap<Flow> {
        match op {
            Op::IsSequence => {
                let value = self.peek(0)?;
                let kind = match self.type_of(&value) {
                    Type::Builtin(kind) => {
                        matches!(
                            kind,
                            BuiltinType::List | BuiltinType::Tuple | BuiltinType::Range | BuiltinType::Deque
                        )
                    }
                    class @ Type::User(_) => {
                        self.is_subtype(class, Type::Builtin(BuiltinType::NamedTupleBase))
                    }
                };
                self.replace(1, Value::bool(kind))?;
            }
            Op::IsMapping => {
                let value = self.peek(0)?;
                let is = self.is_instance_of(&value, BuiltinType::Dict);
                self.replace(1, Value::bool(is))?;
            }
            Op::LengthIs(count) | Op::LengthAtLeast(count) => {
                let value = self.peek(0)?;
                let length = self.length(&value)?;
                let op = if matches!(op, Op::LengthIs(_)) { CompareOp::Eq } else { CompareOp::Ge };
                let truth = self.number_compare(op, &Value::Int(length), &Value::int(*count))?;
                self.replace(1, Value::Bool(truth))?;
            }
            Op::MatchClass(count, names) => {
                let (subject, class) = (self.peek(1)?, self.peek(0)?);
                let found = self.match_class(&subject, &class, *count as usize, names)?;
                self.replace(2, found.map_or(Value::None, Value::tuple))?;
            }
            Op::MatchKeys => {
                let (subject, keys) = (self.peek(1)?, self.peek(0)?);
                let entries = self.entries_of(&subject)?;
                let mut values = Some(Vec::new());
                for key in self.collect(&keys)? {
                    let place = self.key_position(&entries, &key)?;
                    match (place.and_then(|place| entries.get(place)), &mut values) {
                        (Some((_, value)), Some(values)) => values.push(value.clone()),
                        _ => {
                            values = None;
                            break;
                        }
                    }
                }
                self.replace(2, values.map_or(Value::None, Value::tuple))?;
            }
            Op::MappingRest => {
                let (subject, keys) = (self.peek(1)?, self.peek(0)?);
                let keys = self.collect(&keys)?;
                let mut rest = Vec::new();
                for (key, value) in self.entries_of(&subject)? {
                    if self.position(&keys, &key)?.is_none() {
                        rest.push((key, value));
                    }
                }
                let rest = self.new_dict(rest, DictKind::Plain)?;
                self.replace(2, rest)?;
            }
            _ => return Err(Trap::Bug("not an instruction of this group")),
        }
        Ok(Flow::Next)
    }

    fn match_class(
        &mut self,
        subject: &Value,
        class: &Value,
        count: usize,
        names: &[Name],
    ) -> OrTrap<Option<Vec<Value>>> {
        if !self.is_instance(subject, class)? {
            return Ok(None);
        }
        let mut found = Vec::new();
        let mut positional: Vec<Name> = Vec::new();
        if count > 0 {
            match class {
                Value::Type(Type::Builtin(
                    BuiltinType::Bool
                    | BuiltinType::Int
                    | BuiltinType::Float
                    | BuiltinType::Str
                    | BuiltinType::Bytes
                    | BuiltinType::Tuple
                    | BuiltinType::List
                    | BuiltinType::Dict
                    | BuiltinType::Set
                    | BuiltinType::FrozenSet,
                )) if count == 1 => found.push(subject.clone()),
                Value::Type(Type::User(id)) => {
                    let kind = self.class_of(*id).map(|class| class.kind.clone());
                    positional = match (self.class_attribute(*id, "__match_args__"), kind) {
                        (Some(Value::Tuple(names)), _) => {
                            names.iter().filter_map(Value::as_text).map(|name| name.as_str().into()).collect()
                        }
                        (_, Some(ClassKind::Data { .. } | ClassKind::NamedTuple)) => {
                            self.fields_of(*id).into_iter().map(|(name, _)| name).collect()
                        }
                        _ => Vec::new(),
                    };
                    if positional.len() < count {
                        let (name, most) = (self.name_of_type(Type::User(*id)), positional.len());
                        let text = format!("{name}() accepts {most} positional sub-patterns ({count} given)");
                        return self.raise("TypeError", text);
                    }
                }
                _ => return self.unsupported("this class pattern"),
            }
        }
        for name in positional.iter().take(count).chain(names) {
            match self.try_attribute(subject, name)? {
                Some(value) => found.push(value),
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }
}
