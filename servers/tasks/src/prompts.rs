//! Prompts that contain the account's tasks.

use std::sync::Arc;

use failwell_fault::Fault;
use failwell_sdk::{Content, Prompt, PromptArgument, PromptResult, Toolbox};

use crate::account::{Account, Freshness};
use crate::tools::{TaskQuery, query_tasks};
use crate::view::TaskView;

/// Maximum number of tasks in one part of a prompt.
const MOST: usize = 60;

pub(crate) fn all(toolbox: Toolbox, account: &Arc<Account>) -> Toolbox {
    let prompt = |name, description, write: Writer| {
        let account = account.clone();
        Prompt::new(name, description, move |given, _| {
            let account = account.clone();
            let focus = given.get("focus").cloned().unwrap_or_default();
            async move { write_prompt(&account, write, &focus).await }
        })
    };
    let focus = PromptArgument {
        name: "focus",
        description: "What matters most now, such as a project.",
        required: false,
    };
    let dump = PromptArgument { name: "focus", description: "The thoughts, as they come.", required: true };
    toolbox
        .prompt(
            prompt("daily_plan", "Plans the day from what is due and overdue.", Writer::DailyPlan)
                .argument(focus),
        )
        .prompt(
            prompt("weekly_review", "Reviews the week: done, slipped, waiting, next.", Writer::WeeklyReview)
                .argument(focus),
        )
        .prompt(prompt("inbox_triage", "Sorts the Inbox: do, date, move, delete.", Writer::InboxTriage))
        .prompt(prompt("brain_dump", "Turns loose thoughts into tasks.", Writer::BrainDump).argument(dump))
}

#[derive(Debug, Clone, Copy)]
enum Writer {
    DailyPlan,
    WeeklyReview,
    InboxTriage,
    BrainDump,
}

async fn write_prompt(account: &Account, write: Writer, focus: &str) -> Result<PromptResult, Fault> {
    let mut text = match write {
        Writer::DailyPlan => {
            let overdue = part(account, "Overdue", "status:incomplete AND dueBefore:today").await?;
            let today = part(account, "Due today", "status:incomplete AND due:today").await?;
            let urgent =
                part(account, "Important, without a date", "status:incomplete AND priority:1 AND due:never")
                    .await?;
            format!(
                "{overdue}{today}{urgent}Plan my day from these tasks: at most five that matter, in an order that works, with a time for each. Say which of the rest to postpone or drop, and ask before you change anything. Then use rtm_updateTask or rtm_postponeTask.\n"
            )
        }
        Writer::WeeklyReview => {
            let done =
                part(account, "Completed in the last week", "completedWithin:\"7 days of today\"").await?;
            let overdue = part(account, "Overdue", "status:incomplete AND dueBefore:today").await?;
            let put_off =
                part(account, "Postponed again and again", "status:incomplete AND postponed:\"> 2\"").await?;
            let next =
                part(account, "Due in the next week", "status:incomplete AND dueWithin:\"7 days of today\"")
                    .await?;
            format!(
                "{done}{overdue}{put_off}{next}Review my week: what was done, what slipped and why it may have, what to drop, what the next week needs. Suggest changes and ask before you make them.\n"
            )
        }
        Writer::InboxTriage => {
            let inbox = part(account, "Inbox", "list:Inbox AND status:incomplete").await?;
            format!(
                "{inbox}Go through my Inbox one task at a time. For each suggest one thing: do it now, give it a date, move it to a list, make it smaller, or delete it. Make the changes I agree to, several at once with rtm_batch.\n"
            )
        }
        Writer::BrainDump => {
            format!(
                "Turn these thoughts into tasks. One task for each thing to do, begun with a verb, with a date or tags only where I said so. Show them, and after I agree add them with rtm_batch.\n\n{focus}\n"
            )
        }
    };
    if !focus.is_empty() && !matches!(write, Writer::BrainDump) {
        text.push_str(&format!("What matters most now: {focus}\n"));
    }
    Ok(PromptResult::default().user(Content::text(text)))
}

/// A heading and its tasks.
async fn part(account: &Account, title: &str, filter: &str) -> Result<String, Fault> {
    let wanted = TaskQuery { filter: Some(filter), limit: MOST, ..TaskQuery::default() };
    let found = query_tasks(account, &wanted, Freshness::Recent).await?;
    let lines: Vec<String> = found.tasks.iter().map(TaskView::line).collect();
    let more = if found.total > found.count {
        format!("… and {} more\n", found.total - found.count)
    } else {
        String::new()
    };
    let body = if lines.is_empty() { "none".to_owned() } else { lines.join("\n") };
    Ok(format!("{title} ({}):\n{body}\n{more}\n", found.total))
}
