//! Classes of the analysed code: plain classes, dataclasses, named tuples, enums.

use std::rc::Rc;

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::explore::run::RunEnd;
use crate::explore::state::Frame;
use crate::frontend::ir::{BinaryOp, Name};
use crate::values::{BuiltinType, Class, ClassKind, Function, Instance, Object, ObjectId, Type, Value};

impl Machine {
    pub(crate) fn make_class(
        &mut self,
        name: &Name,
        body: &Value,
        bases: &Value,
        keywords: &Value,
    ) -> OrTrap<Value> {
        let Value::Tuple(bases) = bases else { return Err(Trap::Bug("no bases")) };
        let keywords = self.keywords_of(keywords)?;
        if keywords.iter().any(|(name, value)| {
            &**name != "metaclass" || !matches!(value, Value::Type(Type::Builtin(BuiltinType::AbstractBase)))
        }) {
            return self.unsupported("keywords of a class");
        }
        let bases = self.base_types(bases)?;
        let mut names = self.run_class_body(body)?;
        names.push((Rc::from("__qualname__"), self.qualified_name(body)));
        let kind = if bases.iter().any(|base| self.is_subtype(*base, Type::Builtin(BuiltinType::EnumBase))) {
            ClassKind::Enum
        } else if bases.iter().any(|base| self.is_subtype(*base, Type::Builtin(BuiltinType::NamedTupleBase)))
        {
            ClassKind::NamedTuple
        } else {
            ClassKind::Plain
        };
        let id = self.state.allocate(Object::Cell(None));
        let order = self.resolution_order(id, &bases)?;
        let is_library = self.frame()?.code.is_library;
        let kind_of_it = kind.clone();
        let class =
            Class { name: name.clone(), bases, order, attributes: names, kind: kind_of_it, is_library };
        self.state.set(id, Object::Class(Rc::new(class)));
        self.own_functions(id);
        if kind == ClassKind::Enum {
            self.make_members(id)?;
        }
        Ok(Value::Type(Type::User(id)))
    }

    fn base_types(&mut self, bases: &[Value]) -> OrTrap<Vec<Type>> {
        let mut types = Vec::new();
        for base in bases {
            match base {
                Value::Type(Type::Builtin(
                    BuiltinType::Object
                    | BuiltinType::Generic
                    | BuiltinType::Protocol
                    | BuiltinType::AbstractBase,
                )) => {}
                Value::Type(Type::Builtin(
                    kind @ (BuiltinType::Exception(_)
                    | BuiltinType::NamedTupleBase
                    | BuiltinType::EnumBase
                    | BuiltinType::IntEnumBase
                    | BuiltinType::Tuple
                    | BuiltinType::Int
                    | BuiltinType::Str
                    | BuiltinType::Float),
                )) => types.push(Type::Builtin(*kind)),
                // Library methods create plain instances where CPython's create instances of the subclass.
                Value::Type(Type::User(id)) if self.is_library_value(*id) => {
                    let name = self.name_of_type(Type::User(*id));
                    return self.unsupported(format!("a subclass of {name}"));
                }
                Value::Type(class @ Type::User(_)) => types.push(*class),
                Value::Object(id) if matches!(self.state.get(*id), Object::Alias(_)) => {}
                _ => return self.unsupported("this base class"),
            }
        }
        Ok(types)
    }

    /// Whether this is a library class with immutable instances that are described by their fields.
    pub(crate) fn is_library_value(&self, id: ObjectId) -> bool {
        self.class_of(id).is_some_and(|class| class.is_library) && !self.annotations_of(id).is_empty()
    }

    /// The class has the name of its body.
    fn qualified_name(&self, body: &Value) -> Value {
        match body {
            Value::Object(id) => match self.state.get(*id) {
                Object::Function(function) => Value::text(&function.code.qualified),
                _ => Value::None,
            },
            _ => Value::None,
        }
    }

    fn run_class_body(&mut self, body: &Value) -> OrTrap<Vec<(Name, Value)>> {
        let Value::Object(id) = body else { return Err(Trap::Bug("no class body")) };
        let Object::Function(function) = self.state.get(*id).clone() else {
            return Err(Trap::Bug("no class body"));
        };
        let mut frame = Frame::new(function.code.clone());
        frame.cells.extend(function.cells.iter().copied());
        // The body passes its names on in a cell, because its frame is gone when it returns.
        frame.names = Some(Vec::new());
        let depth = self.state.frames.len();
        self.enter_nested()?;
        self.push_frame(frame)?;
        let names = loop {
            // The last instruction of a class body is the return. Its names are read just before.
            let frame = self.frame()?;
            if self.state.frames.len() == depth + 1
                && matches!(frame.code.ops.get(frame.pc), Some(crate::frontend::ir::Op::Return))
            {
                let names = frame.names.clone().unwrap_or_default();
                self.state.frames.pop();
                break names;
            }
            self.run_one(depth)?;
        };
        self.nesting -= 1;
        Ok(names)
    }

    /// Sets the owner of the functions of a class, for `super()`.
    fn own_functions(&mut self, id: ObjectId) {
        let Some(class) = self.class_of(id) else { return };
        for (_, value) in &class.attributes {
            let Value::Object(function) = value else { continue };
            let inner = match self.state.get(*function) {
                Object::Static(Value::Object(inner)) | Object::ClassMethod(Value::Object(inner)) => *inner,
                Object::Property(Value::Object(inner), setter) => {
                    let (inner, setter) = (*inner, setter.clone());
                    if let Value::Object(setter) = setter {
                        self.own_function(setter, id);
                    }
                    inner
                }
                _ => *function,
            };
            self.own_function(inner, id);
        }
    }

    fn own_function(&mut self, function: ObjectId, class: ObjectId) {
        if let Object::Function(found) = self.state.get(function)
            && found.owner.is_none()
        {
            let owned = Function { owner: Some(class), ..(**found).clone() };
            self.state.set(function, Object::Function(Rc::new(owned)));
        }
    }

    /// C3 linearization, for hierarchies without conflicts.
    fn resolution_order(&mut self, id: ObjectId, bases: &[Type]) -> OrTrap<Vec<Type>> {
        let mut lists: Vec<Vec<Type>> = Vec::new();
        for base in bases {
            lists.push(match base {
                Type::User(id) => self.class_of(*id).map(|class| class.order.clone()).unwrap_or_default(),
                base => vec![*base],
            });
        }
        lists.push(bases.to_vec());
        let mut order = vec![Type::User(id)];
        loop {
            lists.retain(|list| !list.is_empty());
            if lists.is_empty() {
                return Ok(order);
            }
            let is_later = |candidate: &Type| {
                lists.iter().any(|list| list.iter().skip(1).any(|other| other == candidate))
            };
            let Some(next) =
                lists.iter().filter_map(|list| list.first()).find(|first| !is_later(first)).copied()
            else {
                return self.raise("TypeError", "Cannot create a consistent method resolution order (MRO)");
            };
            order.push(next);
            for list in &mut lists {
                list.retain(|other| *other != next);
            }
        }
    }

    /// The annotated fields of a class and its bases, each with its default.
    pub(crate) fn fields_of(&self, id: ObjectId) -> Vec<(Name, Option<Value>)> {
        let mut fields: Vec<(Name, Option<Value>)> = Vec::new();
        let order = self.class_of(id).map(|class| class.order.clone()).unwrap_or_default();
        for above in order.iter().rev() {
            let Type::User(above) = above else { continue };
            for (name, annotation) in self.annotations_of(*above) {
                if annotation.contains("ClassVar") {
                    continue;
                }
                let class = self.class_of(*above);
                let default = class.and_then(|class| {
                    class.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
                });
                match fields.iter_mut().find(|(known, _)| *known == name) {
                    Some(field) => field.1 = default,
                    None => fields.push((name, default)),
                }
            }
        }
        fields
    }

    /// The annotated names of one class body with the text of the annotations.
    pub(crate) fn annotations_of(&self, id: ObjectId) -> Vec<(Name, String)> {
        let Some(class) = self.class_of(id) else { return Vec::new() };
        let found = class.attributes.iter().find(|(name, _)| &**name == "__annotations__");
        let Some((_, Value::Object(dict))) = found else { return Vec::new() };
        let Object::Dict(dict) = self.state.get(*dict) else { return Vec::new() };
        let pairs = dict.entries.iter().filter_map(|(name, text)| Some((name.as_text()?, text.as_text()?)));
        pairs.map(|(name, text)| (Rc::from(name.as_str()), text)).collect()
    }

    /// The values of the dataclass fields that take part in equality and order.
    pub(crate) fn field_values(&mut self, value: &Value) -> OrTrap<Vec<Value>> {
        let Type::User(class) = self.type_of(value) else { return Ok(Vec::new()) };
        let mut values = Vec::new();
        for (name, _) in self.fields_of(class) {
            values.push(self.attribute(value, &name)?);
        }
        Ok(values)
    }

    /// Instantiates a class.
    pub(crate) fn instantiate(&mut self, class: Type, args: Vec<Value>, keywords: Keywords) -> OrTrap<Value> {
        let id = match class {
            Type::Builtin(kind) => return self.construct(kind, args, keywords),
            Type::User(id) => id,
        };
        let Some(found) = self.class_of(id) else { return Err(Trap::Bug("no class")) };
        if found.kind == ClassKind::Enum {
            return self.member_by_value(id, &args);
        }
        if self.class_attribute(id, "__new__").is_some() {
            return self.unsupported("__new__");
        }
        self.refuse_abstract(id)?;
        let is_exception = self.is_exception_type(class);
        let payload = if is_exception {
            Some(Value::tuple(args.clone()))
        } else if found.kind == ClassKind::NamedTuple {
            let values = self.bind_fields(id, args, keywords)?;
            let payload = Some(Value::tuple(values.into_iter().map(|(_, value)| value).collect()));
            let instance = self.object(Object::Instance(Instance { class, attributes: Vec::new(), payload }));
            let fields = self.fields_of(id);
            if let Value::Object(instance_id) = &instance
                && let Some(Object::Instance(found)) = self.state.change(*instance_id)
                && let Some(Value::Tuple(items)) = found.payload.clone()
            {
                found.attributes =
                    fields.into_iter().map(|(name, _)| name).zip(items.iter().cloned()).collect();
            }
            return Ok(instance);
        } else if let Some(kind) = self.builtin_base(id) {
            Some(self.construct(kind, args.clone(), Vec::new())?)
        } else {
            None
        };
        let has_payload = payload.is_some();
        let instance = self.object(Object::Instance(Instance { class, attributes: Vec::new(), payload }));
        if let Some(init) = self.special(&instance, "__init__")? {
            let result = self.call(&init, args, keywords)?;
            if !result.is_none() {
                let name = self.type_name(&result);
                return self.raise("TypeError", format!("__init__() should return None, not '{name}'"));
            }
        } else if let ClassKind::Data { .. } = self.data_kind(id) {
            self.init_data(id, &instance, args, keywords)?;
        } else if !has_payload && (!args.is_empty() || !keywords.is_empty()) {
            return self.raise("TypeError", format!("{}() takes no arguments", found.name));
        } else if has_payload && !keywords.is_empty() {
            return self.raise("TypeError", format!("{}() takes no keyword arguments", found.name));
        }
        Ok(instance)
    }

    fn builtin_base(&self, id: ObjectId) -> Option<BuiltinType> {
        let class = self.class_of(id)?;
        class.order.iter().find_map(|above| match above {
            Type::Builtin(
                kind @ (BuiltinType::Int | BuiltinType::Str | BuiltinType::Float | BuiltinType::Tuple),
            ) => Some(*kind),
            _ => None,
        })
    }

    fn data_kind(&self, id: ObjectId) -> ClassKind {
        let order = self.class_of(id).map(|class| class.order.clone()).unwrap_or_default();
        let kinds = order.iter().filter_map(|above| match above {
            Type::User(above) => self.class_of(*above).map(|class| class.kind.clone()),
            Type::Builtin(_) => None,
        });
        kinds.into_iter().find(|kind| matches!(kind, ClassKind::Data { .. })).unwrap_or(ClassKind::Plain)
    }

    /// Refuses a class with an abstract method that is not overridden.
    fn refuse_abstract(&mut self, id: ObjectId) -> OrTrap<()> {
        let order = self.class_of(id).map(|class| class.order.clone()).unwrap_or_default();
        let mut seen: Vec<Name> = Vec::new();
        for above in order {
            let Type::User(above) = above else { continue };
            let Some(class) = self.class_of(above) else { continue };
            for (name, value) in &class.attributes {
                if seen.contains(name) {
                    continue;
                }
                seen.push(name.clone());
                if matches!(value, Value::Object(id) if matches!(self.state.get(*id), Object::Alias(Value::Object(_))))
                {
                    let class = self.class_of(id).map(|class| class.name.to_string()).unwrap_or_default();
                    let text =
                        format!("Can't instantiate abstract class {class} with abstract method {name}");
                    return self.raise("TypeError", text);
                }
            }
        }
        Ok(())
    }

    fn bind_fields(
        &mut self,
        id: ObjectId,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Vec<(Name, Value)>> {
        let fields = self.fields_of(id);
        let class = self.class_of(id).map(|class| class.name.to_string()).unwrap_or_default();
        if args.len() > fields.len() {
            let (count, given) = (fields.len() + 1, args.len() + 1);
            let text =
                format!("{class}.__init__() takes {count} positional arguments but {given} were given");
            return self.raise("TypeError", text);
        }
        let mut values: Vec<Option<Value>> = vec![None; fields.len()];
        for (place, value) in values.iter_mut().zip(args) {
            *place = Some(value);
        }
        for (name, value) in keywords {
            let index = fields.iter().position(|(known, _)| *known == name);
            match index.and_then(|index| values.get_mut(index)) {
                Some(place @ None) => *place = Some(value),
                Some(_) => {
                    let text = format!("{class}.__init__() got multiple values for argument '{name}'");
                    return self.raise("TypeError", text);
                }
                None => {
                    let text = format!("{class}.__init__() got an unexpected keyword argument '{name}'");
                    return self.raise("TypeError", text);
                }
            }
        }
        let mut bound = Vec::new();
        for ((name, default), value) in fields.into_iter().zip(values) {
            let value = match (value, default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.field_default(&default)?,
                (None, None) => {
                    let text = format!("{class}.__init__() missing 1 required positional argument: '{name}'");
                    return self.raise("TypeError", text);
                }
            };
            bound.push((name, value));
        }
        Ok(bound)
    }

    /// `field(default=…)` and `field(default_factory=…)`.
    fn field_default(&mut self, default: &Value) -> OrTrap<Value> {
        if let Value::Object(id) = default
            && let Object::Partial(Value::Builtin("dataclasses.field"), _, named) =
                self.state.get(*id).clone()
        {
            let known = ["default", "default_factory"];
            return match named.iter().find(|(name, _)| known.contains(&&**name)) {
                Some(_) if named.len() > 1 => self.unsupported("this option of field()"),
                Some((name, value)) if &**name == "default" => Ok(value.clone()),
                Some((_, factory)) => self.call(factory, Vec::new(), Vec::new()),
                None => self.unsupported("field() without a default"),
            };
        }
        Ok(default.clone())
    }

    fn init_data(
        &mut self,
        class: ObjectId,
        instance: &Value,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<()> {
        let fields = self.bind_fields(class, args, keywords)?;
        let Value::Object(id) = instance else { return Err(Trap::Bug("no instance")) };
        for (name, value) in fields {
            self.set_own_attribute(*id, &name, value);
        }
        if let Some(method) = self.special(instance, "__post_init__")? {
            self.call(&method, Vec::new(), Vec::new())?;
        }
        Ok(())
    }

    /// The `dataclass` decorator.
    pub(crate) fn make_data(&mut self, class: &Value, options: &Keywords) -> OrTrap<Value> {
        let Value::Type(Type::User(id)) = class else { return self.unsupported("dataclass of this") };
        let (mut frozen, mut ordered, mut has_eq) = (false, false, true);
        for (name, value) in options {
            let value = self.decide_value(value)?;
            match &**name {
                "frozen" => frozen = value,
                "order" => ordered = value,
                "eq" => has_eq = value,
                "repr" | "init" if value => {}
                "slots" | "kw_only" if !value => {}
                _ => return self.unsupported(format!("the option {name} of dataclass")),
            }
        }
        for (_, default) in self.fields_of(*id) {
            if let Some(Value::Object(default)) = &default
                && let Object::List(_) | Object::Dict(_) | Object::Set(_) = self.state.get(*default)
            {
                return self
                    .raise("ValueError", "mutable default for a field is not allowed: use default_factory");
            }
        }
        if let Some(Object::Class(found)) = self.state.change(*id) {
            Rc::make_mut(found).kind = ClassKind::Data { frozen, ordered, has_eq };
        }
        Ok(class.clone())
    }

    /// The members of an enum, in order, without aliases.
    pub(crate) fn enum_members(&self, id: ObjectId) -> Option<Vec<Value>> {
        let class = self.class_of(id)?;
        if class.kind != ClassKind::Enum {
            return None;
        }
        let members = class.attributes.iter().filter(|(_, value)| {
            matches!(value, Value::Object(member) if matches!(self.state.get(*member), Object::Instance(instance) if instance.class == Type::User(id)))
        });
        let mut distinct: Vec<Value> = Vec::new();
        for (_, member) in members {
            let is_known = distinct
                .iter()
                .any(|known| matches!((known, member), (Value::Object(a), Value::Object(b)) if a == b));
            if !is_known {
                distinct.push(member.clone());
            }
        }
        Some(distinct)
    }

    fn make_members(&mut self, id: ObjectId) -> OrTrap<()> {
        let Some(class) = self.class_of(id) else { return Ok(()) };
        let is_int = class.bases.iter().any(|base| {
            self.is_subtype(*base, Type::Builtin(BuiltinType::Int))
                || self.is_subtype(*base, Type::Builtin(BuiltinType::Str))
        });
        let mut seen: Vec<(Value, Value)> = Vec::new();
        let mut last = Value::int(0);
        for (name, value) in &class.attributes {
            if name.starts_with('_') || self.is_callable_attribute(value) {
                continue;
            }
            let value = match value {
                Value::Builtin("enum.auto.value") => self.binary(BinaryOp::Add, &last, &Value::int(1))?,
                value => value.clone(),
            };
            last = value.clone();
            let known = self.key_position(&seen, &value)?;
            let member = match known.and_then(|index| seen.get(index)) {
                Some((_, member)) => member.clone(),
                None => {
                    let attributes =
                        vec![(Rc::from("name"), Value::text(name)), (Rc::from("value"), value.clone())];
                    let payload = is_int.then(|| value.clone());
                    let instance = Instance { class: Type::User(id), attributes, payload };
                    let member = self.object(Object::Instance(instance));
                    seen.push((value, member.clone()));
                    member
                }
            };
            self.set_attribute(&Value::Type(Type::User(id)), name, member)?;
        }
        Ok(())
    }

    fn is_callable_attribute(&self, value: &Value) -> bool {
        matches!(value, Value::Object(id) if matches!(
            self.state.get(*id),
            Object::Function(_) | Object::Property(..) | Object::Static(_) | Object::ClassMethod(_)
        ))
    }

    /// `Colour(1)`.
    fn member_by_value(&mut self, id: ObjectId, args: &[Value]) -> OrTrap<Value> {
        let [wanted] = args else { return self.unsupported("this call of an enum") };
        for member in self.enum_members(id).unwrap_or_default() {
            if let (Value::Object(a), Value::Object(b)) = (&member, wanted)
                && a == b
            {
                return Ok(member);
            }
            let value = self.attribute(&member, "value")?;
            let equal = self.same_or_equal(&value, wanted)?;
            if self.decide(equal)? {
                return Ok(member);
            }
        }
        let text = self.repr_of(wanted)?;
        let class = self.class_of(id).map(|class| class.name.to_string()).unwrap_or_default();
        let suffix = Value::text(&format!(" is not a valid {class}"));
        let message = self.concatenate(&[Value::Str(text), suffix])?;
        self.raise_with("ValueError", vec![message])
    }

    /// Runs one instruction of a nested frame.
    fn run_one(&mut self, depth: usize) -> OrTrap<()> {
        match self.run_step(depth)? {
            None => Ok(()),
            Some(RunEnd::Returned(_)) => Err(Trap::Bug("a class body returned early")),
            Some(RunEnd::Yielded(..)) => Err(Trap::Bug("a class body yields")),
        }
    }
}
