//! Tasks: what can go wrong between a caller and their lists at Remember The Milk.

reasons! {
    TASKS_NOT_CONFIGURED = "tasks/NOT_CONFIGURED" {
        Precondition, RtmService, Failwell,
        title: "no API key for Remember The Milk",
        hint: "ask the operator to set api_key and shared_secret under [tasks], or RTM_API_KEY and RTM_SHARED_SECRET",
        about: "Every request to Remember The Milk is signed with an API key and its shared secret. Both are free for personal use at https://www.rememberthemilk.com/services/api/keys.rtm.",
    }
    TASKS_BAD_SECRET = "tasks/BAD_SECRET" {
        Precondition, RtmService, Failwell,
        title: "Remember The Milk does not accept the signature",
        hint: "ask the operator to check shared_secret under [tasks]: it belongs to the API key",
        about: "The service answered with code 96 or 97: requests are signed with the wrong shared secret.",
    }
    TASKS_BAD_API_KEY = "tasks/BAD_API_KEY" {
        Precondition, RtmService, Failwell,
        title: "Remember The Milk does not know the API key",
        hint: "ask the operator to check api_key under [tasks]",
        about: "The service answered with code 100.",
    }
    TASKS_LOGIN_NEEDED = "tasks/LOGIN_NEEDED" {
        Precondition, RtmService, Caller,
        title: "nobody is logged in to Remember The Milk",
        hint: "call rtm_authenticate, or run `failwell login tasks` in a terminal",
        about: "There is no token for this API key, neither in the keyring nor in the state folder.",
    }
    TASKS_LOGIN_EXPIRED = "tasks/LOGIN_EXPIRED" {
        Precondition, RtmService, Upstream,
        title: "Remember The Milk does not accept the login any more",
        hint: "log in again: call rtm_authenticate, or run `failwell login tasks` in a terminal",
        about: "The service answered with code 98: the person took the permission back, or the token belongs to another API key. The token stays where it is until somebody logs in again or logs out: a service that is wrong for a moment logs nobody out.",
    }
    TASKS_LOGIN_PENDING = "tasks/LOGIN_PENDING" {
        Precondition, RtmService, Caller,
        title: "the login is not approved yet",
        hint: "open the address, allow the access there, then call rtm_authenticate again",
        about: "The service answered with code 101: the person has not yet allowed the access on the service's page, or the login was used or has run out. A new one is begun by calling rtm_authenticate without frob.",
    }
    TASKS_NOT_PERMITTED = "tasks/NOT_PERMITTED" {
        Denied, RtmService, Upstream,
        title: "the login does not allow this",
        hint: "ask the person to log in with more permission: rtm_authenticate with permission write or delete, or `failwell login tasks --permission delete`",
        about: "The service answered with code 99. Permissions are read, write and delete, each including the one before; undo and sub-tasks need delete.",
    }
    TASKS_RTM_UNAVAILABLE = "tasks/RTM_UNAVAILABLE" {
        Unavailable, RtmService, Upstream,
        title: "Remember The Milk is not available",
        detail: "Remember The Milk is not available: {why}",
        hint: "try again later; {done}",
        about: "No connection, a connection that broke off, HTTP 503 or code 105. Reads were tried again already. A change is sent once; if nobody can say whether it arrived, the list is read again before anything is said about it.",
    }
    TASKS_RTM_TIMEOUT = "tasks/RTM_TIMEOUT" {
        Timeout, RtmService, Upstream,
        title: "Remember The Milk took too long to answer",
        detail: "Remember The Milk did not answer within {limit_s} seconds",
        hint: "try again later; {done}",
        about: "The answer did not come, or not all of it. A change may still be under way, so look before it is made again.",
    }
    TASKS_BAD_ANSWER = "tasks/BAD_ANSWER" {
        Broken, RtmService, Upstream,
        title: "Remember The Milk answered with something that makes no sense",
        detail: "Remember The Milk answered with something that makes no sense: {why}",
        hint: "try once more; {done}",
        about: "Neither the JSON that was asked for nor an error of the service: a page of HTML, half a document, or too much of it.",
    }
    TASKS_RTM_REFUSED = "tasks/RTM_REFUSED" {
        Invalid, RtmService, Upstream,
        title: "Remember The Milk refused the request",
        detail: "Remember The Milk refused the request with code {code}",
        hint: "check the arguments against the tool's description; the operator finds the service's words under the reference",
        about: "A code that the service's documentation does not explain for this method.",
    }
    TASKS_PROTOCOL = "tasks/PROTOCOL" {
        Bug, RtmService, Failwell,
        title: "Remember The Milk does not understand this program",
        detail: "Remember The Milk does not understand this program (code {code})",
        hint: "report this with the reference",
        about: "The service answered with code 111, 112, 114, 115 or 120: format, method or version is not what it knows.",
    }
    TASKS_BUSY = "tasks/BUSY" {
        Exhausted, RtmService, Failwell,
        title: "too many requests wait for Remember The Milk",
        detail: "too many requests wait for Remember The Milk: the next free place is in {wait_s} seconds",
        hint: "wait, or ask for less at once (rtm_batch, rtm_findTasks)",
        about: "The service allows one request a second for each API key, and three at once. Everybody with this key on this machine waits in one line; a line longer than the limit is refused.",
    }
    TASKS_STORE = "tasks/STORE" {
        Unavailable, RtmService, Failwell,
        title: "the login cannot be kept",
        hint: "ask the operator to run `failwell doctor`: the keyring or the state folder cannot be used",
        about: "The token goes into the system's keyring, or into a file that only its owner may read. Neither could be used.",
    }
    TASKS_NO_SUCH_TASK = "tasks/NO_SUCH_TASK" {
        NotFound, ToolFailed, Caller,
        title: "no such task",
        detail: "no such task: {wanted}",
        hint: "take task from rtm_findTasks: its id, or its whole name; list narrows a name down",
        about: "No task has this id or this name, or it is no longer there (code 340).",
    }
    TASKS_NO_SUCH_LIST = "tasks/NO_SUCH_LIST" {
        NotFound, ToolFailed, Caller,
        title: "no such list",
        detail: "no such list: {wanted}",
        hint: "take list from rtm_getLists: its name or its id",
        about: "No list has this name or id, or it is no longer there (code 320).",
    }
    TASKS_NO_SUCH_NOTE = "tasks/NO_SUCH_NOTE" {
        NotFound, ToolFailed, Caller,
        title: "no such note",
        detail: "no such note: {wanted}",
        hint: "take note from the notes that rtm_getTask shows",
        about: "No task has a note with this id.",
    }
    TASKS_NO_SUCH_TIMELINE = "tasks/NO_SUCH_TIMELINE" {
        Broken, RtmService, Upstream,
        title: "Remember The Milk forgot the timeline",
        hint: "try once more: a new timeline is made",
        about: "The service answered with code 300 twice. Changes belong to a timeline; one that is forgotten is made anew once.",
    }
    TASKS_NO_SUCH_TRANSACTION = "tasks/NO_SUCH_TRANSACTION" {
        NotFound, ToolFailed, Upstream,
        title: "Remember The Milk forgot the change",
        hint: "look at rtm_history, and change it back with rtm_updateTask",
        about: "The service answered with code 310 to an undo: it does not know the transaction, or it was undone already.",
    }
    TASKS_NOTHING_TO_UNDO = "tasks/NOTHING_TO_UNDO" {
        Precondition, ToolFailed, Caller,
        title: "there is nothing to undo",
        hint: "look at rtm_history: only changes made through this server since it started can be undone",
        about: "The journal holds the last changes each caller made through this server, while it runs.",
    }
    TASKS_NOT_UNDOABLE = "tasks/NOT_UNDOABLE" {
        Precondition, ToolFailed, Caller,
        title: "this change cannot be undone",
        detail: "change {number} cannot be undone: {why}",
        hint: "change it back with rtm_updateTask; rtm_history shows what was done",
        about: "The service says of each change whether it can be undone. What was added is undone by deleting it. A change whose answer was lost has no transaction to undo.",
    }
    TASKS_AMBIGUOUS = "tasks/AMBIGUOUS" {
        Invalid, ToolFailed, Caller,
        title: "the name fits several tasks or lists",
        detail: "{count} {what} fit `{wanted}`",
        hint: "pick one of the candidates and pass its id as task, or name its list",
        about: "A name is never guessed. The candidates come with the answer; a client that can ask its user does so first.",
    }
    TASKS_INVALID_LIST_NAME = "tasks/INVALID_LIST_NAME" {
        Invalid, ToolFailed, Caller,
        title: "the list cannot be called so",
        hint: "give name another value: not empty, and neither Inbox nor Sent",
        about: "The service answered with code 3000.",
    }
    TASKS_INVALID_TASK_NAME = "tasks/INVALID_TASK_NAME" {
        Invalid, ToolFailed, Caller,
        title: "the task cannot be called so",
        hint: "give name some text beside the marks of smart add (^ ! # @ * =)",
        about: "The service answered with code 4000.",
    }
    TASKS_INVALID_SUBTASK = "tasks/INVALID_SUBTASK" {
        Invalid, ToolFailed, Caller,
        title: "the task cannot stand below that one",
        detail: "the task cannot stand below that one: {why}",
        hint: "choose another parent, or none",
        about: "The service answered with code 4040, 4050, 4060, 4070 or 4090: sub-tasks need a Pro account, go three levels deep, and neither they nor their parents repeat.",
    }
    TASKS_INVALID_DATE = "tasks/INVALID_DATE" {
        Invalid, ToolFailed, Caller,
        title: "this is no date",
        detail: "`{wanted}` is no date{why}",
        hint: "write due and start as 2026-11-20, 2026-11-20T15:30 or English words such as tomorrow at 5pm; start may not be after due",
        about: "Dates without a zone are read in the account's time zone. Words are read by the service. Code 4080 says that the start is after the due date.",
    }
    TASKS_INVALID_VALUE = "tasks/INVALID_VALUE" {
        Invalid, ToolFailed, Caller,
        title: "a value cannot be used",
        detail: "`{field}` cannot be used as it is: {why}",
        hint: "correct `{field}`: {help}",
        about: "The service would refuse it, or silently do something else.",
    }
    TASKS_INVALID_FILTER = "tasks/INVALID_FILTER" {
        Invalid, ToolFailed, Caller,
        title: "the filter cannot be understood",
        detail: "the filter cannot be understood at character {offset}: {why}",
        hint: "correct filter: operators such as status:incomplete, dueBefore:today, tag:home, joined by AND, OR, NOT and parentheses; rtm_checkFilter explains",
        about: "Filters are read here before they are sent, because the service answers a wrong one with no tasks at all.",
    }
    TASKS_METHOD_NOT_ALLOWED = "tasks/METHOD_NOT_ALLOWED" {
        Invalid, ToolFailed, Caller,
        title: "this method is not called for you",
        detail: "the method {method} is not called for you",
        hint: "use the tool made for it, or one of the methods in the description of rtm_call",
        about: "rtm_call reaches methods that only read. Changes go through tools that can undo them.",
    }
}
