//! The table of the service's codes.

use failwell_fault::{Echo, Effect, Fault, Reason};

use crate::reason;

/// The requested task and list, for codes that report a missing one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RequestedNames<'a> {
    pub(crate) task: &'a str,
    pub(crate) list: &'a str,
}

/// The fault for a code of the service. The service's message goes to the operator only.
pub(crate) fn fault(code: u32, words: &str, wanted: RequestedNames<'_>) -> Fault {
    let fault = match code {
        96 | 97 => Fault::new(&reason::TASKS_BAD_SECRET),
        98 => Fault::new(&reason::TASKS_LOGIN_EXPIRED),
        99 => Fault::new(&reason::TASKS_NOT_PERMITTED),
        100 => Fault::new(&reason::TASKS_BAD_API_KEY),
        101 => Fault::new(&reason::TASKS_LOGIN_PENDING),
        105 => unavailable("the service says so"),
        111 | 112 | 114 | 115 | 120 => Fault::new(&reason::TASKS_PROTOCOL).fact("code", code),
        300 => Fault::new(&reason::TASKS_NO_SUCH_TIMELINE),
        310 => Fault::new(&reason::TASKS_NO_SUCH_TRANSACTION),
        320 => missing(&reason::TASKS_NO_SUCH_LIST, wanted.list, "one that this request names by its id"),
        340 => missing(&reason::TASKS_NO_SUCH_TASK, wanted.task, "one that this request names by its id"),
        3000 => Fault::new(&reason::TASKS_INVALID_LIST_NAME),
        4000 => Fault::new(&reason::TASKS_INVALID_TASK_NAME),
        4080 => Fault::new(&reason::TASKS_INVALID_DATE)
            .fact("wanted", "due")
            .fact("why", ": it would be before the start"),
        4040 | 4050 | 4060 | 4070 | 4090 => {
            Fault::new(&reason::TASKS_INVALID_SUBTASK).fact("why", subtask_rule(code)).fact("code", code)
        }
        _ => Fault::new(&reason::TASKS_RTM_REFUSED).fact("code", code),
    };
    fault.note("rtm", format!("code {code}: {words}"))
}

/// The fault of a thing that does not exist. The service does not say which, so a request without a name has none.
fn missing(reason: &'static Reason, wanted: &str, nameless: &'static str) -> Fault {
    match wanted {
        "" => Fault::new(reason).fact("wanted", nameless),
        wanted => Fault::new(reason).fact("wanted", Echo::of_caller(wanted)),
    }
}

fn subtask_rule(code: u32) -> &'static str {
    match code {
        4040 => "sub-tasks need a Pro account",
        4050 => "the parent cannot be used",
        4060 => "sub-tasks go at most three levels deep",
        4070 => "neither a repeating task nor one below it can be a sub-task",
        _ => "a task is not below itself",
    }
}

/// The service is unavailable.
pub(crate) fn unavailable(why: &'static str) -> Fault {
    Fault::new(&reason::TASKS_RTM_UNAVAILABLE).fact("why", why).fact("done", "nothing was changed")
}

/// Sets the effect of a failed change and describes it.
pub(crate) fn with_effect(fault: Fault, effect: Effect) -> Fault {
    let done = match effect {
        Effect::None => "nothing was changed",
        Effect::Unknown => "look with rtm_findTasks first: the change may have been made",
        Effect::Partial => "some of it was done: look with rtm_findTasks before you go on",
        Effect::Complete => "the change was made",
    };
    let fault = if fault.get("done").is_some() { fault.fact("done", done) } else { fault };
    fault.with_effect(effect)
}

#[cfg(test)]
mod tests {
    use super::{RequestedNames, fault};

    #[test]
    fn every_code_of_the_contract_has_its_reason() {
        for (code, expected) in [
            (96, "BAD_SECRET"),
            (97, "BAD_SECRET"),
            (98, "LOGIN_EXPIRED"),
            (99, "NOT_PERMITTED"),
            (100, "BAD_API_KEY"),
            (101, "LOGIN_PENDING"),
            (105, "RTM_UNAVAILABLE"),
            (111, "PROTOCOL"),
            (112, "PROTOCOL"),
            (120, "PROTOCOL"),
            (300, "NO_SUCH_TIMELINE"),
            (310, "NO_SUCH_TRANSACTION"),
            (320, "NO_SUCH_LIST"),
            (340, "NO_SUCH_TASK"),
            (3000, "INVALID_LIST_NAME"),
            (4000, "INVALID_TASK_NAME"),
            (4040, "INVALID_SUBTASK"),
            (4050, "INVALID_SUBTASK"),
            (4060, "INVALID_SUBTASK"),
            (4070, "INVALID_SUBTASK"),
            (4080, "INVALID_DATE"),
            (4090, "INVALID_SUBTASK"),
            (777, "RTM_REFUSED"),
        ] {
            let made = fault(code, "their words", RequestedNames::default());
            assert_eq!(made.reason().id, format!("tasks/{expected}"), "{code}");
            let shown = format!("{made} {made:?} {}", made.hint());
            assert!(!shown.contains("their words"), "{shown}");
            assert!(made.operator().to_string().contains("their words"));
        }
    }
}
