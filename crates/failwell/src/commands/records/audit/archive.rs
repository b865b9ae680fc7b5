//! The archive in PostgreSQL: copies of the ledgers of all nodes.

use failwell_audit::{ChainHead, Query, VerifyReport};
use failwell_cluster::postgres::{ArchiveReader, PostgresAddress};
use failwell_fault::{Fault, Secret};
use failwell_gateway::Trust;
use tokio::runtime::Runtime;

use super::record_reader::{LastNumbers, NodeRow};
use crate::cli::RecordLocation;
use crate::commands::config_file::{self, ConfigFileError};
use crate::commands::runtime;
use crate::commands::serving::serve;
use crate::complaint::Complaint;
use crate::config;

/// An open archive, optionally restricted to one node.
pub(in crate::commands) struct OpenArchive {
    runtime: Runtime,
    stacks: ArchiveReader,
    node: Option<String>,
}

impl OpenArchive {
    /// Opens the archive at `url`, or at the address in the configuration.
    pub(super) fn open(place: &RecordLocation, url: Option<&str>) -> Result<OpenArchive, Complaint> {
        let address = match url {
            Some(url) => typed(url)?,
            None => configured(place)?,
        };
        let runtime = runtime()?;
        let nothing = || {
            Complaint::new(
                format!("no ledger was copied to {address}"),
                "set `postgres` below [audit] in the configuration of each node, and start them",
            )
        };
        let opened =
            runtime.block_on(ArchiveReader::open(&address)).map_err(|fault| closed(&address, &fault))?;
        let stacks = opened.ok_or_else(nothing)?;
        let mut archived = OpenArchive { runtime, stacks, node: None };
        if let Some(node) = &place.node {
            archived.node = Some(archived.named(node)?);
        }
        Ok(archived)
    }

    /// Finds a node by its name or by a unique prefix of it.
    fn named(&mut self, begins: &str) -> Result<String, Complaint> {
        let ends = self.ends().map_err(|fault| serve::unexpected(&fault))?;
        let mut fitting = ends.keys().filter(|node| node.starts_with(begins));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Ok(only.clone()),
            (Some(_), Some(_)) => {
                Err(Complaint::new("several nodes begin like this", "give more of its name to --node"))
            }
            _ => {
                let known: Vec<&str> = ends.keys().map(String::as_str).collect();
                Err(Complaint::new("there is no such node", format!("the nodes are {}", known.join(", "))))
            }
        }
    }

    pub(super) fn find(&mut self, reference: &str) -> Result<Option<NodeRow>, Fault> {
        Ok(self.runtime.block_on(self.stacks.find(reference))?.map(NodeRow::from))
    }

    pub(super) fn select(&mut self, query: &Query) -> Result<Vec<NodeRow>, Fault> {
        let found = self.runtime.block_on(self.stacks.select(query, self.node.as_deref()))?;
        Ok(found.into_iter().map(NodeRow::from).collect())
    }

    pub(super) fn since(&mut self, query: &Query, seen: &LastNumbers) -> Result<Vec<NodeRow>, Fault> {
        let found = self.runtime.block_on(self.stacks.since(query, self.node.as_deref(), seen))?;
        Ok(found.into_iter().map(NodeRow::from).collect())
    }

    pub(super) fn each(
        &mut self,
        query: &Query,
        mut each: impl FnMut(&NodeRow) -> bool,
    ) -> Result<(), Fault> {
        let each = |found: &failwell_cluster::postgres::NodeRecord| each(&NodeRow::from(found.clone()));
        self.runtime.block_on(self.stacks.each(query, self.node.as_deref(), each))
    }

    pub(super) fn ends(&mut self) -> Result<LastNumbers, Fault> {
        let nodes = self.runtime.block_on(self.stacks.nodes())?;
        Ok(nodes.into_iter().map(|(node, head)| (node, head.seq)).collect())
    }

    pub(super) fn verify(
        &mut self,
        known: Option<ChainHead>,
    ) -> Result<Vec<(Option<String>, VerifyReport)>, Fault> {
        let nodes = match &self.node {
            Some(node) => vec![node.clone()],
            None => self.runtime.block_on(self.stacks.chains())?,
        };
        let one = |node: String| {
            let found = self.runtime.block_on(self.stacks.verify(&node, known))?;
            Ok((Some(node), found))
        };
        nodes.into_iter().map(one).collect()
    }
}

impl From<failwell_cluster::postgres::NodeRecord> for NodeRow {
    fn from(found: failwell_cluster::postgres::NodeRecord) -> NodeRow {
        NodeRow { row: found.row, node: Some(found.node) }
    }
}

fn typed(url: &str) -> Result<PostgresAddress, Complaint> {
    let url = config::filled(url).map_err(|(message, help)| Complaint::new(message, help))?;
    PostgresAddress::parse(&Secret::new(url), Trust::default())
        .map_err(|(problem, help)| Complaint::new(format!("the value of --postgres {problem}"), help))
}

fn configured(place: &RecordLocation) -> Result<PostgresAddress, Complaint> {
    let config = config_file::settle(place.ledger.config.as_deref()).map_err(ConfigFileError::report)?;
    let postgres = config.audit.postgres.ok_or_else(|| {
        Complaint::new(
            "the configuration names no PostgreSQL",
            "set `postgres` below [audit], or give the address: --postgres postgres://…",
        )
    })?;
    let read = PostgresAddress::parse(&postgres.url, postgres.trust);
    read.map_err(|(problem, help)| Complaint::new(format!("`postgres` {problem}"), help))
}

/// Explains why the archive cannot be used: our own sentence, then the server's message.
fn closed(address: &PostgresAddress, fault: &Fault) -> Complaint {
    let notes: Vec<String> = fault.operator().notes().iter().map(|(_, note)| note.to_string()).collect();
    let causes = fault.operator().causes().join(": ");
    Complaint::new(
        format!(
            "{address} cannot be used: {}{}",
            notes.join("; "),
            if causes.is_empty() { String::new() } else { format!(" ({causes})") }
        ),
        "check that PostgreSQL runs there, and the user, the password and the database of the address",
    )
}
