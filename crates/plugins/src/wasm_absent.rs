//! What stands in for WebAssembly in a build without it: nothing loads, and the reason is said.

use failwell_policy::guard::custom::{Judge, Judging, Question};

use crate::failure::no_verdict;

/// What a module may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleLimits {
    /// Bytes of its memory.
    pub memory: usize,
    /// Steps of one question.
    pub fuel: u64,
    /// Instances at the same time.
    pub instances: usize,
}

/// Why a module does not load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: &'static str,
}

/// There is none.
#[derive(Debug)]
pub struct Module(std::convert::Infallible);

impl Module {
    /// Refuses every module.
    pub fn load(_bytes: &[u8], _limits: ModuleLimits) -> Result<Module, Flaw> {
        Err(Flaw {
            what: "this build of failwell has no WebAssembly".to_owned(),
            help: "build it with the feature `wasm`, or use `command` with a program",
        })
    }
}

impl Judge for Module {
    fn judge<'a>(&'a self, _question: Question<'a>) -> Judging<'a> {
        Box::pin(std::future::ready(Err(no_verdict("it cannot run in this build"))))
    }
}
