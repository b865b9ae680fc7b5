//! Attributes.

use std::rc::Rc;

use crate::explore::library::methods;
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::frontend::ir::Name;
use crate::values::{ClassKind, Object, ObjectId, Type, Value};

impl Machine {
    /// A bound special method that a class of the analysed code defines.
    pub(crate) fn special(&mut self, value: &Value, name: &str) -> OrTrap<Option<Value>> {
        let Value::Object(id) = value else { return Ok(None) };
        let Object::Instance(instance) = self.state.get(*id) else { return Ok(None) };
        let Type::User(class) = instance.class else { return Ok(None) };
        match self.class_attribute(class, name) {
            Some(Value::None) | None => Ok(None),
            Some(found) => self.bind_attribute(&found, Some(value), class).map(Some),
        }
    }

    /// Searches a class and its bases.
    pub(crate) fn class_attribute(&self, class: ObjectId, name: &str) -> Option<Value> {
        let class = self.class_of(class)?;
        class.order.iter().find_map(|above| self.own_attribute(*above, name))
    }

    fn own_attribute(&self, class: Type, name: &str) -> Option<Value> {
        let Type::User(id) = class else { return None };
        let class = self.class_of(id)?;
        class.attributes.iter().find(|(known, _)| &**known == name).map(|(_, value)| value.clone())
    }

    /// Binds an attribute found on a class to a receiver.
    fn bind_attribute(&mut self, found: &Value, receiver: Option<&Value>, class: ObjectId) -> OrTrap<Value> {
        let Value::Object(id) = found else { return Ok(found.clone()) };
        match self.state.get(*id).clone() {
            Object::Function(_) | Object::Cached(..) => match receiver {
                Some(receiver) => Ok(self.object(Object::Bound(found.clone(), receiver.clone()))),
                None => Ok(found.clone()),
            },
            Object::Static(function) => Ok(function),
            Object::ClassMethod(function) => {
                Ok(self.object(Object::Bound(function, Value::Type(Type::User(class)))))
            }
            Object::Property(getter, _) => match receiver {
                Some(receiver) => self.call(&getter, vec![receiver.clone()], Vec::new()),
                None => Ok(found.clone()),
            },
            _ => Ok(found.clone()),
        }
    }

    pub(crate) fn attribute(&mut self, owner: &Value, name: &str) -> OrTrap<Value> {
        match self.try_attribute(owner, name)? {
            Some(value) => Ok(value),
            None => {
                let text = match owner {
                    Value::Type(class) => {
                        let class = self.name_of_type(*class);
                        format!("type object '{class}' has no attribute '{name}'")
                    }
                    Value::Module(module) => format!("module '{module}' has no attribute '{name}'"),
                    owner => {
                        let class = self.type_name(owner);
                        format!("'{class}' object has no attribute '{name}'")
                    }
                };
                self.raise("AttributeError", text)
            }
        }
    }

    /// Finds an attribute. `None` if it does not exist.
    pub(crate) fn try_attribute(&mut self, owner: &Value, name: &str) -> OrTrap<Option<Value>> {
        if name == "__class__" {
            return Ok(Some(Value::Type(self.type_of(owner))));
        }
        match owner {
            Value::Object(id) => self.object_attribute(*id, owner, name),
            Value::Type(Type::User(id)) => self.type_attribute(*id, owner, name),
            Value::Type(Type::Builtin(kind)) => match name {
                "__name__" | "__qualname__" => Ok(Some(Value::text(kind.name()))),
                "fromkeys" if *kind == crate::values::BuiltinType::Dict => {
                    Ok(Some(Value::Builtin("dict.fromkeys")))
                }
                "from_iterable" => Ok(None),
                "maketrans" if *kind == crate::values::BuiltinType::Str => {
                    Ok(Some(Value::Builtin("str.maketrans")))
                }
                name if methods::is_known(*kind, name) => {
                    let name: Name = Rc::from(name);
                    Ok(Some(Value::Method(Rc::new((owner.clone(), name)))))
                }
                name if methods::exists(*kind, name) => self.unsupported(format!("{}.{name}", kind.name())),
                _ => Ok(None),
            },
            Value::Module(module) => self.module_attribute(module, name),
            Value::Builtin("itertools.chain") if name == "from_iterable" => {
                Ok(Some(Value::Builtin("itertools.chain.from_iterable")))
            }
            Value::Builtin(function) if name == "__name__" => {
                Ok(Some(Value::text(function.rsplit('.').next().unwrap_or_default())))
            }
            _ => self.plain_attribute(owner, name),
        }
    }

    /// Attributes of values of built-in types.
    fn plain_attribute(&mut self, owner: &Value, name: &str) -> OrTrap<Option<Value>> {
        match (owner, name) {
            (Value::Int(_) | Value::Bool(_), "real" | "numerator") => {
                return Ok(self.as_index(owner).map(Value::Int));
            }
            (Value::Int(_) | Value::Bool(_), "imag") => return Ok(Some(Value::int(0))),
            (Value::Int(_) | Value::Bool(_), "denominator") => return Ok(Some(Value::int(1))),
            (Value::Range(parts), "start" | "stop" | "step") => {
                let index = ["start", "stop", "step"].iter().position(|known| *known == name).unwrap_or(0);
                return Ok(parts.get(index).cloned().map(Value::Int));
            }
            _ => {}
        }
        let Type::Builtin(kind) = self.type_of(owner) else { return Ok(None) };
        if methods::is_known(kind, name) {
            let name: Name = Rc::from(name);
            return Ok(Some(Value::Method(Rc::new((owner.clone(), name)))));
        }
        if methods::exists(kind, name) {
            return self.unsupported(format!("{}.{name}", kind.name()));
        }
        Ok(None)
    }

    fn object_attribute(&mut self, id: ObjectId, owner: &Value, name: &str) -> OrTrap<Option<Value>> {
        match self.state.share(id).as_ref() {
            Object::Instance(instance) => {
                let class = instance.class;
                if let Type::User(class) = class
                    && let Some(found) = self.class_attribute(class, name)
                    && self.is_data_descriptor(&found)
                {
                    return self.bind_attribute(&found, Some(owner), class).map(Some);
                }
                if let Some((_, value)) = instance.attributes.iter().find(|(known, _)| &**known == name) {
                    return Ok(Some(value.clone()));
                }
                self.inherited_attribute(class, instance.payload.as_ref(), owner, name)
            }
            Object::Function(function) => match name {
                "__name__" => Ok(Some(Value::text(&function.code.name))),
                "__qualname__" => Ok(Some(Value::text(&function.code.qualified))),
                "__doc__" => Ok(Some(function.code.docstring.as_deref().map_or(Value::None, Value::text))),
                name if name.starts_with("__") => self.unsupported(format!("{name} of a function")),
                _ => self.unsupported("an attribute of a function"),
            },
            Object::Super(class, receiver) => self.super_attribute(*class, receiver, name),
            Object::Property(getter, _) if name == "setter" => Ok(Some(self.object(Object::Partial(
                Value::Builtin("property.setter"),
                Rc::new(vec![getter.clone()]),
                Rc::default(),
            )))),
            Object::Dict(dict) if name == "default_factory" => match &dict.kind {
                crate::values::DictKind::Default(factory) => Ok(Some(factory.clone())),
                _ => Ok(None),
            },
            Object::Cached(function, _) => match name {
                "cache_info" | "cache_clear" => self.unsupported("a cache's own methods"),
                name => self.try_attribute(&function.clone(), name),
            },
            Object::Pattern(regex) if name == "pattern" => {
                Ok(Some(Value::Str(crate::values::Str::Known(regex.source.clone()))))
            }
            Object::Partial(function, args, named) if matches!(name, "func" | "args" | "keywords") => {
                let entries = named.iter().map(|(name, value)| (Value::text(name), value.clone())).collect();
                Ok(Some(match name {
                    "func" => function.clone(),
                    "args" => Value::Tuple(args.clone()),
                    _ => self.new_dict(entries, crate::values::DictKind::Plain)?,
                }))
            }
            Object::Deque(_, most) if name == "maxlen" => Ok(Some(most.map_or(Value::None, Value::int))),
            Object::Class(_) | Object::Alias(_) | Object::Cell(_) => Ok(None),
            _ => self.plain_attribute(owner, name),
        }
    }

    fn is_data_descriptor(&self, value: &Value) -> bool {
        matches!(value, Value::Object(id) if matches!(self.state.get(*id), Object::Property(..)))
    }

    fn inherited_attribute(
        &mut self,
        class: Type,
        payload: Option<&Value>,
        owner: &Value,
        name: &str,
    ) -> OrTrap<Option<Value>> {
        if self.is_exception(owner) {
            match name {
                "args" => return Ok(payload.cloned()),
                "__cause__" | "__context__" | "__traceback__" | "add_note" | "with_traceback"
                | "__notes__" => {
                    return self.unsupported(format!("{name} of an exception"));
                }
                "value"
                    if self.is_instance_of(owner, crate::values::BuiltinType::exception("StopIteration")) =>
                {
                    let first = match payload {
                        Some(Value::Tuple(args)) => args.first().cloned(),
                        _ => None,
                    };
                    return Ok(Some(first.unwrap_or(Value::None)));
                }
                _ => {}
            }
        }
        let Type::User(id) = class else { return Ok(None) };
        if let Some(found) = self.class_attribute(id, name) {
            return self.bind_attribute(&found, Some(owner), id).map(Some);
        }
        let Some(known) = self.class_of(id) else { return Ok(None) };
        match (&known.kind, name) {
            (ClassKind::NamedTuple, "_asdict" | "_replace" | "_fields" | "index" | "count") => {
                Ok(Some(Value::Method(Rc::new((owner.clone(), Rc::from(name))))))
            }
            (_, "__dict__") => self.unsupported("__dict__"),
            _ => match self.class_attribute(id, "__getattr__") {
                Some(found) => {
                    let method = self.bind_attribute(&found, Some(owner), id)?;
                    self.call(&method, vec![Value::text(name)], Vec::new()).map(Some)
                }
                None => match payload {
                    Some(payload) if !self.is_exception(owner) && !matches!(known.kind, ClassKind::Enum) => {
                        self.try_attribute(payload, name)
                    }
                    _ if methods::exists(crate::values::BuiltinType::Object, name) => {
                        self.unsupported(format!("{name} of an object"))
                    }
                    _ => Ok(None),
                },
            },
        }
    }

    fn type_attribute(&mut self, id: ObjectId, owner: &Value, name: &str) -> OrTrap<Option<Value>> {
        if let Some(found) = self.class_attribute(id, name) {
            return self.bind_attribute(&found, None, id).map(Some);
        }
        let Some(class) = self.class_of(id) else { return Ok(None) };
        match name {
            "__name__" | "__qualname__" => Ok(Some(Value::text(&class.name))),
            "__members__" | "__dataclass_fields__" => self.unsupported(name.to_owned()),
            "_fields" if class.kind == ClassKind::NamedTuple => {
                let fields = self.fields_of(id).into_iter().map(|(name, _)| Value::text(&name)).collect();
                Ok(Some(Value::tuple(fields)))
            }
            "_make" if class.kind == ClassKind::NamedTuple => {
                let make = Object::Partial(
                    Value::Builtin("object._make"),
                    Rc::new(vec![owner.clone()]),
                    Rc::default(),
                );
                Ok(Some(self.object(make)))
            }
            "__init__" | "__new__" | "__eq__" | "__repr__" | "__hash__" => {
                let _ = owner;
                self.unsupported(format!("{name} of a class"))
            }
            _ => Ok(None),
        }
    }

    fn super_attribute(&mut self, class: ObjectId, receiver: &Value, name: &str) -> OrTrap<Option<Value>> {
        let of = match receiver {
            Value::Type(class) => *class,
            receiver => self.type_of(receiver),
        };
        let Type::User(of_id) = of else { return Ok(None) };
        let Some(order) = self.class_of(of_id).map(|class| class.order.clone()) else { return Ok(None) };
        let after = order.iter().skip_while(|above| **above != Type::User(class)).skip(1);
        for above in after {
            if let Some(found) = self.own_attribute(*above, name) {
                let receiver = if matches!(receiver, Value::Type(_)) { None } else { Some(receiver) };
                return self.bind_attribute(&found, receiver, of_id).map(Some);
            }
        }
        match name {
            "__init__" | "__init_subclass__" | "__post_init__" | "__setattr__" | "__eq__" | "__repr__"
            | "__str__" => {
                let function = match name {
                    "__init__" => "object.__init__",
                    "__setattr__" => "object.__setattr__",
                    "__str__" | "__repr__" | "__eq__" => return self.unsupported(format!("super().{name}")),
                    _ => "object.__nothing__",
                };
                let bound =
                    Object::Partial(Value::Builtin(function), Rc::new(vec![receiver.clone()]), Rc::default());
                Ok(Some(self.object(bound)))
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn set_attribute(&mut self, owner: &Value, name: &Name, value: Value) -> OrTrap<()> {
        match owner {
            Value::Object(id) => {
                let Object::Instance(instance) = self.state.get(*id) else {
                    return self.unsupported("setting an attribute of this object");
                };
                let class = instance.class;
                if let Type::User(class) = class {
                    if let Some(found) = self.class_attribute(class, name)
                        && let Value::Object(found) = found
                        && let Object::Property(_, setter) = self.state.get(found).clone()
                    {
                        if setter.is_none() {
                            let text = format!(
                                "property '{name}' of '{}' object has no setter",
                                self.type_name(owner)
                            );
                            return self.raise("AttributeError", text);
                        }
                        return self.call(&setter, vec![owner.clone(), value], Vec::new()).map(|_| ());
                    }
                    if let Some(method) = self.special(owner, "__setattr__")? {
                        return self.call(&method, vec![Value::text(name), value], Vec::new()).map(|_| ());
                    }
                    let kind = self.class_of(class).map(|class| class.kind.clone());
                    match kind {
                        Some(ClassKind::Data { frozen: true, .. }) => {
                            return self
                                .raise("FrozenInstanceError", format!("cannot assign to field '{name}'"));
                        }
                        Some(ClassKind::NamedTuple) => {
                            return self.raise("AttributeError", "can't set attribute");
                        }
                        Some(ClassKind::Enum) => return self.unsupported("setting an attribute of a member"),
                        _ => {}
                    }
                    if self.is_library_value(class) && !self.frame()?.code.is_library {
                        let class = self.type_name(owner);
                        let text = format!("'{class}' object has no attribute '{name}'");
                        return self.raise("AttributeError", text);
                    }
                    if self.class_attribute(class, "__slots__").is_some() {
                        return self.unsupported("__slots__");
                    }
                }
                self.set_own_attribute(*id, name, value);
                Ok(())
            }
            Value::Type(Type::User(id)) => {
                if let Some(Object::Class(class)) = self.state.change(*id) {
                    set_in(&mut Rc::make_mut(class).attributes, name, value);
                }
                Ok(())
            }
            owner => {
                let class = self.type_name(owner);
                self.raise("AttributeError", format!("'{class}' object has no attribute '{name}'"))
            }
        }
    }

    pub(crate) fn set_own_attribute(&mut self, id: ObjectId, name: &Name, value: Value) {
        if let Some(Object::Instance(instance)) = self.state.change(id) {
            set_in(&mut instance.attributes, name, value);
        }
    }

    pub(crate) fn delete_attribute(&mut self, owner: &Value, name: &Name) -> OrTrap<()> {
        let Value::Object(id) = owner else { return self.unsupported("deleting this attribute") };
        let Some(Object::Instance(instance)) = self.state.change(*id) else {
            return self.unsupported("deleting this attribute");
        };
        let before = instance.attributes.len();
        instance.attributes.retain(|(known, _)| known != name);
        if instance.attributes.len() == before {
            return self.raise("AttributeError", name);
        }
        Ok(())
    }

    /// `super()` without arguments.
    pub(crate) fn make_super(&mut self) -> OrTrap<Value> {
        let frame = self.frame()?;
        let Some(owner) = frame.owner else {
            return self.raise("RuntimeError", "super(): no arguments");
        };
        let local = frame.locals.first().cloned().flatten();
        let receiver = match local {
            Some(receiver) => receiver,
            None => return Err(Trap::Unsupported("super() without a receiver".to_owned())),
        };
        Ok(self.object(Object::Super(owner, receiver)))
    }
}

fn set_in(attributes: &mut Vec<(Name, Value)>, name: &Name, value: Value) {
    match attributes.iter_mut().find(|(known, _)| known == name) {
        Some((_, place)) => *place = value,
        None => attributes.push((name.clone(), value)),
    }
}
