use failwell_fault::{Effect, Fault};

use super::{echo, name};

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "NOT_CONFIGURED"
        | "NO_SESSION"
        | "SESSION_NOT_CREATED"
        | "SESSION_GONE"
        | "DRIVER_UNREACHABLE"
        | "STALE_ELEMENT"
        | "ALERT_OPEN"
        | "NO_ALERT"
        | "NOT_RECORDING" => fault,
        "UNKNOWN_DEVICE" => fault.fact("wanted", echo("pixel-8")).nearest([name("pixel-7")]),
        "UNKNOWN_SESSION" => fault.fact("wanted", echo("s-41f09c")),
        "WHICH_SESSION" => fault.fact("count", 2usize),
        "BUSY" => fault.fact("why", "all its sessions are in use"),
        "DRIVER_DIED" => fault.fact("done", "the action may have been made").with_effect(Effect::Unknown),
        "DRIVER_START" => fault.fact("why", "it ended before it answered"),
        "TIMEOUT" => {
            fault.fact("limit_s", 30.0).fact("done", "nothing was changed").with_effect(Effect::None)
        }
        "BAD_ANSWER" => fault.fact("why", "a session without an id"),
        "TOO_LARGE" => fault.fact("bytes", 80_000_000u64).fact("limit_bytes", 67_108_864u64),
        "NO_SUCH_ELEMENT" => {
            fault.fact("strategy", "accessibility id").fact("wanted", echo("Sing in")).fact("limit_s", 5.0)
        }
        "STALE_REFERENCE" => fault.fact("wanted", echo("e17")).fact("was_given", true),
        "NOT_INTERACTABLE" => fault.fact("why", "it is hidden, disabled or covered"),
        "INVALID_SELECTOR" => {
            fault.fact("strategy", "xpath").fact("wanted", echo("//button[@name='Sign in'"))
        }
        "UNSUPPORTED" => fault.fact("what", "alerts").fact("driver", "simctl"),
        "REFUSED" => fault.fact("why", "an argument does not suit it"),
        "CAPABILITY_DENIED" => fault.fact("name", echo("appium:otherApps")),
        "ADDRESS_DENIED" => {
            fault.fact("why", "its scheme reads files of the machine or reaches into the browser")
        }
        "APP_DENIED" => fault.fact("why", "the operator opened no folder for apps"),
        "INVALID_VALUE" => fault
            .fact("field", "selector")
            .fact("why", "neither ref nor selector is given")
            .fact("help", "pass one of them"),
        "NOT_FOUND_BY_SCROLLING" => {
            fault.fact("count", 10u32).fact("strategy", "text").fact("wanted", echo("Terms of use"))
        }
        "STEP_FAILED" => fault
            .fact("number", 3usize)
            .fact("count", 5usize)
            .fact("code", name("device/NO_SUCH_ELEMENT"))
            .with_effect(Effect::Partial),
        "BAD_RECORDING" => fault.fact("number", 2usize).fact("why", "its arguments do not fit the tool"),
        "BAD_PICTURE" => fault.fact("why", "it is no whole PNG"),
        "SIMCTL" => fault.fact("exit_code", 149),
        "KEPT_NOTHING" => fault.fact("uri", echo("device://screenshot/41f09c.png")),
        _ => return None,
    })
}
