use failwell_fault::Fault;

use super::{echo, name};

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "SYNTAX" => fault.fact("line", 5usize).fact("error_type", "SyntaxError"),
        "TOO_LARGE" => fault.fact("limit_bytes", 65_536usize).fact("error_type", "ValidationError"),
        "TOO_DEEP" => fault.fact("error_type", "ValidationError"),
        "BLOCKED" => {
            fault.fact("name", echo("eval")).fact("line", 5usize).fact("error_type", "ValidationError")
        }
        "IMPORT" => {
            fault.fact("module", echo("numpy")).fact("line", 1usize).fact("error_type", "ImportError")
        }
        "UNKNOWN_FUNCTION" => {
            fault.fact("function", echo("clmap")).fact("error_type", "ValueError").nearest([name("clamp")])
        }
        "UNKNOWN_EXCEPTION" => fault.fact("exception", echo("ValueEror")).fact("error_type", "ValueError"),
        "MODULE_RAISES" => fault
            .fact("exception", echo("ZeroDivisionError"))
            .fact("line", 3u32)
            .fact("error_type", "ValueError"),
        "VACUOUS" => fault.fact("error_type", "ValueError"),
        "TIMEOUT" => fault.fact("limit_s", 30u32).fact("error_type", "TimeoutError"),
        "MEMORY" => fault.fact("limit_mb", 1_024u64).fact("error_type", "TimeoutError"),
        "BOUND" => fault.fact("error_type", "TimeoutError"),
        "UNSUPPORTED" => fault
            .fact("construct", echo("async def"))
            .fact("line", 5u32)
            .fact("error_type", "UnsupportedConstruct"),
        "BUSY" => fault.fact("limit", 32usize),
        "NO_SOLVER" | "NO_PYTHON" | "FAILED" => fault.fact("error_type", "RuntimeError"),
        _ => return None,
    })
}
