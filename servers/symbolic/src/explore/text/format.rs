//! `str`, `repr` and `format`.

use std::rc::Rc;

use num_bigint::BigInt;

use super::format_spec::{FormatSpec, pad};
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::values::{ClassKind, DictKind, Float, Int, Object, ObjectId, Str, Type, Value, text};

/// Maximum nesting of a `repr`, because a container may contain itself.
const DEEPEST: usize = 40;

impl Machine {
    /// `str(value)`.
    pub(crate) fn str_of(&mut self, value: &Value) -> OrTrap<Str> {
        match value {
            Value::Str(found) => Ok(found.clone()),
            Value::Object(id) => {
                if let Some(method) = self.special(value, "__str__")? {
                    return self.call_for_text(&method);
                }
                if self.is_exception(value) {
                    return self.exception_text(*id);
                }
                if let Object::Instance(instance) = self.state.get(*id).clone() {
                    if let Type::User(class) = instance.class
                        && self.class_of(class).is_some_and(|class| class.kind == ClassKind::Enum)
                    {
                        if let Some(payload) = &instance.payload {
                            // `IntEnum` and mixed-in strings print as their value.
                            let is_int = matches!(payload, Value::Int(_));
                            if is_int {
                                return self.str_of(payload);
                            }
                        }
                        let name = self.name_of_type(instance.class);
                        let member = self.attribute(value, "name")?.as_text().unwrap_or_default();
                        return Ok(Str::of(&format!("{name}.{member}")));
                    }
                    if let Some(payload @ Value::Str(_)) = &instance.payload {
                        return self.str_of(payload);
                    }
                }
                self.repr_of(value)
            }
            value => self.repr_of(value),
        }
    }

    fn call_for_text(&mut self, method: &Value) -> OrTrap<Str> {
        match self.call(method, Vec::new(), Vec::new())? {
            Value::Str(text) => Ok(text),
            other => {
                let name = self.type_name(&other);
                self.raise("TypeError", format!("__str__ returned non-string (type {name})"))
            }
        }
    }

    /// `str` of an exception: empty, its argument, or its arguments.
    fn exception_text(&mut self, id: ObjectId) -> OrTrap<Str> {
        let Object::Instance(instance) = self.state.get(id).clone() else {
            return Err(Trap::Bug("no exception"));
        };
        let Some(Value::Tuple(args)) = &instance.payload else { return Ok(Str::of("")) };
        match args.as_slice() {
            [] => Ok(Str::of("")),
            [one]
                if self.is_subtype(
                    instance.class,
                    Type::Builtin(crate::values::BuiltinType::exception("KeyError")),
                ) =>
            {
                self.repr_of(one)
            }
            [one] => self.str_of(one),
            _ => self.repr_of(&Value::Tuple(args.clone())),
        }
    }

    /// `repr(value)`.
    pub(crate) fn repr_of(&mut self, value: &Value) -> OrTrap<Str> {
        let parts = self.repr_parts(value, 0)?;
        match self.concatenate(&parts)? {
            Value::Str(text) => Ok(text),
            _ => Err(Trap::Bug("no text")),
        }
    }

    fn repr_parts(&mut self, value: &Value, depth: usize) -> OrTrap<Vec<Value>> {
        if depth > DEEPEST {
            return self.unsupported("the repr of something nested this deeply");
        }
        let one = |text: &str| Ok(vec![Value::text(text)]);
        match value {
            Value::None => one("None"),
            Value::NotImplemented => one("NotImplemented"),
            Value::Ellipsis => one("Ellipsis"),
            Value::Bool(truth) => {
                let truth = self.decide(*truth)?;
                one(if truth { "True" } else { "False" })
            }
            Value::Int(value) => {
                if let Int::Known(known) = value
                    && known.bits() > 14_280
                    && known.magnitude().to_string().len() > 4300
                {
                    return self.raise("ValueError", "Exceeds the limit (4300 digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit");
                }
                Ok(vec![Value::Str(self.digits_of(value)?)])
            }
            Value::Float(Float::Known(value)) => one(&text::float_repr(*value)),
            Value::Float(Float::Term(_)) => self.unsupported("the text of an unknown float"),
            Value::Str(Str::Known(points)) => match text::exact_repr(points) {
                Some(text) => one(&text),
                None => self.unsupported("the repr of this text"),
            },
            Value::Str(text) => self.unknown_repr(text),
            Value::Bytes(bytes) => one(&text::bytes_repr(bytes)),
            Value::Tuple(items) => {
                let close = if items.len() == 1 { ",)" } else { ")" };
                self.repr_items("(", &items.clone(), close, depth)
            }
            Value::Range(parts) => {
                let [start, stop, step] = (**parts).clone();
                let mut shown = vec![Value::text("range(")];
                shown.extend(self.repr_parts(&Value::Int(start), depth)?);
                shown.push(Value::text(", "));
                shown.extend(self.repr_parts(&Value::Int(stop), depth)?);
                if step.small() != Some(1) {
                    shown.push(Value::text(", "));
                    shown.extend(self.repr_parts(&Value::Int(step), depth)?);
                }
                shown.push(Value::text(")"));
                Ok(shown)
            }
            Value::Type(Type::Builtin(kind)) => one(&format!("<class '{}'>", kind.name())),
            Value::Object(id) => self.object_repr(*id, value, depth),
            _ => self.unsupported("the repr of this value"),
        }
    }

    /// The `repr` of a text with unknown characters. Only plain characters are shown unchanged.
    fn unknown_repr(&mut self, text: &Str) -> OrTrap<Vec<Value>> {
        let points = self.points_of(text)?;
        let mut all = crate::terms::Terms::TRUE;
        for point in &points {
            // Printable ASCII without quotes and backslash.
            let plain = self.in_ranges(*point, &[(32, 38), (40, 91), (93, 126)]);
            let double = self.in_ranges(*point, &[(34, 34)]);
            let not_double = self.terms.not(double);
            let plain = self.terms.and(plain, not_double);
            all = self.terms.and(all, plain);
        }
        if !self.decide_term(all)? {
            return self.unsupported("the repr of unknown characters that are not plain");
        }
        let inner = self.str_of_points(points);
        Ok(vec![Value::text("'"), inner, Value::text("'")])
    }

    fn repr_items(&mut self, open: &str, items: &[Value], close: &str, depth: usize) -> OrTrap<Vec<Value>> {
        let mut parts = vec![Value::text(open)];
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                parts.push(Value::text(", "));
            }
            parts.extend(self.repr_parts(item, depth + 1)?);
        }
        parts.push(Value::text(close));
        Ok(parts)
    }

    fn object_repr(&mut self, id: ObjectId, value: &Value, depth: usize) -> OrTrap<Vec<Value>> {
        match self.state.share(id).as_ref() {
            Object::List(items) => self.repr_items("[", items, "]", depth),
            Object::OpenList(_) => {
                self.close_list(id)?;
                self.object_repr(id, value, depth)
            }
            Object::Set(items) if items.is_empty() => Ok(vec![Value::text("set()")]),
            Object::Set(items) => {
                let items = self.in_set_order(items)?;
                self.repr_items("{", &items, "}", depth)
            }
            Object::FrozenSet(items) if items.is_empty() => Ok(vec![Value::text("frozenset()")]),
            Object::FrozenSet(items) => {
                let items = self.in_set_order(items)?;
                self.repr_items("frozenset({", &items, "})", depth)
            }
            Object::Deque(items, most) => {
                let close = most.map_or_else(|| "])".to_owned(), |most| format!("], maxlen={most})"));
                self.repr_items("deque([", items, &close, depth)
            }
            Object::Dict(dict) => {
                let (open, close) = match &dict.kind {
                    DictKind::Plain => ("{".to_owned(), "}"),
                    DictKind::Default(Value::Type(Type::Builtin(kind))) => {
                        (format!("defaultdict(<class '{}'>, {{", kind.name()), "})")
                    }
                    DictKind::Counter if dict.entries.is_empty() => {
                        return Ok(vec![Value::text("Counter()")]);
                    }
                    DictKind::Counter => ("Counter({".to_owned(), "})"),
                    _ => return self.unsupported("the repr of this mapping"),
                };
                let mut parts = vec![Value::text(&open)];
                let entries = match dict.kind {
                    DictKind::Counter => self.repr_by_count(&dict.entries)?,
                    _ => dict.entries.clone(),
                };
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        parts.push(Value::text(", "));
                    }
                    parts.extend(self.repr_parts(key, depth + 1)?);
                    parts.push(Value::text(": "));
                    parts.extend(self.repr_parts(value, depth + 1)?);
                }
                parts.push(Value::text(close));
                Ok(parts)
            }
            Object::Instance(instance) => {
                if let Some(method) = self.special(value, "__repr__")? {
                    return Ok(vec![Value::Str(self.call_for_text(&method)?)]);
                }
                let name = self.name_of_type(instance.class);
                if self.is_exception(value) {
                    let Some(Value::Tuple(args)) = &instance.payload else {
                        return Ok(vec![Value::text(&name)]);
                    };
                    let mut parts = vec![Value::text(&name)];
                    parts.extend(self.repr_items("(", args, ")", depth)?);
                    return Ok(parts);
                }
                let Type::User(class) = instance.class else {
                    return self.unsupported("the repr of an object");
                };
                match self.class_of(class).map(|class| class.kind.clone()) {
                    Some(ClassKind::Data { .. } | ClassKind::NamedTuple) => {
                        self.fields_repr(class, value, &name, depth)
                    }
                    Some(ClassKind::Enum) => {
                        let member = self.attribute(value, "name")?.as_text().unwrap_or_default();
                        let inner = self.attribute(value, "value")?;
                        let mut parts = vec![Value::text(&format!("<{name}.{member}: "))];
                        parts.extend(self.repr_parts(&inner, depth + 1)?);
                        parts.push(Value::text(">"));
                        Ok(parts)
                    }
                    _ => self.unsupported("the repr of an object without __repr__"),
                }
            }
            _ => self.unsupported("the repr of this object"),
        }
    }

    /// The entries of a counter, most common first.
    fn repr_by_count(&mut self, entries: &[(Value, Value)]) -> OrTrap<Vec<(Value, Value)>> {
        let mut sorted: Vec<(Value, Value)> = Vec::new();
        for (key, count) in entries {
            let mut at = sorted.len();
            while let Some((_, before)) = at.checked_sub(1).and_then(|place| sorted.get(place)).cloned() {
                if !self.is_less(&before, count)? {
                    break;
                }
                at -= 1;
            }
            sorted.insert(at, (key.clone(), count.clone()));
        }
        Ok(sorted)
    }

    fn fields_repr(
        &mut self,
        class: ObjectId,
        value: &Value,
        name: &str,
        depth: usize,
    ) -> OrTrap<Vec<Value>> {
        let qualified = self.class_attribute(class, "__qualname__").and_then(|name| name.as_text());
        let is_named_tuple = self.class_of(class).is_some_and(|class| class.kind == ClassKind::NamedTuple);
        let name =
            if is_named_tuple { name.to_owned() } else { qualified.unwrap_or_else(|| name.to_owned()) };
        let mut parts = vec![Value::text(&format!("{name}("))];
        for (index, (field, _)) in self.fields_of(class).into_iter().enumerate() {
            let before = if index > 0 { ", " } else { "" };
            parts.push(Value::text(&format!("{before}{field}=")));
            let inner = self.attribute(value, &field)?;
            parts.extend(self.repr_parts(&inner, depth + 1)?);
        }
        parts.push(Value::text(")"));
        Ok(parts)
    }

    /// `format(value, spec)`.
    pub(crate) fn format_value(&mut self, value: &Value, spec: Option<&Value>) -> OrTrap<Value> {
        let spec = match spec {
            None => None,
            Some(spec) => match spec.as_text() {
                Some(text) if text.is_empty() => None,
                Some(text) => Some(text),
                None => return self.unsupported("an unknown format specification"),
            },
        };
        let Some(spec) = spec else { return Ok(Value::Str(self.str_of(value)?)) };
        if let Some(method) = self.special(value, "__format__")? {
            return self.call(&method, vec![Value::text(&spec)], Vec::new());
        }
        let Some(parsed) = FormatSpec::parse(&spec) else {
            return self.unsupported(format!("the format specification {spec:?}"));
        };
        match value {
            Value::Bool(_) if parsed.kind.is_none() => self.unsupported("a truth in a format specification"),
            Value::Int(_) | Value::Bool(_) => self.format_int(value, &parsed),
            Value::Float(value) => self.format_float(*value, &parsed),
            Value::Str(text) => {
                if !matches!(parsed.kind, None | Some('s')) {
                    let kind = parsed.kind.unwrap_or_default();
                    return self.raise(
                        "ValueError",
                        format!("Unknown format code '{kind}' for object of type 'str'"),
                    );
                }
                if parsed.sign.is_some()
                    || parsed.comma.is_some()
                    || parsed.align == Some('=')
                    || parsed.alternate
                {
                    return self.unsupported("this format specification of a text");
                }
                let mut points = self.points_of(text)?;
                if let Some(precision) = parsed.precision {
                    points.truncate(precision);
                }
                let (left, right) = pad(points.len(), &parsed, '<');
                let fill = self.terms.int(u32::from(parsed.fill));
                let padded =
                    std::iter::repeat_n(fill, left).chain(points).chain(std::iter::repeat_n(fill, right));
                let padded = padded.collect();
                Ok(self.str_of_points(padded))
            }
            _ => {
                let name = self.type_name(value);
                self.raise("TypeError", format!("unsupported format string passed to {name}.__format__"))
            }
        }
    }

    fn format_int(&mut self, value: &Value, spec: &FormatSpec) -> OrTrap<Value> {
        let Some(number) = self.as_index(value) else { return Err(Trap::Bug("no integer")) };
        match spec.kind {
            Some('f' | 'F' | 'e' | 'E' | 'g' | 'G' | '%') => {
                let float = self.nearest_float(&number)?;
                return self.format_float(float, spec);
            }
            Some('s') => return self.raise("ValueError", "Unknown format code 's' for object of type 'int'"),
            _ => {}
        }
        if spec.precision.is_some() {
            return self.raise("ValueError", "Precision not allowed in integer format specifier");
        }
        let number: BigInt = match number.known() {
            Some(known) => known.clone(),
            None if spec.is_width_only() => {
                let digits = self.digits_of(&number)?;
                let points = self.points_of(&digits)?;
                let (left, right) = pad(points.len(), spec, '>');
                let fill = self.terms.int(u32::from(spec.fill));
                let padded =
                    std::iter::repeat_n(fill, left).chain(points).chain(std::iter::repeat_n(fill, right));
                let padded = padded.collect();
                return Ok(self.str_of_points(padded));
            }
            None => self.choose(&number)?,
        };
        match super::format_spec::int(&number, spec) {
            Some(text) => Ok(Value::text(&text)),
            None => self.unsupported("this format specification of an integer"),
        }
    }

    fn format_float(&mut self, value: Float, spec: &FormatSpec) -> OrTrap<Value> {
        let Float::Known(value) = value else { return self.unsupported("the text of an unknown float") };
        match super::format_spec::float(value, spec) {
            Some(text) => Ok(Value::text(&text)),
            None => self.unsupported("this format specification of a float"),
        }
    }

    /// `"%s" % values`, for the plain conversions.
    pub(crate) fn percent_format(&mut self, template: &Str, values: &Value) -> OrTrap<Value> {
        let Some(template) = Value::Str(template.clone()).as_text() else {
            return self.unsupported("% on an unknown text");
        };
        let mut values = match values {
            Value::Tuple(items) => items.to_vec(),
            other => vec![other.clone()],
        };
        values.reverse();
        let mut parts = Vec::new();
        let mut rest = template.as_str();
        while let Some((before, after)) = rest.split_once('%') {
            parts.push(Value::text(before));
            let mut chars = after.chars();
            match chars.next() {
                Some('%') => parts.push(Value::text("%")),
                Some(kind @ ('s' | 'r' | 'd')) => {
                    let Some(value) = values.pop() else {
                        return self.raise("TypeError", "not enough arguments for format string");
                    };
                    let text = match kind {
                        's' => self.str_of(&value)?,
                        'r' => self.repr_of(&value)?,
                        _ => match self.as_index(&value) {
                            Some(number) => self.digits_of(&number)?,
                            None => return self.unsupported("%d of something that is no integer"),
                        },
                    };
                    parts.push(Value::Str(text));
                }
                _ => return self.unsupported("this conversion of %"),
            }
            rest = chars.as_str();
        }
        parts.push(Value::text(rest));
        if !values.is_empty() {
            return self.raise("TypeError", "not all arguments converted during string formatting");
        }
        self.concatenate(&parts)
    }

    /// `str.format`, with plain fields.
    pub(crate) fn brace_format(
        &mut self,
        template: &str,
        args: &[Value],
        named: &[(Rc<str>, Value)],
    ) -> OrTrap<Value> {
        let mut parts = Vec::new();
        let mut next = 0;
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, after) = rest.split_at(at);
            parts.push(Value::text(before));
            if after.starts_with("{{") || after.starts_with("}}") {
                parts.push(Value::text(after.get(..1).unwrap_or_default()));
                rest = after.get(2..).unwrap_or_default();
                continue;
            }
            let Some((field, tail)) = after.strip_prefix('{').and_then(|inner| inner.split_once('}')) else {
                return self.raise("ValueError", "Single '}' encountered in format string");
            };
            let (name, spec) = field.split_once(':').unwrap_or((field, ""));
            if name.contains(['.', '[', '!', '{']) || spec.contains('{') {
                return self.unsupported("this field of str.format");
            }
            let value = if name.is_empty() {
                next += 1;
                args.get(next - 1)
            } else if let Ok(index) = name.parse::<usize>() {
                args.get(index)
            } else {
                match named.iter().find(|(known, _)| &**known == name) {
                    Some((_, value)) => Some(value),
                    None => return self.raise_with("KeyError", vec![Value::text(name)]),
                }
            };
            let Some(value) = value.cloned() else {
                let text = "Replacement index out of range for positional args tuple";
                return self.raise("IndexError", text);
            };
            let spec = (!spec.is_empty()).then(|| Value::text(spec));
            let text = self.format_value(&value, spec.as_ref())?;
            parts.push(text);
            rest = tail;
        }
        parts.push(Value::text(rest));
        self.concatenate(&parts)
    }
}
