//! The arguments of the tools. Models read these descriptions.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::Permission;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoArguments {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Authenticate {
    /// Only for clients that store the frob themselves; usually omitted.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) frob: Option<String>,
    /// The permissions of the login; default: the operator's setting.
    pub(crate) permission: Option<Permission>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetTasks {
    /// A filter of Remember The Milk, such as `status:incomplete AND due:today`; all tasks that are not completed
    /// without one.
    #[schemars(length(max = 4_000))]
    pub(crate) filter: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindTasks {
    /// A filter such as `list:Work AND dueBefore:tomorrow`; without status, only tasks that are not completed.
    #[schemars(length(max = 4_000))]
    pub(crate) filter: Option<String>,
    /// Words that the name, the tags or the notes contain.
    #[schemars(length(max = 500))]
    pub(crate) text: Option<String>,
    /// Include completed tasks.
    #[serde(default)]
    pub(crate) completed: bool,
    /// The sort order; default `due`.
    pub(crate) sort: Option<Sort>,
    /// The maximum number of tasks; default 50.
    #[schemars(range(min = 1, max = 500))]
    pub(crate) limit: Option<usize>,
    /// The `next_cursor` of an earlier result.
    #[schemars(length(max = 100))]
    pub(crate) cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sort {
    /// Earliest date first, tasks without a date last.
    #[default]
    Due,
    /// The most important first.
    Priority,
    /// By name.
    Name,
    /// The latest change first.
    Updated,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskArgument {
    /// The task: its id (`series_task`), or its whole name.
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) task: String,
    /// The list it is in, by name or id, if the name is ambiguous.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) list: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateTask {
    /// The task in smart add notation: `Buy milk ^tomorrow !1 #shopping =10min *weekly`.
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) name: String,
    /// The list, by name or id; default: Inbox.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) list: Option<String>,
    /// The parent task, by id or name (Pro accounts).
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) parent: Option<String>,
    /// Use the name literally, without smart add.
    #[serde(default)]
    pub(crate) literal: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CompleteTask {
    /// The task: its id (`series_task`), or its whole name.
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) task_id: String,
    /// The list it is in, by id or name; not needed with an id.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) list_id: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoveTask {
    /// The task: its id, or its whole name.
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) task: String,
    /// The current list, if the name is ambiguous.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) list: Option<String>,
    /// The target list, by name or id.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) to: String,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetParent {
    /// The task: its id, or its whole name.
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) task: String,
    /// The list it is in, if the name is ambiguous.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) list: Option<String>,
    /// The new parent task, by id or name; without it, the task becomes a top-level task.
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) parent: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TagTask {
    /// The task: its id, or its whole name.
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) task: String,
    /// The list it is in, if the name is ambiguous.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) list: Option<String>,
    /// Tags to add.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub(crate) add: Vec<String>,
    /// Tags to remove.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub(crate) remove: Vec<String>,
    /// The complete new set of tags; an empty list removes all tags.
    #[schemars(length(max = 50))]
    pub(crate) set: Option<Vec<String>>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateTask {
    /// The task: its id, or its whole name.
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) task: String,
    /// The list it is in, if the name is ambiguous.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) list: Option<String>,
    /// A new name, used literally.
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) name: Option<String>,
    /// 2026-11-20, 2026-11-20T15:30 or words such as `next friday at 5pm`; empty for none. In the account's time zone.
    #[schemars(length(max = 200))]
    pub(crate) due: Option<String>,
    /// Like due.
    #[schemars(length(max = 200))]
    pub(crate) start: Option<String>,
    /// 1 (high), 2, 3 or none.
    pub(crate) priority: Option<Importance>,
    /// Such as `30 min` or `2 hours`; empty for none.
    #[schemars(length(max = 100))]
    pub(crate) estimate: Option<String>,
    /// A web address; empty for none.
    #[schemars(length(max = 2_000))]
    pub(crate) url: Option<String>,
    /// Such as `every week`, `every 2nd tuesday` or `after 3 days`; empty for none.
    #[schemars(length(max = 200))]
    pub(crate) repeat: Option<String>,
    /// A location of the account by name or id; empty for none.
    #[schemars(length(max = 200))]
    pub(crate) location: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) enum Importance {
    #[serde(rename = "1")]
    High,
    #[serde(rename = "2")]
    Medium,
    #[serde(rename = "3")]
    Low,
    #[serde(rename = "none")]
    None,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddNote {
    /// The task: its id, or its whole name.
    #[schemars(length(min = 1, max = 1_000))]
    pub(crate) task: String,
    /// The list it is in, if the name is ambiguous.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) list: Option<String>,
    /// An optional title.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub(crate) title: String,
    /// The note.
    #[schemars(length(min = 1, max = 30_000))]
    pub(crate) text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditNote {
    /// The note's id, as rtm_getTask shows it.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) note: String,
    /// A new title; default: the title does not change.
    #[schemars(length(max = 200))]
    pub(crate) title: Option<String>,
    /// The new text.
    #[schemars(length(min = 1, max = 30_000))]
    pub(crate) text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteNote {
    /// The note's id, as rtm_getTask shows it.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) note: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetLists {
    /// Include archived lists.
    #[serde(default)]
    pub(crate) archived: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateList {
    /// Its name; neither Inbox nor Sent.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) name: String,
    /// Makes the list a smart list of the tasks that match this filter.
    #[schemars(length(min = 1, max = 4_000))]
    pub(crate) filter: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RenameList {
    /// The list, by name or id.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) list: String,
    /// Its new name.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) name: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArchiveList {
    /// The list, by name or id.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) list: String,
    /// False restores the list from the archive.
    #[serde(default = "yes")]
    pub(crate) archived: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArgument {
    /// The list, by name or id.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) list: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Batch {
    /// The operations, in order.
    #[schemars(length(min = 1, max = 50))]
    pub(crate) operations: Vec<Operation>,
    /// Continue after a failed operation.
    #[serde(default)]
    pub(crate) keep_going: bool,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum Operation {
    Create(CreateTask),
    Update(UpdateTask),
    Complete(TaskArgument),
    Reopen(TaskArgument),
    Delete(TaskArgument),
    Postpone(TaskArgument),
    Move(MoveTask),
    Tag(TagTask),
    Note(AddNote),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Undo {
    /// The number of changes to undo; default 1.
    #[schemars(range(min = 1, max = 50))]
    pub(crate) count: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct History {
    /// The maximum number of changes; default 20.
    #[schemars(range(min = 1, max = 200))]
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParseTime {
    /// A date in English words, such as `next friday at 5pm`.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckFilter {
    /// The filter.
    #[schemars(length(min = 1, max = 4_000))]
    pub(crate) filter: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallMethod {
    /// A method that only reads: rtm.contacts.getList, rtm.groups.getList, rtm.lists.getList, rtm.locations.getList,
    /// rtm.reflection.getMethodInfo, rtm.reflection.getMethods, rtm.settings.getList, rtm.tags.getList,
    /// rtm.tasks.getList, rtm.time.convert, rtm.time.parse, rtm.timezones.getList.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) method: String,
    /// Its parameters; key, token and signature are added.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub(crate) parameters: std::collections::BTreeMap<String, String>,
}
