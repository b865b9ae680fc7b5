//! SQL for approvals.

use failwell_fault::Ref;
use failwell_rpc::Json;
use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::approvals::{Approval, ApprovalOutcome, ApprovalRequest, ApproverAnswer, Decision};

/// Maximum number of pending requests in total, and per caller.
pub(crate) const MOST_OPEN: u32 = 1_000;
pub(crate) const MOST_OF_CALLER: u32 = 100;
/// Maximum bytes of arguments in all rows.
const MOST_BYTES: i64 = 64 << 20;
/// Maximum number and age of closed requests.
const MOST_CLOSED: i64 = 1_000;
const REMEMBERED_MS: i64 = 30 * 24 * 3_600 * 1_000;

/// Selects rows that can still affect a call.
const IS_OPEN: &str = "state IN ('pending', 'approved', 'denied') AND expires > ?1";

const COLUMNS: &str =
    "id, scope, caller, server, tool, state, asked, expires, decided, decided_by, reason, used";

/// Uses an approval, reports a denial, or ensures that a pending request exists.
pub(crate) fn claim(
    transaction: &Transaction<'_>,
    scope: &str,
    request: &ApprovalRequest,
    now: i64,
) -> rusqlite::Result<ApprovalOutcome> {
    let open = format!(
        "SELECT id, state, decided_by, reason FROM approval WHERE binding = ?2 AND scope = ?3 AND {IS_OPEN} \
         ORDER BY state = 'approved' DESC, asked DESC LIMIT 1"
    );
    let read = |row: &Row<'_>| {
        let (by, reason) = (row.get::<_, Option<String>>(2)?.unwrap_or_default(), row.get(3)?);
        Ok((row.get::<_, String>(1)?, ApproverAnswer { id: row.get(0)?, by, reason }))
    };
    let mut select = transaction.prepare_cached(&open)?;
    let found = select.query_row(params![now, request.binding, scope], read).optional()?;
    let Some((state, given)) = found else { return ask(transaction, scope, request, now) };
    match state.as_str() {
        "approved" => {
            let used = "UPDATE approval SET state = 'used', used = ?2 WHERE id = ?1";
            transaction.prepare_cached(used)?.execute(params![given.id, now])?;
            Ok(ApprovalOutcome::Granted(given))
        }
        "denied" => Ok(ApprovalOutcome::Refused(given)),
        _ => Ok(ApprovalOutcome::Open(given.id)),
    }
}

fn ask(
    transaction: &Transaction<'_>,
    scope: &str,
    request: &ApprovalRequest,
    now: i64,
) -> rusqlite::Result<ApprovalOutcome> {
    prune(transaction, now)?;
    let waiting = "SELECT count(*), count(*) FILTER (WHERE caller = ?2), coalesce(sum(length(arguments)), 0) \
                   FROM approval WHERE state = 'pending' AND expires > ?1";
    let read = |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?, row.get::<_, i64>(2)?));
    let (all, of_caller, bytes) = transaction.query_row(waiting, params![now, request.caller], read)?;
    if of_caller >= MOST_OF_CALLER {
        return Ok(ApprovalOutcome::Full { limit: MOST_OF_CALLER.into() });
    }
    if all >= MOST_OPEN || bytes + length(request) > MOST_BYTES {
        return Ok(ApprovalOutcome::Full { limit: MOST_OPEN.into() });
    }
    let stands = i64::try_from(request.expires.as_millis()).unwrap_or(i64::MAX);
    let id = free_id(transaction, request.reference)?;
    let insert = "INSERT INTO approval (id, scope, binding, caller, server, tool, arguments, state, asked, expires, stands) \
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'pending', ?8, ?9, ?10)";
    let (caller, server, tool) = (&request.caller, &request.server, &request.tool);
    transaction.execute(
        insert,
        params![
            id,
            scope,
            request.binding,
            caller,
            server,
            tool,
            request.shown,
            now,
            now.saturating_add(stands),
            stands
        ],
    )?;
    Ok(ApprovalOutcome::Open(id))
}

/// Returns the reference of the call, or a fresh id if the reference is taken. It is taken if an earlier
/// request of the same call has expired or was used.
fn free_id(transaction: &Transaction<'_>, reference: Ref) -> rusqlite::Result<String> {
    let id = reference.to_string();
    let taken = transaction.prepare_cached("SELECT 1 FROM approval WHERE id = ?1")?.exists([&id])?;
    Ok(if taken { Ref::fresh().to_string() } else { id })
}

fn length(request: &ApprovalRequest) -> i64 {
    i64::try_from(request.shown.len()).unwrap_or(i64::MAX)
}

/// Makes a used approval valid again.
pub(crate) fn restore(transaction: &Transaction<'_>, scope: &str, id: &str) -> rusqlite::Result<()> {
    let back =
        "UPDATE approval SET state = 'approved', used = NULL WHERE id = ?1 AND scope = ?2 AND state = 'used'";
    transaction.execute(back, params![id, scope]).map(|_| ())
}

/// All approvals of a scope, or of all scopes, newest first.
pub(crate) fn all(
    transaction: &Transaction<'_>,
    scope: Option<&str>,
    now: i64,
) -> rusqlite::Result<Vec<Approval>> {
    let query = format!(
        "SELECT {COLUMNS} FROM approval WHERE ?1 IS NULL OR scope = ?1 ORDER BY asked DESC, id LIMIT 2000"
    );
    let mut select = transaction.prepare_cached(&query)?;
    let rows = select.query_map(params![scope], |row| approval(row, now))?;
    rows.collect()
}

/// One approval, with its arguments.
pub(crate) fn find(
    transaction: &Transaction<'_>,
    scope: Option<&str>,
    id: &str,
    now: i64,
) -> rusqlite::Result<Option<Approval>> {
    let query =
        format!("SELECT {COLUMNS}, arguments FROM approval WHERE id = ?1 AND (?2 IS NULL OR scope = ?2)");
    let read = |row: &Row<'_>| {
        let shown: String = row.get(12)?;
        let arguments = Json::read(&shown, &failwell_rpc::Limits::default());
        let arguments = arguments.unwrap_or_else(|_| Json::string(&shown));
        Ok(Approval { arguments: Some(arguments), ..approval(row, now)? })
    };
    transaction.prepare_cached(&query)?.query_row(params![id, scope], read).optional()
}

/// Stores the decision on a pending request. The decision gets a new lifetime of the same length.
pub(crate) fn answer(
    transaction: &Transaction<'_>,
    id: &str,
    decision: Decision,
    by: &str,
    reason: Option<&str>,
    now: i64,
) -> rusqlite::Result<()> {
    let state = match decision {
        Decision::Approve => "approved",
        Decision::Deny => "denied",
    };
    let update = "UPDATE approval SET state = ?2, decided = ?3, decided_by = ?4, reason = ?5, expires = ?3 + stands \
                  WHERE id = ?1 AND state = 'pending'";
    transaction.execute(update, params![id, state, now, by, reason]).map(|_| ())
}

/// Deletes closed requests that exceed a limit, oldest first.
fn prune(transaction: &Transaction<'_>, now: i64) -> rusqlite::Result<()> {
    let closed = format!("NOT ({IS_OPEN})");
    let old = format!("DELETE FROM approval WHERE {closed} AND asked < ?2");
    transaction.execute(&old, params![now, now.saturating_sub(REMEMBERED_MS)])?;
    let many = format!(
        "DELETE FROM approval WHERE id IN (SELECT id FROM approval WHERE {closed} ORDER BY asked DESC LIMIT -1 OFFSET ?2)"
    );
    transaction.execute(&many, params![now, MOST_CLOSED])?;
    // Sum the argument sizes of closed requests, newest first, and delete those beyond the limit.
    let large = format!(
        "DELETE FROM approval WHERE id IN (SELECT id FROM (SELECT id, sum(length(arguments)) OVER (ORDER BY asked DESC, id) \
         AS total FROM approval WHERE {closed}) WHERE total > ?2)"
    );
    transaction.execute(&large, params![now, MOST_BYTES]).map(|_| ())
}

fn approval(row: &Row<'_>, now: i64) -> rusqlite::Result<Approval> {
    let (state, expires): (String, i64) = (row.get(5)?, row.get(7)?);
    let state = match state.as_str() {
        "used" => "used",
        _ if expires <= now => "expired",
        "approved" => "approved",
        "denied" => "denied",
        _ => "pending",
    };
    Ok(Approval {
        id: row.get(0)?,
        scope: row.get(1)?,
        caller: row.get(2)?,
        server: row.get(3)?,
        tool: row.get(4)?,
        state,
        arguments: None,
        asked_ms: row.get(6)?,
        expires_ms: expires,
        decided_ms: row.get(8)?,
        decided_by: row.get(9)?,
        reason: row.get(10)?,
        used_ms: row.get(11)?,
    })
}
