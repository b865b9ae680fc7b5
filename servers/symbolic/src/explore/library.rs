//! Modules of the standard library that are written in Python: lowered like the analysed code and run by the same
//! interpreter, so that what is unknown may go in and come out. One is loaded when something of it is asked for.

use std::rc::Rc;

use super::machine::{Machine, R, Trap};
use super::run::Ran;
use super::state::Frame;
use crate::Program;
use crate::ir::{Code, Name, lower_library};
use crate::values::Value;

/// Modules and their text, in `library/`.
const MODULES: &[(&str, &str)] = &[
    ("collections", include_str!("../../library/collections.py")),
    ("datetime", include_str!("../../library/datetime.py")),
    ("fractions", include_str!("../../library/fractions.py")),
    ("functools", include_str!("../../library/functools.py")),
    ("itertools", include_str!("../../library/itertools.py")),
    ("json", include_str!("../../library/json.py")),
    ("math", include_str!("../../library/math.py")),
    ("operator", include_str!("../../library/operator.py")),
    ("statistics", include_str!("../../library/statistics.py")),
    ("string", include_str!("../../library/string.py")),
];

/// Code of the library is numbered from here on, each module's from a round number.
const FIRST: u32 = 2_000_000;
const EACH: u32 = 10_000;

/// What these modules may call beside the built-in functions.
const FUNCTIONS: &[&str] = &["library.unsupported", "library.is_known", "library.is_same"];

impl Machine {
    /// A public name of a module of the library.
    pub(super) fn public_name(&mut self, module: &str, name: &str) -> R<Option<Value>> {
        if name.starts_with('_') { Ok(None) } else { self.library_value(module, name) }
    }

    /// A name of a module of the library. `None` when there is no such module or no such name.
    fn library_value(&mut self, module: &str, name: &str) -> R<Option<Value>> {
        let Some((at, (module, text))) = MODULES.iter().enumerate().find(|(_, (known, _))| *known == module)
        else {
            return Ok(None);
        };
        self.load_library(module, text, at)?;
        Ok(self.state.library.get(format!("{module}.{name}").as_str()).cloned())
    }

    /// A function of the library, for what the interpreter leaves to it.
    pub(super) fn call_library(&mut self, module: &str, name: &str, args: Vec<Value>) -> R<Value> {
        match self.library_value(module, name)? {
            Some(function) => self.call(&function, args, Vec::new()),
            None => Err(Trap::Bug("no such function in the library")),
        }
    }

    fn load_library(&mut self, module: &'static str, text: &str, at: usize) -> R<()> {
        let mark: Name = Rc::from(module);
        if self.state.library.contains_key(&mark) {
            return Ok(());
        }
        let code = self.lowered_library(module, text, at)?;
        match self.run_nested(Frame::new(code))? {
            Ran::Returned(_) => {
                Rc::make_mut(&mut self.state.library).insert(mark, Value::None);
                Ok(())
            }
            Ran::Yielded(..) => Err(Trap::Bug("a module yields")),
        }
    }

    fn lowered_library(&mut self, module: &'static str, text: &str, at: usize) -> R<Rc<Code>> {
        if let Some((_, code)) = self.lowered.iter().find(|(known, _)| *known == module) {
            return Ok(code.clone());
        }
        let Ok(program) = Program::parse(text) else { return Err(Trap::Bug("the library is no Python")) };
        let first = FIRST + EACH * u32::try_from(at).unwrap_or_default();
        let code = lower_library(&program, module, first).module;
        self.lowered.push((module, code.clone()));
        Ok(code)
    }

    /// A global name as code of the library sees it.
    pub(super) fn library_name(&mut self, full: &str) -> R<Value> {
        if let Some(value) = self.state.library.get(full) {
            return Ok(value.clone());
        }
        let name = full.rsplit('.').next().unwrap_or_default();
        if let Some(function) = FUNCTIONS.iter().find(|known| known.ends_with(&format!(".{name}"))) {
            return Ok(Value::Builtin(function));
        }
        super::builtins::named(name).ok_or(Trap::Bug("the library uses a name that nobody knows"))
    }

    pub(super) fn call_for_library(&mut self, name: &str, args: &[Value]) -> R<Value> {
        match (name, args) {
            ("library.unsupported", [what]) => self.unsupported(what.as_text().unwrap_or_default()),
            ("library.is_known", [value]) => Ok(Value::bool(self.known_data(value).is_some())),
            // As containers compare: identity first.
            ("library.is_same", [a, b]) => self.same_or_equal(a, b).map(Value::Bool),
            _ => Err(Trap::Bug("no such function for the library")),
        }
    }
}
