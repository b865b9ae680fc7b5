//! The reasons of the tasks server.

pub(crate) use failwell_fault::reason::*;

/// docs/guide/tasks.md promises this message to clients of the session era.
const NO_SERVICE: &str = "Failed to communicate with RTM service.";

failwell_fault::reasons! {
    TASKS_NOT_CONFIGURED = "tasks/NOT_CONFIGURED" {
        Precondition, ExternalService, Failwell,
        title: "no API key for Remember The Milk",
        hint: "ask the operator to set api_key and shared_secret under [tasks], or RTM_API_KEY and RTM_SHARED_SECRET",
        about: "Every request to Remember The Milk is signed with an API key and its shared secret. Both are free for personal use at https://www.rememberthemilk.com/services/api/keys.rtm.",
    }
    TASKS_BAD_SECRET = "tasks/BAD_SECRET" {
        Precondition, ExternalService, Failwell,
        title: "the signature was rejected by Remember The Milk",
        session_message: NO_SERVICE,
        hint: "ask the operator to check shared_secret under [tasks]: it belongs to the API key",
        about: "The service responded with code 96 or 97: requests are signed with the wrong shared secret.",
    }
    TASKS_BAD_API_KEY = "tasks/BAD_API_KEY" {
        Precondition, ExternalService, Failwell,
        title: "the API key is not known to Remember The Milk",
        session_message: NO_SERVICE,
        hint: "ask the operator to check api_key under [tasks]",
        about: "The service responded with code 100: it does not know the API key.",
    }
    TASKS_LOGIN_NEEDED = "tasks/LOGIN_NEEDED" {
        Precondition, ExternalService, Caller,
        title: "no account is logged in to Remember The Milk",
        hint: "call rtm_authenticate, or run `failwell login tasks` in a terminal",
        about: "The keyring and the state folder have no token for this API key.",
    }
    TASKS_LOGIN_EXPIRED = "tasks/LOGIN_EXPIRED" {
        Precondition, ExternalService, Upstream,
        title: "the login to Remember The Milk is no longer valid",
        session_message: NO_SERVICE,
        hint: "log in again: call rtm_authenticate, or run `failwell login tasks` in a terminal",
        about: "The service responded with code 98: the user revoked the permission, or the token belongs to another API key. The token is kept until the next login or logout, in case the service is wrong for a moment.",
    }
    TASKS_LOGIN_PENDING = "tasks/LOGIN_PENDING" {
        Precondition, ExternalService, Caller,
        title: "the login is not approved yet",
        session_message: NO_SERVICE,
        hint: "open the address, allow the access there, then call rtm_authenticate again",
        about: "The service responded with code 101: the user has not allowed access yet, or the login was used or has expired. Call rtm_authenticate without frob to start a new login.",
    }
    TASKS_NOT_PERMITTED = "tasks/NOT_PERMITTED" {
        Denied, ExternalService, Upstream,
        title: "the login lacks the required permission",
        session_message: NO_SERVICE,
        hint: "ask the user to log in with more permission: rtm_authenticate with permission write or delete, or `failwell login tasks --permission delete`",
        about: "The service responded with code 99. Permissions are read, write and delete, and each includes the one before. Undo and sub-tasks need delete.",
    }
    TASKS_RTM_UNAVAILABLE = "tasks/RTM_UNAVAILABLE" {
        Unavailable, ExternalService, Upstream,
        title: "the service of Remember The Milk is not available",
        detail: "Remember The Milk is not available: {why}",
        session_message: NO_SERVICE,
        hint: "try again later; {done}",
        about: "The connection failed, or the service responded with HTTP 503 or code 105. Reads were already retried. A change is sent once; if its arrival is uncertain, the list is read again before the result is reported.",
    }
    TASKS_RTM_TIMEOUT = "tasks/RTM_TIMEOUT" {
        Timeout, ExternalService, Upstream,
        title: "the service of Remember The Milk took too long to answer",
        detail: "Remember The Milk did not answer within {limit_s} seconds",
        session_message: NO_SERVICE,
        hint: "try again later; {done}",
        about: "The response was missing or incomplete. A change may still take effect, so check before repeating it.",
    }
    TASKS_BAD_ANSWER = "tasks/BAD_ANSWER" {
        Broken, ExternalService, Upstream,
        title: "the response of Remember The Milk is invalid",
        detail: "Remember The Milk sent an invalid response: {why}",
        session_message: NO_SERVICE,
        hint: "try once more; {done}",
        about: "The response is neither the requested JSON nor an error of the service. Examples: an HTML page, a truncated document, a response over the size limit.",
    }
    TASKS_RTM_REFUSED = "tasks/RTM_REFUSED" {
        Invalid, ExternalService, Upstream,
        title: "the request was refused by Remember The Milk",
        detail: "Remember The Milk refused the request with code {code}",
        session_message: NO_SERVICE,
        hint: "check the arguments against the tool's description; the operator finds the service's message under the reference",
        about: "The service's documentation does not explain this code for this method.",
    }
    TASKS_PROTOCOL = "tasks/PROTOCOL" {
        Bug, ExternalService, Failwell,
        title: "the request format was rejected by Remember The Milk",
        detail: "Remember The Milk rejected the request format (code {code})",
        session_message: NO_SERVICE,
        hint: "report the reference to the operator",
        about: "The service responded with code 111, 112, 114, 115 or 120: it does not support the format, the method or the version.",
    }
    TASKS_BUSY = "tasks/BUSY" {
        Exhausted, ExternalService, Failwell,
        title: "the request queue for Remember The Milk is full",
        detail: "the request queue for Remember The Milk is full: the next free place is in {wait_s} seconds",
        hint: "wait, or request less at once (rtm_batch, rtm_findTasks)",
        about: "The service allows one request per second for each API key, and three at once. All requests with this key on this machine share one queue of limited length.",
    }
    TASKS_STORE = "tasks/STORE" {
        Unavailable, ExternalService, Failwell,
        title: "the login cannot be stored",
        hint: "ask the operator to run `failwell doctor`: the keyring or the state folder cannot be used",
        about: "The token is stored in the system's keyring, or in a file that only its owner can read. Neither can be used.",
    }
    TASKS_NO_SUCH_TASK = "tasks/NO_SUCH_TASK" {
        NotFound, ToolFailed, Caller,
        title: "no such task",
        detail: "no such task: {wanted}",
        hint: "set task (taskId in rtm_completeTask) to the id or the full name of a task from rtm_findTasks; list (listId) narrows a name down",
        about: "No task has this id or name, or the task was deleted (code 340).",
    }
    TASKS_NO_SUCH_LIST = "tasks/NO_SUCH_LIST" {
        NotFound, ToolFailed, Caller,
        title: "no such list",
        detail: "no such list: {wanted}",
        hint: "set list to a name or id from rtm_getLists",
        about: "No list has this name or id, or the list was deleted (code 320).",
    }
    TASKS_NO_SUCH_NOTE = "tasks/NO_SUCH_NOTE" {
        NotFound, ToolFailed, Caller,
        title: "no such note",
        detail: "no such note: {wanted}",
        hint: "set note to the id of a note that rtm_getTask shows",
        about: "No task has a note with this id.",
    }
    TASKS_NO_SUCH_TIMELINE = "tasks/NO_SUCH_TIMELINE" {
        Broken, ExternalService, Upstream,
        title: "the timeline is not known to Remember The Milk",
        session_message: NO_SERVICE,
        hint: "try once more: a new timeline is created",
        about: "The service responded with code 300 twice. Changes belong to a timeline; an unknown timeline is replaced once.",
    }
    TASKS_NO_SUCH_TRANSACTION = "tasks/NO_SUCH_TRANSACTION" {
        NotFound, ToolFailed, Upstream,
        title: "the change is not known to Remember The Milk",
        hint: "look at rtm_history, and revert the change with the tool for it, such as rtm_reopenTask or rtm_updateTask",
        about: "The service responded to an undo with code 310: the transaction is unknown or was already undone.",
    }
    TASKS_NOTHING_TO_UNDO = "tasks/NOTHING_TO_UNDO" {
        Precondition, ToolFailed, Caller,
        title: "there is nothing to undo",
        hint: "look at rtm_history: only changes made through this server since it started can be undone",
        about: "The journal holds the last changes that each caller made through this server since its start.",
    }
    TASKS_NOT_UNDOABLE = "tasks/NOT_UNDOABLE" {
        Precondition, ToolFailed, Caller,
        title: "this change cannot be undone",
        detail: "change {number} cannot be undone: {why}",
        hint: "revert the change with {revert}; rtm_history lists the changes",
        about: "The service reports for each change whether it can be undone. An added item is undone by deleting it, and a change whose response was lost by the opposite change. A deleted item whose response was lost cannot be brought back, nor can a completed repetition.",
    }
    TASKS_AMBIGUOUS = "tasks/AMBIGUOUS" {
        Invalid, ToolFailed, Caller,
        title: "the name matches several tasks or lists",
        detail: "{count} {what} match `{wanted}`",
        hint: "pick one of the candidates and pass its id as task (taskId in rtm_completeTask), or name its list",
        about: "The server never guesses a name. The response lists the candidates; a client that can ask its user does so first.",
    }
    TASKS_INVALID_LIST_NAME = "tasks/INVALID_LIST_NAME" {
        Invalid, ToolFailed, Caller,
        title: "the list name is not allowed",
        hint: "choose another name: not empty, and neither Inbox nor Sent",
        about: "The service responded with code 3000: it does not allow the name of the list.",
    }
    TASKS_INVALID_TASK_NAME = "tasks/INVALID_TASK_NAME" {
        Invalid, ToolFailed, Caller,
        title: "the task name is not allowed",
        hint: "give name some text besides the marks of Smart Add (^ ! # @ * =)",
        about: "The service responded with code 4000: it does not allow the name of the task.",
    }
    TASKS_INVALID_SUBTASK = "tasks/INVALID_SUBTASK" {
        Invalid, ToolFailed, Caller,
        title: "the task cannot be a sub-task of this parent",
        detail: "the task cannot be a sub-task of this parent: {why}",
        hint: "choose another parent, or none",
        about: "The service responded with code 4040, 4050, 4060, 4070 or 4090. Sub-tasks need a Pro account and have at most three levels. Neither they nor their parents may repeat.",
    }
    TASKS_INVALID_DATE = "tasks/INVALID_DATE" {
        Invalid, ToolFailed, Caller,
        title: "the value is not a valid date",
        detail: "`{wanted}` is not a valid date{why}",
        hint: "write due and start as 2026-11-20, 2026-11-20T15:30 or English words such as tomorrow at 5pm; start may not be after due",
        about: "A date without a zone is in the account's time zone. The service interprets dates in words. Code 4080 means that the start is after the due date.",
    }
    TASKS_INVALID_VALUE = "tasks/INVALID_VALUE" {
        Invalid, ToolFailed, Caller,
        title: "a value cannot be used",
        detail: "`{field}` cannot be used as it is: {why}",
        hint: "correct `{field}`: {help}",
        about: "The service would reject the value, or silently interpret it differently.",
    }
    TASKS_INVALID_FILTER = "tasks/INVALID_FILTER" {
        Invalid, ToolFailed, Caller,
        title: "the filter cannot be parsed",
        detail: "the filter cannot be parsed at character {offset}: {why}",
        hint: "correct filter: operators such as status:incomplete, dueBefore:today, tag:home, joined by AND, OR, NOT and parentheses; rtm_checkFilter explains a filter",
        about: "Filters are parsed before they are sent, because the service returns no tasks for a wrong filter.",
    }
    TASKS_METHOD_NOT_ALLOWED = "tasks/METHOD_NOT_ALLOWED" {
        Invalid, ToolFailed, Caller,
        title: "the method is not available through rtm_call",
        detail: "the method {method} is not available through rtm_call",
        hint: "use the tool for this action, or one of the methods in the description of rtm_call",
        about: "rtm_call allows only methods that read. Changes go through tools that can undo them.",
    }
}
