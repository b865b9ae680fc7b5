//! A build without WebAssembly refuses every module.

use failwell_policy::guard::custom::{CustomGuard, GuardRequest, VerdictFuture};

use super::{LoadError, ModuleLimits, WasmModule};
use crate::failure::no_verdict;

impl WasmModule {
    pub fn load(_bytes: &[u8], _limits: ModuleLimits) -> Result<WasmModule, LoadError> {
        Err(LoadError {
            what: "this build of failwell has no WebAssembly".to_owned(),
            help: "build it with the feature `wasm`, or use `command` with a program",
        })
    }
}

impl CustomGuard for WasmModule {
    fn judge<'a>(&'a self, _question: GuardRequest<'a>) -> VerdictFuture<'a> {
        Box::pin(std::future::ready(Err(no_verdict("it cannot run in this build"))))
    }
}
