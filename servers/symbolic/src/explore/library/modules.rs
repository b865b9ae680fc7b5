//! Supported modules of the standard library, by function.

mod algorithms;
mod divisors;
mod exact;
mod functions;
mod iterators;
mod mathematics;

use std::rc::Rc;

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap};
use crate::frontend::validate::ALLOWED_MODULES;
use crate::values::{BuiltinType, Object, Type, Value};

/// Further known modules: a submodule, and libraries that are read as contracts.
const MORE_MODULES: [&str; 3] = ["collections.abc", "icontract", "deal"];

/// Functions of modules, by their full names.
const FUNCTIONS: &[&str] = &[
    "math.floor",
    "math.ceil",
    "math.trunc",
    "math.sqrt",
    "math.fabs",
    "math.gcd",
    "math.lcm",
    "math.isnan",
    "math.isinf",
    "math.isfinite",
    "math.factorial",
    "math.isqrt",
    "math.comb",
    "math.perm",
    "math.prod",
    "math.copysign",
    "math.pow",
    "math.exp",
    "math.log",
    "math.log2",
    "math.log10",
    "math.sin",
    "math.cos",
    "math.tan",
    "math.atan",
    "math.atan2",
    "math.hypot",
    "math.degrees",
    "math.radians",
    "math.fmod",
    "math.isclose",
    "math.remainder",
    "math.modf",
    "math.frexp",
    "math.ldexp",
    "math.nextafter",
    "math.ulp",
    "math.fsum",
    "math.dist",
    "itertools.chain",
    "itertools.chain.from_iterable",
    "itertools.count",
    "itertools.repeat",
    "itertools.takewhile",
    "itertools.dropwhile",
    "itertools.accumulate",
    "itertools.starmap",
    "itertools.product",
    "itertools.permutations",
    "itertools.combinations",
    "itertools.combinations_with_replacement",
    "functools.reduce",
    "functools.lru_cache",
    "functools.cache",
    "functools.wraps",
    "functools.update_wrapper",
    "operator.add",
    "operator.sub",
    "operator.mul",
    "operator.truediv",
    "operator.floordiv",
    "operator.mod",
    "operator.neg",
    "operator.abs",
    "operator.eq",
    "operator.ne",
    "operator.lt",
    "operator.le",
    "operator.gt",
    "operator.ge",
    "operator.itemgetter",
    "operator.attrgetter",
    "operator.and_",
    "operator.or_",
    "operator.xor",
    "operator.not_",
    "operator.pow",
    "operator.contains",
    "operator.getitem",
    "collections.namedtuple",
    "dataclasses.dataclass",
    "dataclasses.field",
    "dataclasses.replace",
    "enum.auto",
    "enum.unique",
    "copy.copy",
    "copy.deepcopy",
    "heapq.heappush",
    "heapq.heappop",
    "heapq.heapify",
    "heapq.nlargest",
    "heapq.nsmallest",
    "heapq.heappushpop",
    "heapq.heapreplace",
    "bisect.bisect_left",
    "bisect.bisect_right",
    "bisect.bisect",
    "bisect.insort",
    "bisect.insort_left",
    "bisect.insort_right",
    "typing.cast",
    "typing.TypeVar",
    "typing.NewType",
    "typing.final",
    "typing.overload",
    "typing.runtime_checkable",
    "typing.override",
    "typing.no_type_check",
    "re.match",
    "re.fullmatch",
    "re.search",
    "re.findall",
    "re.finditer",
    "re.sub",
    "re.subn",
    "re.split",
    "re.compile",
    "re.escape",
    "abc.abstractmethod",
    "icontract.require",
    "icontract.ensure",
    "icontract.snapshot",
    "icontract.invariant",
    "deal.pre",
    "deal.post",
    "deal.ensure",
    "deal.raises",
    "deal.has",
    "deal.pure",
    "deal.safe",
    "deal.inv",
    "deal.chain",
    "deal.reason",
    "deal.example",
];

/// Types of modules.
const TYPES: &[(&str, BuiltinType)] = &[
    ("collections.deque", BuiltinType::Deque),
    ("collections.defaultdict", BuiltinType::DefaultDict),
    ("collections.Counter", BuiltinType::Counter),
    ("collections.OrderedDict", BuiltinType::OrderedDict),
    ("functools.partial", BuiltinType::Partial),
    ("re.Pattern", BuiltinType::Pattern),
    ("re.Match", BuiltinType::Match),
    ("typing.NamedTuple", BuiltinType::NamedTupleBase),
    ("typing.Protocol", BuiltinType::Protocol),
    ("typing.Generic", BuiltinType::Generic),
    ("enum.Enum", BuiltinType::EnumBase),
    ("enum.IntEnum", BuiltinType::IntEnumBase),
    ("abc.ABC", BuiltinType::AbstractBase),
    ("abc.ABCMeta", BuiltinType::AbstractBase),
    ("dataclasses.FrozenInstanceError", BuiltinType::Object),
];

const TEXTS: &[(&str, &str)] = &[
    ("string.ascii_lowercase", "abcdefghijklmnopqrstuvwxyz"),
    ("string.ascii_uppercase", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("string.ascii_letters", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("string.digits", "0123456789"),
    ("string.hexdigits", "0123456789abcdefABCDEF"),
    ("string.octdigits", "01234567"),
    (
        "string.printable",
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t\n\r\x0b\x0c",
    ),
    ("string.punctuation", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    ("string.whitespace", " \t\n\r\x0b\x0c"),
];

/// Flags of `re` with their values.
const FLAGS: &[(&str, u32)] = &[
    ("re.I", 2),
    ("re.IGNORECASE", 2),
    ("re.M", 8),
    ("re.MULTILINE", 8),
    ("re.S", 16),
    ("re.DOTALL", 16),
    ("re.U", 32),
    ("re.UNICODE", 32),
    ("re.X", 64),
    ("re.VERBOSE", 64),
    ("re.A", 256),
    ("re.ASCII", 256),
];

impl Machine {
    pub(crate) fn import(&mut self, name: &str) -> OrTrap<Value> {
        match ALLOWED_MODULES.iter().chain(&MORE_MODULES).find(|known| **known == name) {
            Some(module) => Ok(Value::Module(module)),
            None => self.unsupported(format!("import {name}")),
        }
    }

    pub(crate) fn import_from(&mut self, module: &Value, name: &str) -> OrTrap<Value> {
        let Value::Module(module) = module else { return self.unsupported("this import") };
        match self.module_attribute(module, name)? {
            Some(value) => Ok(value),
            None => self.raise("ImportError", format!("cannot import name '{name}' from '{module}'")),
        }
    }

    pub(crate) fn module_attribute(&mut self, module: &'static str, name: &str) -> OrTrap<Option<Value>> {
        let module = if module == "typing_extensions" { "typing" } else { module };
        let full = format!("{module}.{name}");
        if let Some(function) = FUNCTIONS.iter().find(|known| **known == full) {
            return Ok(Some(Value::Builtin(function)));
        }
        if matches!(full.as_str(), "dataclasses.FrozenInstanceError" | "statistics.StatisticsError") {
            return Ok(Some(Value::Type(Type::Builtin(BuiltinType::exception(name)))));
        }
        if let Some((_, kind)) = TYPES.iter().find(|(known, _)| *known == full) {
            return Ok(Some(Value::Type(Type::Builtin(*kind))));
        }
        if let Some((_, text)) = TEXTS.iter().find(|(known, _)| *known == full) {
            return Ok(Some(Value::text(text)));
        }
        if let Some((_, flag)) = FLAGS.iter().find(|(known, _)| *known == full) {
            return Ok(Some(Value::int(*flag)));
        }
        match full.as_str() {
            "math.pi" => return Ok(Some(Value::float(std::f64::consts::PI))),
            "math.e" => return Ok(Some(Value::float(std::f64::consts::E))),
            "math.tau" => return Ok(Some(Value::float(std::f64::consts::TAU))),
            "math.inf" => return Ok(Some(Value::float(f64::INFINITY))),
            "math.nan" => return Ok(Some(Value::float(f64::NAN))),
            "typing.TYPE_CHECKING" => return Ok(Some(Value::bool(false))),
            "collections.abc" => return Ok(Some(Value::Module("collections.abc"))),
            _ => {}
        }
        match module {
            "typing" | "collections.abc" => Ok(Some(Value::Type(Type::Builtin(BuiltinType::Typing)))),
            _ => match self.public_name(module, name)? {
                Some(value) => Ok(Some(value)),
                None => self.unsupported(full),
            },
        }
    }

    pub(crate) fn call_module(
        &mut self,
        name: &'static str,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        let module = name.split('.').next().unwrap_or_default();
        match module {
            "math" => self.call_math(name, &args, &keywords),
            "itertools" => self.call_itertools(name, args, keywords),
            "library" => self.call_for_library(name, &args),
            "str" => self.call_library("string", "_maketrans", args),
            "functools" | "operator" | "property" | "object" | "dict" => {
                self.call_function(name, args, keywords)
            }
            "heapq" | "bisect" | "copy" => self.call_algorithm(name, args, keywords),
            "re" => self.call_re(name, &args, &keywords),
            // Contracts are read from the syntax. At run time their decorators do nothing.
            "icontract" | "deal" => Ok(match (name, args.as_slice()) {
                ("deal.pure" | "deal.safe", [function]) => function.clone(),
                _ => self.object(Object::Partial(
                    Value::Builtin("functools.identity"),
                    Rc::default(),
                    Rc::default(),
                )),
            }),
            "typing" => Ok(match (name, args.as_slice()) {
                ("typing.cast", [_, value]) => value.clone(),
                ("typing.NewType", [_, class]) => class.clone(),
                ("typing.TypeVar", _) => Value::Type(Type::Builtin(BuiltinType::Typing)),
                (_, [value]) => value.clone(),
                _ => return self.unsupported(name),
            }),
            "abc" => match args.as_slice() {
                [function] => Ok(self.object(Object::Alias(function.clone()))),
                _ => self.wrong_arguments("abstractmethod"),
            },
            "enum" => match (name, args.as_slice()) {
                ("enum.auto", []) => Ok(Value::Builtin("enum.auto.value")),
                ("enum.unique", [class]) => Ok(class.clone()),
                _ => self.unsupported(name),
            },
            "dataclasses" => self.call_dataclasses(name, args, keywords),
            "collections" => self.named_tuple(&args, &keywords),
            _ => self.unsupported(name),
        }
    }

    fn call_dataclasses(
        &mut self,
        name: &'static str,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        match (name, args.as_slice()) {
            ("dataclasses.dataclass", [class]) => self.make_data(class, &keywords),
            ("dataclasses.dataclass", []) => Ok(self.object(Object::Partial(
                Value::Builtin("dataclasses.dataclass"),
                Rc::default(),
                Rc::new(keywords),
            ))),
            ("dataclasses.field", []) => Ok(self.object(Object::Partial(
                Value::Builtin("dataclasses.field"),
                Rc::default(),
                Rc::new(keywords),
            ))),
            ("dataclasses.replace", [value]) => {
                let Type::User(class) = self.type_of(value) else { return self.wrong_arguments("replace") };
                let mut fields = Vec::new();
                for (field, _) in self.fields_of(class) {
                    let current = match keywords.iter().find(|(known, _)| *known == field) {
                        Some((_, value)) => value.clone(),
                        None => self.attribute(value, &field)?,
                    };
                    fields.push((field, current));
                }
                self.instantiate(Type::User(class), Vec::new(), fields)
            }
            _ => self.unsupported(name),
        }
    }

    /// `namedtuple("Point", "x y", defaults=[0])`.
    fn named_tuple(&mut self, args: &[Value], keywords: &Keywords) -> OrTrap<Value> {
        let [name, fields] = args else { return self.unsupported("this namedtuple") };
        let Some(name) = name.as_text() else { return self.unsupported("this namedtuple") };
        let mut defaults = Vec::new();
        for (option, value) in keywords {
            match &**option {
                "defaults" if value.is_none() => {}
                "defaults" => defaults = self.collect(value)?,
                _ => return self.unsupported(format!("the option {option} of namedtuple")),
            }
        }
        let fields: Vec<String> = match fields.as_text() {
            Some(text) => text.replace(',', " ").split_whitespace().map(str::to_owned).collect(),
            None => {
                let items = self.collect(fields)?;
                items.iter().filter_map(Value::as_text).collect()
            }
        };
        if defaults.len() > fields.len() {
            return self.raise("TypeError", "Got more default values than field names");
        }
        let mut entries = Vec::new();
        for field in &fields {
            entries.push((Value::text(field), Value::text("Any")));
        }
        let annotations = self.new_dict(entries, crate::values::DictKind::Plain)?;
        let mut attributes = vec![(Rc::from("__annotations__"), annotations)];
        let with_default = fields.iter().skip(fields.len() - defaults.len());
        attributes.extend(with_default.map(|field| Rc::from(field.as_str())).zip(defaults));
        let id = self.state.allocate(Object::Cell(None));
        let base = Type::Builtin(BuiltinType::NamedTupleBase);
        let class = crate::values::Class {
            name: Rc::from(name.as_str()),
            bases: vec![base],
            order: vec![Type::User(id), base],
            attributes,
            kind: crate::values::ClassKind::NamedTuple,
            is_library: false,
        };
        self.state.set(id, Object::Class(Rc::new(class)));
        Ok(Value::Type(Type::User(id)))
    }
}
