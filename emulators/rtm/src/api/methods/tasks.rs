//! Everything about tasks.

mod add;
mod complete;
mod dates;
mod family;
mod fields;
mod find;
pub(super) mod notes;

use super::ApiMethod;

pub(super) const METHODS: &[ApiMethod] =
    &[
        ApiMethod::adds("rtm.tasks.add", "Adds a task.", add::add).with(&[
            "list_id?",
            "name",
            "parse?",
            "parent_task_id?",
            "external_id?",
            "give_to?",
        ]),
        ApiMethod::changes("rtm.tasks.addTags", "Adds tags to a task.", fields::add_tags).with(TAGS),
        ApiMethod::changes("rtm.tasks.complete", "Marks a task complete.", complete::complete).with(PATH),
        ApiMethod::changes("rtm.tasks.delete", "Deletes a task.", complete::delete).with(PATH).deletes(),
        ApiMethod::reads("rtm.tasks.getList", "Lists tasks.", find::get_list).with(&[
            "list_id?",
            "filter?",
            "last_sync?",
        ]),
        ApiMethod::changes(
            "rtm.tasks.movePriority",
            "Moves a task's priority up or down.",
            fields::move_priority,
        )
        .with(&["list_id", "taskseries_id", "task_id", "direction"]),
        ApiMethod::changes("rtm.tasks.moveTo", "Moves a task to another list.", family::move_to).with(&[
            "from_list_id",
            "to_list_id",
            "taskseries_id",
            "task_id",
        ]),
        ApiMethod::changes("rtm.tasks.postpone", "Puts a task off by a day.", dates::postpone).with(PATH),
        ApiMethod::changes("rtm.tasks.removeTags", "Takes tags off a task.", fields::remove_tags).with(TAGS),
        ApiMethod::changes("rtm.tasks.setDueDate", "Sets or clears the due date.", dates::set_due).with(&[
            "list_id",
            "taskseries_id",
            "task_id",
            "due?",
            "has_due_time?",
            "parse?",
        ]),
        ApiMethod::changes("rtm.tasks.setEstimate", "Sets or clears the estimate.", fields::set_estimate)
            .with(&["list_id", "taskseries_id", "task_id", "estimate?"]),
        ApiMethod::changes("rtm.tasks.setLocation", "Sets or clears the place.", fields::set_location)
            .with(&["list_id", "taskseries_id", "task_id", "location_id?"]),
        ApiMethod::changes("rtm.tasks.setName", "Renames a task.", fields::set_name).with(&[
            "list_id",
            "taskseries_id",
            "task_id",
            "name",
        ]),
        ApiMethod::changes(
            "rtm.tasks.setParentTask",
            "Makes a task a sub-task of another, or of none.",
            family::set_parent,
        )
        .with(&["list_id", "taskseries_id", "task_id", "parent_task_id?"])
        .deletes()
        .only_two(),
        ApiMethod::changes("rtm.tasks.setPriority", "Sets the priority.", fields::set_priority).with(&[
            "list_id",
            "taskseries_id",
            "task_id",
            "priority?",
        ]),
        ApiMethod::changes(
            "rtm.tasks.setRecurrence",
            "Sets or clears how a task repeats.",
            dates::set_recurrence,
        )
        .with(&["list_id", "taskseries_id", "task_id", "repeat?"]),
        ApiMethod::changes("rtm.tasks.setStartDate", "Sets or clears the start date.", dates::set_start)
            .with(&["list_id", "taskseries_id", "task_id", "start?", "has_start_time?", "parse?"])
            .only_two(),
        ApiMethod::changes("rtm.tasks.setTags", "Replaces the tags of a task.", fields::set_tags).with(&[
            "list_id",
            "taskseries_id",
            "task_id",
            "tags?",
        ]),
        ApiMethod::changes("rtm.tasks.setURL", "Sets or clears the address.", fields::set_url).with(&[
            "list_id",
            "taskseries_id",
            "task_id",
            "url?",
        ]),
        ApiMethod::changes("rtm.tasks.uncomplete", "Marks a task incomplete.", complete::uncomplete)
            .with(PATH),
    ];

const PATH: &[&str] = &["list_id", "taskseries_id", "task_id"];
const TAGS: &[&str] = &["list_id", "taskseries_id", "task_id", "tags"];
