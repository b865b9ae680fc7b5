//! From bytes to a module that is ready, or to what is wrong with it.

use std::time::{Duration, Instant};

use wasmtime::{Config, Engine, ExternType, Linker, Module, ValType};

use super::instance::Run;
use super::{ModuleLimits, Ready};

/// The largest module, in bytes.
const LARGEST: usize = 16 << 20;
/// The deepest its calls may nest, in bytes of stack.
const STACK: usize = 256 << 10;
/// How long an instance may take to start while it is only tried.
const TRIAL: Duration = Duration::from_secs(10);

/// Why a module does not load, for the person who named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: &'static str,
}

fn flaw(what: impl Into<String>, help: &'static str) -> Flaw {
    Flaw { what: what.into(), help }
}

pub(super) fn ready(bytes: &[u8], limits: ModuleLimits) -> Result<Ready, Flaw> {
    if bytes.len() > LARGEST {
        return Err(flaw(format!("the module is larger than {LARGEST} bytes"), "build it for size"));
    }
    let engine = engine(limits)?;
    let module = Module::new(&engine, bytes).map_err(|error| {
        let help = "name a WebAssembly module (.wasm), or its text (.wat); not a component";
        flaw(format!("this is no WebAssembly module: {}", first_line(&error)), help)
    })?;
    check(&module, limits)?;
    let linked = Linker::new(&engine).instantiate_pre(&module).map_err(|error| {
        flaw(format!("the module cannot be linked: {}", first_line(&error)), "build it without imports")
    })?;
    let ready = Ready { engine, linked, limits };
    Run { ready: &ready, deadline: Instant::now() + TRIAL }.start().map_err(|error| {
        let help = "see that it starts within its `memory_mb` and `fuel`";
        flaw(format!("the module does not start: {}", first_line(&error)), help)
    })?;
    Ok(ready)
}

fn engine(limits: ModuleLimits) -> Result<Engine, Flaw> {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(STACK)
        // Nothing here may change how this program hears signals.
        .signals_based_traps(false)
        .memory_reservation(limits.memory as u64)
        .memory_reservation_for_growth(0)
        .memory_guard_size(0)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_relaxed_simd(false);
    let help = "use a guard with `command` on this machine";
    Engine::new(&config)
        .map_err(|error| flaw(format!("WebAssembly does not run here: {}", first_line(&error)), help))
}

/// Whether the module has what it is asked through, and wants nothing else.
fn check(module: &Module, limits: ModuleLimits) -> Result<(), Flaw> {
    if let Some(import) = module.imports().next() {
        let what = format!("the module imports `{}` of `{}`", import.name(), import.module());
        return Err(flaw(what, "build it without imports: a guard gets nothing but the question"));
    }
    match module.get_export("memory") {
        Some(ExternType::Memory(memory)) => {
            let page = memory.page_size();
            if memory.minimum().saturating_mul(page) > limits.memory as u64 {
                let what = format!("the module begins with {} bytes of memory", memory.minimum() * page);
                return Err(flaw(what, "raise `memory_mb`"));
            }
        }
        _ => return Err(flaw("the module does not export its `memory`", EXPORTS)),
    }
    function(module, "alloc", &[ValType::I32], &ValType::I32)?;
    function(module, "guard", &[ValType::I32, ValType::I32], &ValType::I64)
}

const EXPORTS: &str = "export `memory`, `alloc(i32) -> i32` and `guard(i32, i32) -> i64`";

fn function(module: &Module, name: &str, takes: &[ValType], gives: &ValType) -> Result<(), Flaw> {
    let Some(ExternType::Func(found)) = module.get_export(name) else {
        return Err(flaw(format!("the module does not export the function `{name}`"), EXPORTS));
    };
    let same = |found: &mut dyn Iterator<Item = ValType>, wanted: &[ValType]| {
        let found: Vec<ValType> = found.collect();
        found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| ValType::eq(a, b))
    };
    let fits = same(&mut found.params(), takes) && same(&mut found.results(), std::slice::from_ref(gives));
    match fits {
        true => Ok(()),
        false => Err(flaw(format!("the function `{name}` has another type"), EXPORTS)),
    }
}

fn first_line(error: &wasmtime::Error) -> String {
    let whole = format!("{error:#}");
    whole.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
