//! A guard as a WebAssembly module. `docs/guide/policy.md` lists the exports of a module.

#[cfg(not(feature = "wasm"))]
mod absent;
#[cfg(feature = "wasm")]
mod instance;
#[cfg(feature = "wasm")]
mod load;
#[cfg(feature = "wasm")]
mod pool;

/// The resources one module may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleLimits {
    /// Bytes of linear memory.
    pub memory: usize,
    /// Wasmtime fuel of one request.
    pub fuel: u64,
    /// Instances at the same time.
    pub instances: usize,
}

/// The reason why a module does not load, for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    pub what: String,
    pub help: &'static str,
}

/// A compiled and linked module. A build without the feature `wasm` has the type but cannot create a value.
#[derive(Debug)]
pub struct WasmModule(
    #[cfg(feature = "wasm")] pool::InstancePool,
    #[cfg(not(feature = "wasm"))] std::convert::Infallible,
);
