use failwell_fault::{Effect, Fault};

use super::echo;

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "CRASHED" => fault
            .fact("how", "with signal ")
            .fact("ended_by", "SIGSEGV")
            .fact("signal", "SIGSEGV")
            .fact("error_type", "crash")
            .with_effect(Effect::Partial),
        "INTERRUPTED" => fault.fact("error_type", "interrupted").fact("exit_code", 2).with_effect(Effect::Partial),
        "INTERNAL" => fault.fact("error_type", "pytest_internal").fact("exit_code", 3).with_effect(Effect::Partial),
        "USAGE" => fault.fact("error_type", "usage_error").fact("exit_code", 4),
        "UNKNOWN_EXIT" => fault.fact("error_type", "unknown").fact("exit_code", 77).with_effect(Effect::Partial),
        "TIMEOUT" => fault
            .fact("limit_s", 30u64)
            .fact("most_s", 3_600u64)
            .fact("error_type", "timeout")
            .with_effect(Effect::Partial),
        "SPAWN" => fault
            .fact("why", "the interpreter has no pytest")
            .fact(
                "help",
                "install it into the project's environment (.venv/bin/python -m pip install pytest), or start the server with --python PATH of one that has it",
            )
            .fact("error_type", "spawn"),
        "UNKNOWN_RUN" => fault.fact("wanted", echo("r-0007")).fact("limit", 20usize),
        _ => return None,
    })
}
