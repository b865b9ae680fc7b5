//! `failwell approve`: lists, shows and decides calls that need human approval.

use std::io::{BufRead, IsTerminal, stdin};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use failwell_store::{Approval, DecideResult, Decision};
use failwell_store::{SqliteApprovals, readable, visible};

use super::consent_location::ConsentLocation;
use super::decision::{self, Register, person};
use crate::cli::Approve;
use crate::commands::json;
use crate::commands::records::audit;
use crate::commands::state_file::StateFile;
use crate::complaint::Complaint;
use crate::terminal::{self, Paint};

/// Maximum number of characters in the note that goes with a decision.
const LONGEST_REASON: usize = 1_000;

pub(in crate::commands) fn run(arguments: &Approve) -> Result<ExitCode, Complaint> {
    let place = ConsentLocation::at(&arguments.place)?;
    let approvals = SqliteApprovals::all_gateways(&place.consent);
    let is_there = place.is_there()?;
    let file = place.file;
    match &arguments.id {
        None if !is_there => list(&[], arguments),
        None => list(&approvals.read_all().map_err(|fault| file.unreadable(&fault))?, arguments),
        Some(id) if !is_there => Err(unknown(id)),
        Some(id) => {
            let found = approvals.read(id).map_err(|fault| file.unreadable(&fault))?;
            one(&found.ok_or_else(|| unknown(id))?, &approvals, arguments)
        }
    }
}

fn unknown(id: &str) -> Complaint {
    Complaint::new(
        format!("there is no approval {}", visible(id).replace('\n', "\\n")),
        "`failwell approve` lists those that wait; check the id, and that this is the folder of the gateway \
         that gave it (--config FILE or --data-dir DIR)",
    )
}

fn list(all: &[Approval], arguments: &Approve) -> Result<ExitCode, Complaint> {
    let shown: Vec<&Approval> =
        all.iter().filter(|approval| arguments.all || approval.state == "pending").collect();
    if arguments.json {
        terminal::print(&json(&shown)?);
        return Ok(ExitCode::SUCCESS);
    }
    if shown.is_empty() {
        let nothing = if arguments.all { "nothing is remembered\n" } else { "no call waits for a yes\n" };
        terminal::report(nothing);
        return Ok(ExitCode::SUCCESS);
    }
    let paint = Paint::for_stdout();
    for approval in shown {
        let Approval { id, state, server, tool, caller, .. } = approval;
        let call = on_one_line(&format!("{server}__{tool} for {caller}"));
        terminal::print(&format!("{}  {state:<8} {:>8}  {call}\n", paint.bold(id), ago(approval.asked_ms)));
    }
    terminal::report("`failwell approve ID` shows one and takes the answer\n");
    Ok(ExitCode::SUCCESS)
}

fn one(approval: &Approval, approvals: &SqliteApprovals, arguments: &Approve) -> Result<ExitCode, Complaint> {
    let decision = match (arguments.yes, arguments.no) {
        (true, _) => Some(Decision::Approve),
        (_, true) => Some(Decision::Deny),
        _ => None,
    };
    if decision.is_none() {
        terminal::print(&if arguments.json {
            json(approval)?
        } else {
            approval_text(approval, Paint::for_stdout())
        });
    }
    let decision = match decision {
        Some(decision) => decision,
        None if approval.state != "pending" || arguments.json => return Ok(ExitCode::SUCCESS),
        None => match asked()? {
            Some(decision) => decision,
            None => {
                terminal::report("nothing was decided; say it with --yes or --no\n");
                return Ok(ExitCode::SUCCESS);
            }
        },
    };
    decide(approval, decision, approvals, arguments)
}

fn decide(
    approval: &Approval,
    decision: Decision,
    approvals: &SqliteApprovals,
    arguments: &Approve,
) -> Result<ExitCode, Complaint> {
    let folder = audit::folder(&arguments.place)?;
    let register = Register::open(&arguments.place, &folder)?;
    let reason = arguments.reason.as_deref().map(|reason| register.scrub(reason));
    let reason = reason.map(|reason| reason.chars().take(LONGEST_REASON).collect::<String>());
    let answered = approvals.answer(&approval.id, decision, &person(), reason.as_deref());
    match answered.map_err(|fault| StateFile::consent(&folder).unwritable(&fault))? {
        DecideResult::Done(approval) => {
            let written = register.write(decision::DecisionRecord {
                guard: "approval",
                method: "approvals/decide",
                word: decision.as_str(),
                target: format!("{}__{}", approval.server, approval.tool),
                found: approval.describe(),
            })?;
            if arguments.json {
                terminal::print(&json(&approval)?);
            } else {
                terminal::print(&format!("{} (ref {written})\n", done(&approval, decision)));
            }
            Ok(ExitCode::SUCCESS)
        }
        DecideResult::Settled(state) => Err(Complaint::new(
            format!("approval {} is no longer pending: it is {state}", approval.id),
            "a repeated call asks for approval again",
        )),
        DecideResult::Unknown => Err(unknown(&approval.id)),
    }
}

fn done(approval: &Approval, decision: Decision) -> String {
    match decision {
        Decision::Approve => {
            let left = Duration::from_millis(u64::try_from(approval.expires_ms - now()).unwrap_or(0));
            format!("approved: the very same call may be made once, within {}", span(left))
        }
        Decision::Deny => "denied: the call is refused".to_owned(),
    }
}

/// The whole call and its current state, as text for the terminal.
fn approval_text(approval: &Approval, paint: Paint) -> String {
    let mut text = format!("{}  {}\n\n", paint.bold(&approval.id), approval.state);
    let mut put = |label: &str, value: &str| {
        text.push_str(&format!("{} {}\n", paint.bold(&format!("{label:<8}")), on_one_line(value)));
    };
    put("tool", &format!("{}__{}", approval.server, approval.tool));
    put("caller", &approval.caller);
    put("asked", &ago(approval.asked_ms));
    if !approval.scope.is_empty() {
        put("gateway", &approval.scope);
    }
    if let (Some(by), Some(at)) = (&approval.decided_by, approval.decided_ms) {
        put("answered", &format!("{} by {by}", ago(at)));
    }
    if let Some(reason) = &approval.reason {
        put("because", reason);
    }
    if let Some(used) = approval.used_ms {
        put("used", &ago(used));
    }
    text.push_str(&format!("\n{}\n", paint.bold("arguments")));
    for line in approval.arguments.iter().flat_map(|arguments| readable(arguments.raw())) {
        text.push_str(&format!("  {} {line}\n", paint.faint("|")));
    }
    text
}

/// Asks at the terminal. Without a terminal, or without a clear answer, there is no decision.
fn asked() -> Result<Option<Decision>, Complaint> {
    if !stdin().is_terminal() {
        return Ok(None);
    }
    terminal::report("\nLet this call be made, once? [yes/no] ");
    let mut line = String::new();
    let read = stdin().lock().read_line(&mut line);
    read.map_err(|error| Complaint::new(format!("cannot read the answer: {error}"), "use --yes or --no"))?;
    Ok(match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(Decision::Approve),
        "n" | "no" => Some(Decision::Deny),
        _ => None,
    })
}

fn on_one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn ago(at_ms: i64) -> String {
    let passed = u64::try_from(now().saturating_sub(at_ms)).unwrap_or(0);
    format!("{} ago", span(Duration::from_millis(passed)))
}

/// Rounds a duration to the largest fitting unit.
fn span(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
