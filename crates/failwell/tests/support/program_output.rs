//! The output of a program that ended.

use std::process::Output;

pub(crate) struct ProgramOutput {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for ProgramOutput {
    fn from(output: Output) -> ProgramOutput {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        ProgramOutput { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}
