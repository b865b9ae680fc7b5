use std::time::Duration;

use failwell_fault::{Effect, Fault, Retry};

use super::{echo, name};

const PERHAPS: &str = "look with rtm_findTasks first: the change may have been made";

pub(super) fn fill(reason: &str, fault: Fault) -> Option<Fault> {
    Some(match reason {
        "NOT_CONFIGURED"
        | "BAD_SECRET"
        | "BAD_API_KEY"
        | "LOGIN_NEEDED"
        | "LOGIN_EXPIRED"
        | "LOGIN_PENDING"
        | "NOT_PERMITTED"
        | "STORE"
        | "NO_SUCH_TIMELINE"
        | "NO_SUCH_TRANSACTION"
        | "NOTHING_TO_UNDO"
        | "INVALID_LIST_NAME"
        | "INVALID_TASK_NAME" => fault,
        "RTM_UNAVAILABLE" => {
            fault.fact("why", "there is no connection to it").fact("done", "nothing was changed")
        }
        "RTM_TIMEOUT" => fault.fact("limit_s", 30u64).fact("done", PERHAPS).with_effect(Effect::Unknown),
        "BAD_ANSWER" => {
            fault.fact("why", "the answer is too large").fact("done", PERHAPS).with_effect(Effect::Unknown)
        }
        "RTM_REFUSED" => fault.fact("code", 4_010u32),
        "PROTOCOL" => fault.fact("code", 112u32),
        "BUSY" => fault.fact("wait_s", 75u64).retry_as(Retry::After(Duration::from_secs(16))),
        "NO_SUCH_TASK" => fault.fact("wanted", echo("Bye milk")),
        "NO_SUCH_LIST" => fault.fact("wanted", echo("Shoping")),
        "NO_SUCH_NOTE" => fault.fact("wanted", echo("90210")),
        "NOT_UNDOABLE" => {
            let fault = fault.fact("number", 3u64).fact("why", "the answer to it was lost");
            fault.fact("revert", "rtm_createTask")
        }
        "AMBIGUOUS" => fault.fact("count", 2usize).fact("what", "tasks").fact("wanted", echo("Buy milk")),
        "INVALID_SUBTASK" => {
            fault.fact("why", "sub-tasks go at most three levels deep").fact("code", 4_060u32)
        }
        "INVALID_DATE" => fault.fact("wanted", echo("blursday")),
        "INVALID_VALUE" => fault
            .fact("field", "url")
            .fact("why", "it is no address")
            .fact("help", "write it with its scheme, such as https://example.org/"),
        "INVALID_FILTER" => {
            fault.fact("offset", 7usize).fact("why", "there is no such operator").nearest([name("status")])
        }
        "METHOD_NOT_ALLOWED" => {
            fault.fact("method", echo("rtm.tasks.getLists")).nearest([name("rtm.tasks.getList")])
        }
        _ => return None,
    })
}
