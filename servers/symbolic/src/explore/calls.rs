//! Calls.

use std::rc::Rc;

use super::machine::{Machine, OrTrap, Trap};
use super::run::{Flow, RunEnd};
use super::state::Frame;
use crate::frontend::ir::Name;
use crate::values::{BuiltinType, Dict, DictKind, Function, Generator, Object, ObjectId, Type, Value};

pub(crate) type Keywords = Vec<(Name, Value)>;

impl Machine {
    /// The call instruction. A function of the analysed code gets a frame; other callables run at once.
    pub(super) fn call_op(
        &mut self,
        callee: &Value,
        args: Vec<Value>,
        keywords: Keywords,
        operands: usize,
    ) -> OrTrap<Flow> {
        if let Some((function, args)) = self.plain_function(callee, &args)
            && !function.code.is_generator
        {
            let frame = self.bind(&function, args, keywords)?;
            self.drop(operands)?;
            self.frame_mut()?.pc += 1;
            if let Err(trap) = self.push_frame(frame) {
                // The program counter must still point to the call while the exception propagates.
                if let Ok(frame) = self.frame_mut() {
                    frame.pc -= 1;
                }
                return Err(trap);
            }
            return Ok(Flow::Stay);
        }
        let value = self.call(callee, args, keywords)?;
        self.replace(operands, value)?;
        Ok(Flow::Next)
    }

    /// The function of a callable. The receiver of a bound method becomes an argument.
    fn plain_function(&self, callee: &Value, args: &[Value]) -> Option<(Rc<Function>, Vec<Value>)> {
        let Value::Object(id) = callee else { return None };
        match self.state.get(*id) {
            Object::Function(function) => Some((function.clone(), args.to_vec())),
            Object::Bound(Value::Object(inner), receiver) => match self.state.get(*inner) {
                Object::Function(function) => {
                    Some((function.clone(), std::iter::once(receiver).chain(args).cloned().collect()))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Calls any callable from inside an instruction.
    pub(crate) fn call(&mut self, callee: &Value, args: Vec<Value>, keywords: Keywords) -> OrTrap<Value> {
        if let Some((function, args)) = self.plain_function(callee, &args) {
            let frame = self.bind(&function, args, keywords)?;
            if function.code.is_generator {
                let generator =
                    Generator { frame: Some(Rc::new(frame)), is_running: false, has_started: false };
                return Ok(self.object(Object::Generator(generator)));
            }
            return match self.run_nested(frame)? {
                RunEnd::Returned(value) => Ok(value),
                RunEnd::Yielded(..) => Err(Trap::Bug("a plain function yields")),
            };
        }
        match callee {
            Value::Builtin(name) => self.call_builtin(name, args, keywords),
            Value::Method(method) => {
                let (receiver, name) = (&method.0, method.1.clone());
                self.call_method(receiver, &name, args, keywords)
            }
            Value::Type(class) => self.instantiate(*class, args, keywords),
            Value::Object(id) => self.call_object(*id, callee, args, keywords),
            other => {
                let name = self.type_name(other);
                self.raise("TypeError", format!("'{name}' object is not callable"))
            }
        }
    }

    /// The cache is used only if every argument is known, because a lookup must not fork the state.
    fn call_cached(
        &mut self,
        id: ObjectId,
        function: &Value,
        known: &[(Value, Value)],
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        for value in args.iter().chain(keywords.iter().map(|(_, value)| value)) {
            self.check_hashable(value)?;
        }
        let key = Value::tuple(args.clone());
        let is_plain = keywords.is_empty() && self.known_data(&key).is_some();
        if is_plain && let Some(place) = self.key_position(known, &key)? {
            return Ok(known.get(place).map_or(Value::None, |(_, result)| result.clone()));
        }
        let result = self.call(function, args, keywords)?;
        if is_plain && let Some(Object::Cached(_, known)) = self.state.change(id) {
            known.push((key, result.clone()));
        }
        Ok(result)
    }

    /// The frame of a call of a function of the analysed code.
    pub(crate) fn frame_for(
        &mut self,
        function: &Value,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Frame> {
        match self.plain_function(function, &args) {
            Some((function, args)) if !function.code.is_generator => self.bind(&function, args, keywords),
            Some(_) => self.unsupported("a generator as the function to analyse"),
            None => Err(Trap::Bug("no function")),
        }
    }

    fn call_object(
        &mut self,
        id: ObjectId,
        callee: &Value,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        match self.state.get(id).clone() {
            Object::Bound(function, receiver) => {
                let args = std::iter::once(receiver).chain(args).collect();
                self.call(&function, args, keywords)
            }
            Object::Partial(function, bound, named) => {
                let args = bound.iter().cloned().chain(args).collect();
                let kept = named.iter().filter(|(name, _)| !keywords.iter().any(|(given, _)| given == name));
                let keywords = kept.cloned().chain(keywords.iter().cloned()).collect();
                self.call(&function, args, keywords)
            }
            Object::Cached(function, known) => self.call_cached(id, &function, &known, args, keywords),
            Object::Static(function) => self.call(&function, args, keywords),
            Object::Alias(_) => self.unsupported("a call of an abstract method or a typing construct"),
            Object::Instance(_) => match self.special(callee, "__call__")? {
                Some(method) => self.call(&method, args, keywords),
                None => {
                    let name = self.type_name(callee);
                    self.raise("TypeError", format!("'{name}' object is not callable"))
                }
            },
            _ => {
                let name = self.type_name(callee);
                self.raise("TypeError", format!("'{name}' object is not callable"))
            }
        }
    }

    /// Binds arguments to parameters.
    fn bind(&mut self, function: &Rc<Function>, args: Vec<Value>, keywords: Keywords) -> OrTrap<Frame> {
        let code = function.code.clone();
        let parameters = &code.parameters;
        let count = parameters.positional.len();
        let name = code.qualified.clone();
        let mut frame = Frame::new(code.clone());
        frame.owner = function.owner;
        let mut slots: Vec<Option<Value>> = vec![None; count + parameters.keyword_only.len()];
        let given = args.len();
        let mut extra = Vec::new();
        for (index, value) in args.into_iter().enumerate() {
            match slots.get_mut(index).filter(|_| index < count) {
                Some(slot) => *slot = Some(value),
                None => extra.push(value),
            }
        }
        if !extra.is_empty() && parameters.star.is_none() {
            let named = keywords.iter().filter(|(name, _)| parameters.keyword_only.contains(name)).count();
            let text = too_many(&name, count, function.defaults.len(), (given, named));
            return self.raise("TypeError", text);
        }
        let mut rest: Vec<(Value, Value)> = Vec::new();
        for (keyword, value) in keywords {
            let all = parameters.positional.iter().chain(&parameters.keyword_only);
            let found =
                all.enumerate().skip(parameters.positional_only).find(|(_, known)| **known == keyword);
            match found.and_then(|(index, _)| slots.get_mut(index)) {
                Some(slot @ None) => *slot = Some(value),
                Some(Some(_)) => {
                    let text = format!("{name}() got multiple values for argument '{keyword}'");
                    return self.raise("TypeError", text);
                }
                None if parameters.double_star.is_some() => rest.push((Value::text(&keyword), value)),
                None => {
                    let text = format!("{name}() got an unexpected keyword argument '{keyword}'");
                    return self.raise("TypeError", text);
                }
            }
        }
        self.fill_defaults(function, &mut slots)?;
        if parameters.star.is_some() {
            slots.push(Some(Value::tuple(extra)));
        }
        if parameters.double_star.is_some() {
            let dict = Dict { entries: rest, kind: DictKind::Plain };
            slots.push(Some(self.object(Object::Dict(dict))));
        }
        for (place, value) in frame.locals.iter_mut().zip(slots) {
            *place = value;
        }
        for (_, parameter) in &code.own_cells {
            let value = parameter.and_then(|index| frame.locals.get(index as usize).cloned().flatten());
            frame.cells.push(self.state.allocate(Object::Cell(value)));
        }
        frame.cells.extend(function.cells.iter().copied());
        Ok(frame)
    }

    fn fill_defaults(&mut self, function: &Rc<Function>, slots: &mut [Option<Value>]) -> OrTrap<()> {
        let parameters = &function.code.parameters;
        let count = parameters.positional.len();
        let first_default = count.saturating_sub(function.defaults.len());
        let mut missing = Vec::new();
        for (index, name) in parameters.positional.iter().enumerate() {
            let Some(slot @ None) = slots.get_mut(index) else { continue };
            match index.checked_sub(first_default).and_then(|index| function.defaults.get(index)) {
                Some(value) => *slot = Some(value.clone()),
                None => missing.push(name.clone()),
            }
        }
        if !missing.is_empty() {
            let text = missing_text(&function.code.qualified, "positional", &missing);
            return self.raise("TypeError", text);
        }
        for (index, name) in parameters.keyword_only.iter().enumerate() {
            let Some(slot @ None) = slots.get_mut(count + index) else { continue };
            match function.keyword_defaults.iter().find(|(known, _)| known == name) {
                Some((_, value)) => *slot = Some(value.clone()),
                None => missing.push(name.clone()),
            }
        }
        if !missing.is_empty() {
            let text = missing_text(&function.code.qualified, "keyword-only", &missing);
            return self.raise("TypeError", text);
        }
        Ok(())
    }

    /// Sends a value into a generator. `None` if it ended; its return value is dropped.
    pub(crate) fn resume(&mut self, id: ObjectId, sent: Value) -> OrTrap<Option<Value>> {
        match self.resume_or_result(id, sent)? {
            Ok(value) => Ok(Some(value)),
            Err(_) => Ok(None),
        }
    }

    /// Like `resume`, with the generator's return value as the inner error.
    pub(crate) fn resume_or_result(&mut self, id: ObjectId, sent: Value) -> OrTrap<Result<Value, Value>> {
        let Object::Generator(generator) = self.state.get(id).clone() else {
            return Err(Trap::Bug("no generator"));
        };
        if generator.is_running {
            return self.raise("ValueError", "generator already executing");
        }
        let Some(frame) = generator.frame else { return Ok(Err(Value::None)) };
        if !generator.has_started && !sent.is_none() {
            return self.raise("TypeError", "can't send non-None value to a just-started generator");
        }
        let mut frame = (*frame).clone();
        if generator.has_started {
            frame.stack.push(sent);
        }
        let running = Generator { frame: None, is_running: true, has_started: true };
        self.state.set(id, Object::Generator(running));
        let ran = self.run_nested(frame);
        let (frame, result) = match ran {
            Ok(RunEnd::Yielded(value, frame)) => (Some(frame), Ok(Ok(value))),
            Ok(RunEnd::Returned(value)) => (None, Ok(Err(value))),
            Err(Trap::Raise(exception)) => (None, Err(exception)),
            Err(trap) => return Err(trap),
        };
        self.state.set(id, Object::Generator(Generator { frame, is_running: false, has_started: true }));
        match result {
            Ok(result) => Ok(result),
            // PEP 479.
            Err(exception) if self.is_instance_of(&exception, BuiltinType::exception("StopIteration")) => {
                self.raise("RuntimeError", "generator raised StopIteration")
            }
            Err(exception) => Err(Trap::Raise(exception)),
        }
    }

    /// `yield from`. The iterator is on the stack. From the second round on it is marked, with the sent value
    /// above it.
    pub(super) fn yield_from(&mut self) -> OrTrap<Flow> {
        let top = self.peek(0)?;
        let (iterator, sent, operands) = match self.peek(1) {
            // No expression leaves a slice below a `yield from`, so a slice can be the mark.
            Ok(Value::Slice(mark)) => (mark.first().cloned().unwrap_or(Value::None), top, 2),
            _ => (top, Value::None, 1),
        };
        let mark = Value::Slice(Rc::new([iterator.clone(), Value::None, Value::None]));
        let result = match &iterator {
            Value::Object(id) if matches!(self.state.get(*id), Object::Generator(_)) => {
                self.resume_or_result(*id, sent)?
            }
            _ if !sent.is_none() => return self.unsupported("send through yield from"),
            _ => self.next(&iterator)?.ok_or(Value::None),
        };
        match result {
            Ok(value) => {
                self.replace(operands, mark)?;
                Ok(Flow::Yield(value))
            }
            Err(result) => {
                self.replace(operands, result)?;
                Ok(Flow::Next)
            }
        }
    }

    pub(super) fn raise_value<T>(&mut self, value: &Value) -> OrTrap<T> {
        self.raised_at = self.line();
        match value {
            Value::Type(class) if self.is_exception_type(*class) => {
                let exception = self.instantiate(*class, Vec::new(), Vec::new())?;
                Err(Trap::Raise(exception))
            }
            Value::Object(_) if self.is_exception(value) => Err(Trap::Raise(value.clone())),
            _ => self.raise("TypeError", "exceptions must derive from BaseException"),
        }
    }

    pub(super) fn exception_matches(&mut self, exception: &Value, class: &Value) -> OrTrap<bool> {
        match class {
            Value::Tuple(classes) => {
                for class in classes.iter() {
                    if self.exception_matches(exception, class)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Value::Type(class) if self.is_exception_type(*class) => {
                let found = self.type_of(exception);
                Ok(self.is_subtype(found, *class))
            }
            _ => self
                .raise("TypeError", "catching classes that do not inherit from BaseException is not allowed"),
        }
    }

    pub(crate) fn is_exception(&self, value: &Value) -> bool {
        self.is_exception_type(self.type_of(value))
    }

    pub(crate) fn is_exception_type(&self, class: Type) -> bool {
        self.is_subtype(class, Type::Builtin(BuiltinType::exception("BaseException")))
    }

    pub(crate) fn is_instance_of(&self, value: &Value, kind: BuiltinType) -> bool {
        self.is_subtype(self.type_of(value), Type::Builtin(kind))
    }
}

impl BuiltinType {
    pub(crate) fn exception(name: &str) -> Self {
        Self::Exception(crate::values::exception_named(name).unwrap_or(1))
    }
}

fn too_many(name: &str, count: usize, defaults: usize, (given, named): (usize, usize)) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let takes = if defaults > 0 {
        format!("from {} to {count} positional arguments", count - defaults)
    } else {
        format!("{count} positional argument{}", plural(count))
    };
    let given_text = match (given, named) {
        (given, 0) => format!("{given} {}", if given == 1 { "was" } else { "were" }),
        (given, named) => format!(
            "{given} positional argument{} (and {named} keyword-only argument{}) were",
            plural(given),
            plural(named)
        ),
    };
    format!("{name}() takes {takes} but {given_text} given")
}

fn missing_text(name: &str, kind: &str, missing: &[Name]) -> String {
    let quoted: Vec<String> = missing.iter().map(|name| format!("'{name}'")).collect();
    let names = match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    };
    let plural = if missing.len() == 1 { "" } else { "s" };
    format!("{name}() missing {} required {kind} argument{plural}: {names}", missing.len())
}
