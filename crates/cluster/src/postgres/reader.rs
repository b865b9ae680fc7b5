//! Reads the archive.

use std::collections::BTreeMap;
use std::time::Duration;

use failwell_audit::{ChainHead, Event, Query, RecordHash, Row, Verifier, VerifyReport};
use failwell_fault::Fault;
use tokio_postgres::{Client, IsolationLevel, Transaction};

use crate::postgres::connect::connect;
use crate::postgres::errors::{because, late};
use crate::postgres::settings::PostgresAddress;

/// Maximum time to wait for a connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// Number of records fetched at once.
const AT_ONCE: i32 = 1_000;

/// A read-only connection to the archive.
pub struct ArchiveReader {
    client: Client,
}

/// A record and its node.
#[derive(Debug, Clone)]
pub struct NodeRecord {
    pub node: String,
    pub row: Row,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanOrder {
    Forth,
    Back,
}

impl ArchiveReader {
    /// Opens the archive; `None` if its tables do not exist.
    pub async fn open(address: &PostgresAddress) -> Result<Option<ArchiveReader>, Fault> {
        let client = connect(address, PATIENCE).await?;
        let there =
            "SELECT to_regclass('failwell_record') IS NOT NULL AND to_regclass('failwell_node') IS NOT NULL";
        let asked = tokio::time::timeout(PATIENCE, client.query_one(there, &[])).await;
        let is_there: bool = asked.map_err(|_| late(PATIENCE))?.map_err(because)?.get(0);
        Ok(is_there.then_some(ArchiveReader { client }))
    }

    /// The nodes and the heads of their chains.
    pub async fn nodes(&self) -> Result<BTreeMap<String, ChainHead>, Fault> {
        let rows =
            self.client.query("SELECT node, seq, hash FROM failwell_node", &[]).await.map_err(because)?;
        let head = |seq, hash| ChainHead {
            seq,
            hash: RecordHash::from_bytes(hash).unwrap_or_else(RecordHash::genesis),
        };
        Ok(rows.iter().map(|row| (row.get(0), head(row.get(1), row.get(2)))).collect())
    }

    /// All nodes that have a record, with or without a recorded head.
    pub async fn chains(&self) -> Result<Vec<String>, Fault> {
        let all = "SELECT node FROM failwell_node UNION SELECT DISTINCT node FROM failwell_record ORDER BY 1";
        let rows = self.client.query(all, &[]).await.map_err(because)?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    pub async fn find(&mut self, reference: &str) -> Result<Option<NodeRecord>, Fault> {
        let by_index = "SELECT node, seq, at, hash, body, ref FROM failwell_record WHERE ref = $1 ORDER BY at DESC LIMIT 1";
        let row = self.client.query_opt(by_index, &[&reference]).await.map_err(because)?;
        if let Some(row) = row {
            return Ok(Some(found(&row)));
        }
        // Successful calls are not in the index: scan for them.
        let query = Query { reference: Some(reference.to_owned()), limit: Some(1), ..Query::default() };
        Ok(self.select(&query, None).await?.pop())
    }

    /// The matching records of one node or all nodes, oldest first.
    pub async fn select(&mut self, query: &Query, node: Option<&str>) -> Result<Vec<NodeRecord>, Fault> {
        let mut all = Vec::new();
        let wanted = RecordFilter { query, node, after: &BTreeMap::new() };
        self.walk(&wanted, ScanOrder::Back, |found| {
            all.push(found);
            query.limit.is_none_or(|limit| all.len() < limit)
        })
        .await?;
        all.reverse();
        Ok(all)
    }

    /// The matching records after each node's sequence number, oldest first.
    pub async fn since(
        &mut self,
        query: &Query,
        node: Option<&str>,
        after: &BTreeMap<String, i64>,
    ) -> Result<Vec<NodeRecord>, Fault> {
        let mut all = Vec::new();
        self.walk(&RecordFilter { query, node, after }, ScanOrder::Forth, |found| {
            all.push(found);
            true
        })
        .await?;
        Ok(all)
    }

    /// Passes matching records to `each`, oldest first, without loading all of them.
    pub async fn each(
        &mut self,
        query: &Query,
        node: Option<&str>,
        mut each: impl FnMut(&NodeRecord) -> bool,
    ) -> Result<(), Fault> {
        let wanted = RecordFilter { query, node, after: &BTreeMap::new() };
        self.walk(&wanted, ScanOrder::Forth, |found| each(&found)).await
    }

    async fn walk(
        &mut self,
        wanted: &RecordFilter<'_>,
        way: ScanOrder,
        mut each: impl FnMut(NodeRecord) -> bool,
    ) -> Result<(), Fault> {
        let order = if way == ScanOrder::Back { "DESC" } else { "ASC" };
        let select = format!(
            "SELECT r.node, r.seq, r.at, r.hash, r.body, r.ref FROM failwell_record r \
             LEFT JOIN unnest($1::text[], $2::bigint[]) AS known (node, seq) ON known.node = r.node \
             WHERE r.seq > coalesce(known.seq, 0) AND ($3::text IS NULL OR r.node = $3) AND r.at BETWEEN $4 AND $5 \
             ORDER BY r.at {order}, r.node {order}, r.seq {order}"
        );
        let (nodes, numbers): (Vec<&str>, Vec<i64>) =
            wanted.after.iter().map(|(node, seq)| (node.as_str(), *seq)).unzip();
        let (from, to) = (wanted.query.since.unwrap_or(i64::MIN), wanted.query.until.unwrap_or(i64::MAX));
        let snapshot = snapshot(&mut self.client).await?;
        let portal =
            snapshot.bind(&select, &[&nodes, &numbers, &wanted.node, &from, &to]).await.map_err(because)?;
        loop {
            let rows = snapshot.query_portal(&portal, AT_ONCE).await.map_err(because)?;
            if rows.is_empty() {
                return Ok(());
            }
            for found in rows.iter().map(found) {
                if wanted.query.fits(&found.row) && !each(found) {
                    return Ok(());
                }
            }
        }
    }

    /// Verifies the chain of one node on a snapshot. `known` is a head noted earlier.
    pub async fn verify(&mut self, node: &str, known: Option<ChainHead>) -> Result<VerifyReport, Fault> {
        let snapshot = snapshot(&mut self.client).await?;
        let end = snapshot
            .query_opt("SELECT seq, hash FROM failwell_node WHERE node = $1", &[&node])
            .await
            .map_err(because)?;
        let removed = removed(&snapshot, node).await?;
        let mut verifier = Verifier::of_copy(removed, known);
        let all = "SELECT node, seq, at, hash, body, ref FROM failwell_record WHERE node = $1 ORDER BY seq";
        let portal = snapshot.bind(all, &[&node]).await.map_err(because)?;
        loop {
            let rows = snapshot.query_portal(&portal, AT_ONCE).await.map_err(because)?;
            if rows.is_empty() {
                break;
            }
            rows.iter().map(found).for_each(|found| verifier.step(&found.row));
        }
        let noted = end
            .map(|row| (row.get(0), RecordHash::from_bytes(row.get(1)).unwrap_or_else(RecordHash::genesis)));
        Ok(verifier.end(noted.map_or_else(ChainHead::genesis, |(seq, hash)| ChainHead { seq, hash })))
    }
}

struct RecordFilter<'a> {
    query: &'a Query,
    node: Option<&'a str>,
    after: &'a BTreeMap<String, i64>,
}

async fn snapshot(client: &mut Client) -> Result<Transaction<'_>, Fault> {
    let begin = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    begin.start().await.map_err(because)
}

/// The removals that records of a chain attest.
async fn removed(snapshot: &Transaction<'_>, node: &str) -> Result<Vec<ChainHead>, Fault> {
    let events = "SELECT node, seq, at, hash, body, ref FROM failwell_record \
        WHERE node = $1 AND ref IS NOT NULL AND body LIKE '%\"what\":\"%pruned\"%'";
    let rows = snapshot.query(events, &[&node]).await.map_err(because)?;
    let ends = |row: &tokio_postgres::Row| match found(row).row.line().event.map(|event| *event) {
        Some(Event::Pruned { through, hash, .. }) => vec![(through, hash)],
        Some(Event::RefusalsPruned { ranges, .. }) => {
            ranges.into_iter().map(|range| (range.last, range.hash)).collect()
        }
        _ => Vec::new(),
    };
    let head = |(seq, hash): (i64, String)| Some(ChainHead { seq, hash: RecordHash::parse(&hash)? });
    Ok(rows.iter().flat_map(ends).filter_map(head).collect())
}

fn found(row: &tokio_postgres::Row) -> NodeRecord {
    let hash = RecordHash::from_bytes(row.get(3)).unwrap_or_else(RecordHash::genesis);
    let head = ChainHead { seq: row.get(1), hash };
    NodeRecord {
        node: row.get(0),
        row: Row { head, at: row.get(2), reference: row.get(5), body: row.get(4) },
    }
}
