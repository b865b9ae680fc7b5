//! The tables and their statements.

use failwell_audit::{ChainHead, RecordHash, Row};
use failwell_fault::Fault;
use tokio_postgres::Client;

use crate::postgres::errors::{because, failed};

/// Node and sequence number identify a record. `failwell_node` holds the head of each chain. The tables are
/// created once, so a role that only writes needs no permission to create them.
const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS failwell_record (
    node text NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    ref text,
    hash bytea NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (node, seq)
);
CREATE INDEX IF NOT EXISTS failwell_record_at ON failwell_record (at);
CREATE INDEX IF NOT EXISTS failwell_record_ref ON failwell_record (ref) WHERE ref IS NOT NULL;
CREATE TABLE IF NOT EXISTS failwell_node (
    node text PRIMARY KEY,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    seen timestamptz NOT NULL DEFAULT now()
);
";

/// Serialises the creation of the tables by nodes that start at the same time.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7210469)";

const INSERT: &str = "INSERT INTO failwell_record (node, seq, at, ref, hash, body) \
    SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::bytea[], $6::text[]) \
    ON CONFLICT (node, seq) DO NOTHING";

const ADVANCE: &str = "INSERT INTO failwell_node (node, seq, hash) VALUES ($1, $2, $3) \
    ON CONFLICT (node) DO UPDATE SET seq = EXCLUDED.seq, hash = EXCLUDED.hash, seen = now() \
    WHERE failwell_node.seq < EXCLUDED.seq";

const THERE: &str = "SELECT count(*) FROM unnest($2::bigint[], $3::bytea[]) AS ours (seq, hash) \
    JOIN failwell_record r ON r.node = $1 AND r.seq = ours.seq AND r.hash = ours.hash";

/// Creates the tables if missing.
pub(crate) async fn lay_out(client: &mut Client) -> Result<(), Fault> {
    let there =
        "SELECT to_regclass('failwell_record') IS NOT NULL AND to_regclass('failwell_node') IS NOT NULL";
    let is_there: bool = client.query_one(there, &[]).await.map_err(because)?.get(0);
    if is_there {
        return Ok(());
    }
    let transaction = client.transaction().await.map_err(because)?;
    transaction.execute(LOCK, &[]).await.map_err(because)?;
    transaction.batch_execute(SCHEMA).await.map_err(because)?;
    transaction.commit().await.map_err(because)
}

/// The head of a node's chain in the database.
pub(crate) async fn end(client: &Client, node: &str) -> Result<Option<ChainHead>, Fault> {
    let select = "SELECT seq, hash FROM failwell_node WHERE node = $1";
    let row = client.query_opt(select, &[&node]).await.map_err(because)?;
    Ok(row.map(|row| ChainHead {
        seq: row.get(0),
        hash: RecordHash::from_bytes(row.get(1)).unwrap_or_else(RecordHash::genesis),
    }))
}

/// Inserts records in one transaction. Existing records stay, and must be equal.
pub(crate) async fn add(client: &mut Client, node: &str, rows: &[Row]) -> Result<(), Fault> {
    let Some(last) = rows.last() else { return Ok(()) };
    let numbers: Vec<i64> = rows.iter().map(|row| row.head.seq).collect();
    let times: Vec<i64> = rows.iter().map(|row| row.at).collect();
    let references: Vec<Option<&str>> = rows.iter().map(|row| row.reference.as_deref()).collect();
    let hashes: Vec<&[u8]> = rows.iter().map(|row| row.head.hash.as_bytes()).collect();
    let bodies: Vec<&str> = rows.iter().map(|row| row.body.as_str()).collect();
    let transaction = client.transaction().await.map_err(because)?;
    let insert = transaction.prepare(INSERT).await.map_err(because)?;
    let added = transaction
        .execute(&insert, &[&node, &numbers, &times, &references, &hashes, &bodies])
        .await
        .map_err(because)?;
    if added < rows.len() as u64 {
        let same: i64 =
            transaction.query_one(THERE, &[&node, &numbers, &hashes]).await.map_err(because)?.get(0);
        if usize::try_from(same).ok() != Some(rows.len()) {
            return Err(other_chain());
        }
    }
    let end: (i64, &[u8]) = (last.head.seq, last.head.hash.as_bytes());
    transaction.execute(ADVANCE, &[&node, &end.0, &end.1]).await.map_err(because)?;
    transaction.commit().await.map_err(because)
}

/// The fault for records under this node's id that are not from its ledger.
pub(crate) fn other_chain() -> Fault {
    failed(
        "what PostgreSQL has under this node's name is not what its ledger has: a record was changed, or the ledger was \
         copied to another node or set back; failwell audit verify finds out where",
    )
}
