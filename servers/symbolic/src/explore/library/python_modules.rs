//! Modules of the standard library that are written in Python. They are lowered like the analysed code and
//! run by the same interpreter, so they accept and return unknown values. A module is loaded on first use
//! (ADR 0026).

use std::rc::Rc;

use crate::Program;
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::explore::run::RunEnd;
use crate::explore::state::Frame;
use crate::frontend::ir::{Code, Name, lower_library};
use crate::values::Value;

/// Modules and their text, in `library/`.
const MODULES: &[(&str, &str)] = &[
    ("collections", include_str!("../../../library/collections.py")),
    ("datetime", include_str!("../../../library/datetime.py")),
    ("fractions", include_str!("../../../library/fractions.py")),
    ("functools", include_str!("../../../library/functools.py")),
    ("itertools", include_str!("../../../library/itertools.py")),
    ("json", include_str!("../../../library/json.py")),
    ("math", include_str!("../../../library/math.py")),
    ("operator", include_str!("../../../library/operator.py")),
    ("statistics", include_str!("../../../library/statistics.py")),
    ("string", include_str!("../../../library/string.py")),
];

/// The first code id of the library. Each module starts at a round number.
const FIRST: u32 = 2_000_000;
const EACH: u32 = 10_000;

/// Engine functions that these modules may call in addition to the builtins.
const FUNCTIONS: &[&str] = &["library.unsupported", "library.is_known", "library.is_same"];

impl Machine {
    /// A public name of a module of the library.
    pub(crate) fn public_name(&mut self, module: &str, name: &str) -> OrTrap<Option<Value>> {
        if name.starts_with('_') { Ok(None) } else { self.library_value(module, name) }
    }

    /// A name of a library module. `None` if the module or the name does not exist.
    fn library_value(&mut self, module: &str, name: &str) -> OrTrap<Option<Value>> {
        let Some((at, (module, text))) = MODULES.iter().enumerate().find(|(_, (known, _))| *known == module)
        else {
            return Ok(None);
        };
        self.load_library(module, text, at)?;
        Ok(self.state.library.get(format!("{module}.{name}").as_str()).cloned())
    }

    /// Calls a library function that the interpreter delegates to.
    pub(crate) fn call_library(&mut self, module: &str, name: &str, args: Vec<Value>) -> OrTrap<Value> {
        match self.library_value(module, name)? {
            Some(function) => self.call(&function, args, Vec::new()),
            None => Err(Trap::Bug("no such function in the library")),
        }
    }

    fn load_library(&mut self, module: &'static str, text: &str, at: usize) -> OrTrap<()> {
        let mark: Name = Rc::from(module);
        if self.state.library.contains_key(&mark) {
            return Ok(());
        }
        let code = self.lowered_library(module, text, at)?;
        match self.run_nested(Frame::new(code))? {
            RunEnd::Returned(_) => {
                Rc::make_mut(&mut self.state.library).insert(mark, Value::None);
                Ok(())
            }
            RunEnd::Yielded(..) => Err(Trap::Bug("a module yields")),
        }
    }

    fn lowered_library(&mut self, module: &'static str, text: &str, at: usize) -> OrTrap<Rc<Code>> {
        if let Some((_, code)) = self.lowered.iter().find(|(known, _)| *known == module) {
            return Ok(code.clone());
        }
        let Ok(program) = Program::parse(text) else { return Err(Trap::Bug("the library is no Python")) };
        let first = FIRST + EACH * u32::try_from(at).unwrap_or_default();
        let code = lower_library(&program, module, first).module;
        self.lowered.push((module, code.clone()));
        Ok(code)
    }

    /// A global name as library code sees it.
    pub(crate) fn library_name(&mut self, full: &str) -> OrTrap<Value> {
        if let Some(value) = self.state.library.get(full) {
            return Ok(value.clone());
        }
        let name = full.rsplit('.').next().unwrap_or_default();
        if let Some(function) = FUNCTIONS.iter().find(|known| known.ends_with(&format!(".{name}"))) {
            return Ok(Value::Builtin(function));
        }
        super::builtins::named(name).ok_or(Trap::Bug("the library uses an unknown name"))
    }

    pub(crate) fn call_for_library(&mut self, name: &str, args: &[Value]) -> OrTrap<Value> {
        match (name, args) {
            ("library.unsupported", [what]) => self.unsupported(what.as_text().unwrap_or_default()),
            ("library.is_known", [value]) => Ok(Value::bool(self.known_data(value).is_some())),
            // Like the comparison in containers: identity first.
            ("library.is_same", [a, b]) => self.same_or_equal(a, b).map(Value::Bool),
            _ => Err(Trap::Bug("no such function for the library")),
        }
    }
}
