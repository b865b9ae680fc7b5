use std::sync::Arc;

use failwell_fault::{Effect, Fault, reason};
use failwell_server::{Context, Toolbox};
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{History, Undo};
use super::{Answer, Said, changing, tool};
use crate::account::{Account, Distrust};
use crate::change::Change;
use crate::dates::iso;
use crate::edit::{deletion, list_deletion, note_deletion};
use crate::journal::{Entry, Step};
use crate::refusal::with_effect;
use crate::stop::Stop;

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(changing(account, ("rtm_undo", "Undo", "Takes back your last changes, newest first: what was added is deleted, everything else is put back as it was."), undo)?.destructive())
        .tool(tool(account, ("rtm_history", "History", "Shows your last changes through this server, newest first, and whether they can be undone."), history)?.read_only().closed_world()))
}

/// One change.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangeView {
    number: u64,
    tool: &'static str,
    /// What it was about.
    about: String,
    /// When, in UTC.
    when: String,
    undone: bool,
    undoable: bool,
}

/// Changes that were taken back.
#[derive(Debug, Serialize, JsonSchema)]
struct Undone {
    undone: Vec<ChangeView>,
    count: usize,
}

/// Changes that were made.
#[derive(Debug, Serialize, JsonSchema)]
struct Past {
    changes: Vec<ChangeView>,
    count: usize,
}

async fn undo(account: Arc<Account>, given: Undo, cx: Context) -> Answer<Undone> {
    let caller = cx.client().caller.to_string();
    let wanted = given.count.unwrap_or(1);
    let entries: Vec<Entry> =
        account.journal.of(&caller).into_iter().filter(|entry| !entry.undone).take(wanted).collect();
    if entries.is_empty() {
        return Err(Fault::new(&reason::TASKS_NOTHING_TO_UNDO).into());
    }
    let mut undone = Vec::new();
    for entry in &entries {
        let taken_back = take_back(&account, entry).await;
        // What changed is told by the service, and not always as a change.
        account.distrust(Distrust::Everything).await;
        if let Err(fault) = taken_back {
            let effect = match (undone.is_empty(), fault.effect()) {
                (false, Effect::None) => Effect::Partial,
                (_, effect) => effect,
            };
            return Err(Stop::Fault(with_effect(fault, effect)));
        }
        undone.push(view(&Entry { undone: true, ..entry.clone() }));
    }
    let lines: Vec<String> = undone.iter().map(line).collect();
    Ok(Said {
        text: format!("taken back:\n{}", lines.join("\n")),
        object: Undone { count: undone.len(), undone },
    })
}

/// Takes one change back, its last piece first. What is left of it stays in the journal.
async fn take_back(account: &Arc<Account>, entry: &Entry) -> Result<(), Fault> {
    let mut left = entry.steps.clone();
    let mut some_done = false;
    while let Some(step) = left.pop() {
        if let Err(fault) = one_back(account, entry.number, &step).await {
            left.push(step);
            account.journal.left(entry.number, left);
            let partial = some_done && fault.effect() == Effect::None;
            return Err(if partial { with_effect(fault, Effect::Partial) } else { fault });
        }
        some_done = true;
    }
    account.journal.left(entry.number, Vec::new());
    Ok(())
}

async fn one_back(account: &Arc<Account>, number: u64, step: &Step) -> Result<(), Fault> {
    let change = match step {
        Step::Transaction(id) => Change::new("rtm.transactions.undo", vec![("transaction_id", id.clone())]),
        Step::DeleteTask { key, list } => {
            // It may have been moved since.
            let list = account.book().task(key).map_or(list.clone(), |task| task.list.clone());
            deletion(list, key.clone(), "")
        }
        Step::DeleteNote(note) => note_deletion(note),
        Step::DeleteList(list) => list_deletion(list),
        Step::Never(why) => {
            let fault = Fault::new(&reason::TASKS_NOT_UNDOABLE);
            return Err(fault.fact("number", number).fact("why", *why));
        }
    };
    account.make(change).await.map(|_| ())
}

async fn history(account: Arc<Account>, given: History, cx: Context) -> Answer<Past> {
    let entries = account.journal.of(&cx.client().caller.to_string());
    let changes: Vec<ChangeView> = entries.iter().take(given.limit.unwrap_or(20)).map(view).collect();
    let lines: Vec<String> = changes.iter().map(line).collect();
    let text = if lines.is_empty() { "nothing was changed yet".to_owned() } else { lines.join("\n") };
    Ok(Said { text, object: Past { count: changes.len(), changes } })
}

fn view(entry: &Entry) -> ChangeView {
    ChangeView {
        number: entry.number,
        tool: entry.tool,
        about: entry.about.clone(),
        when: iso(entry.when),
        undone: entry.undone,
        undoable: !entry.undone && !entry.steps.iter().any(|step| matches!(step, Step::Never(_))),
    }
}

fn line(change: &ChangeView) -> String {
    let state = match (change.undone, change.undoable) {
        (true, _) => " (undone)",
        (false, true) => "",
        (false, false) => " (cannot be undone)",
    };
    format!("{}: {} {}{state}", change.number, change.tool, change.about)
}
