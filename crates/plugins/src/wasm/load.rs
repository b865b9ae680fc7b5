//! Compiles and checks a module.

use std::time::{Duration, Instant};

use wasmtime::{Config, Engine, ExternType, Linker, Module, ValType};

use super::instance::GuardCall;
use super::pool::CompiledModule;
use super::{LoadError, ModuleLimits};

/// Maximum size of a module, in bytes.
const LARGEST: usize = 16 << 20;
/// Maximum stack of a module, in bytes.
const STACK: usize = 256 << 10;
/// Timeout of the trial instance.
const TRIAL: Duration = Duration::from_secs(10);

fn load_error(what: impl Into<String>, help: &'static str) -> LoadError {
    LoadError { what: what.into(), help }
}

pub(super) fn compile(bytes: &[u8], limits: ModuleLimits) -> Result<CompiledModule, LoadError> {
    if bytes.len() > LARGEST {
        return Err(load_error(format!("the module is larger than {LARGEST} bytes"), "build it for size"));
    }
    let engine = engine(limits)?;
    let module = Module::new(&engine, bytes).map_err(|error| {
        let help = "name a WebAssembly module (.wasm), or its text (.wat); not a component";
        load_error(format!("this is no WebAssembly module: {}", first_line(&error)), help)
    })?;
    check(&module, limits)?;
    let linked = Linker::new(&engine).instantiate_pre(&module).map_err(|error| {
        load_error(format!("the module cannot be linked: {}", first_line(&error)), "build it without imports")
    })?;
    let ready = CompiledModule { engine, linked, limits };
    GuardCall { ready: &ready, deadline: Instant::now() + TRIAL }.start().map_err(|error| {
        let help = "see that it starts within its `memory_mb` and `fuel`";
        load_error(format!("the module does not start: {}", first_line(&error)), help)
    })?;
    Ok(ready)
}

fn engine(limits: ModuleLimits) -> Result<Engine, LoadError> {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(STACK)
        // Wasmtime must not install signal handlers in this process.
        .signals_based_traps(false)
        .memory_reservation(limits.memory as u64)
        .memory_reservation_for_growth(0)
        .memory_guard_size(0)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_relaxed_simd(false);
    let help = "use a guard with `command` on this machine";
    Engine::new(&config)
        .map_err(|error| load_error(format!("WebAssembly does not run here: {}", first_line(&error)), help))
}

/// Whether the module has the required exports and no imports.
fn check(module: &Module, limits: ModuleLimits) -> Result<(), LoadError> {
    if let Some(import) = module.imports().next() {
        let what = format!("the module imports `{}` of `{}`", import.name(), import.module());
        return Err(load_error(what, "build it without imports: a guard gets nothing but the question"));
    }
    match module.get_export("memory") {
        Some(ExternType::Memory(memory)) => {
            let page = memory.page_size();
            if memory.minimum().saturating_mul(page) > limits.memory as u64 {
                let what = format!("the module begins with {} bytes of memory", memory.minimum() * page);
                return Err(load_error(what, "raise `memory_mb`"));
            }
        }
        _ => return Err(load_error("the module does not export its `memory`", EXPORTS)),
    }
    function(module, "alloc", &[ValType::I32], &ValType::I32)?;
    function(module, "guard", &[ValType::I32, ValType::I32], &ValType::I64)
}

const EXPORTS: &str = "export `memory`, `alloc(i32) -> i32` and `guard(i32, i32) -> i64`";

fn function(module: &Module, name: &str, takes: &[ValType], gives: &ValType) -> Result<(), LoadError> {
    let Some(ExternType::Func(found)) = module.get_export(name) else {
        return Err(load_error(format!("the module does not export the function `{name}`"), EXPORTS));
    };
    let same = |found: &mut dyn Iterator<Item = ValType>, wanted: &[ValType]| {
        let found: Vec<ValType> = found.collect();
        found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| ValType::eq(a, b))
    };
    let fits = same(&mut found.params(), takes) && same(&mut found.results(), std::slice::from_ref(gives));
    match fits {
        true => Ok(()),
        false => Err(load_error(format!("the function `{name}` has another type"), EXPORTS)),
    }
}

fn first_line(error: &wasmtime::Error) -> String {
    let whole = format!("{error:#}");
    whole.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
