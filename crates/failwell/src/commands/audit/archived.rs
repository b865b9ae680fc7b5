//! The copies of the ledgers of many nodes, in PostgreSQL.

use failwell_audit::{Head, Query, Verified};
use failwell_fault::{Fault, Secret};
use failwell_gateway::Trust;
use failwell_postgres::{Address, Stacks};
use tokio::runtime::Runtime;

use super::book::{Found, Seen};
use crate::cli::BookPlace;
use crate::commands::configured::{self, Misconfigured};
use crate::commands::{runtime, serve};
use crate::complaint::Complaint;
use crate::config;

/// An open archive, of which one node may be all that is looked at.
pub(in crate::commands) struct Archived {
    runtime: Runtime,
    stacks: Stacks,
    node: Option<String>,
}

impl Archived {
    /// Opens the archive at this address, else at that of the configuration.
    pub(super) fn open(place: &BookPlace, url: Option<&str>) -> Result<Archived, Complaint> {
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
        let opened = runtime.block_on(Stacks::open(&address)).map_err(|fault| closed(&address, &fault))?;
        let stacks = opened.ok_or_else(nothing)?;
        let mut archived = Archived { runtime, stacks, node: None };
        if let Some(node) = &place.node {
            archived.node = Some(archived.named(node)?);
        }
        Ok(archived)
    }

    /// A node by its name, or by how its name begins.
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

    pub(super) fn find(&mut self, reference: &str) -> Result<Option<Found>, Fault> {
        Ok(self.runtime.block_on(self.stacks.find(reference))?.map(Found::from))
    }

    pub(super) fn select(&mut self, query: &Query) -> Result<Vec<Found>, Fault> {
        let found = self.runtime.block_on(self.stacks.select(query, self.node.as_deref()))?;
        Ok(found.into_iter().map(Found::from).collect())
    }

    pub(super) fn since(&mut self, query: &Query, seen: &Seen) -> Result<Vec<Found>, Fault> {
        let found = self.runtime.block_on(self.stacks.since(query, self.node.as_deref(), seen))?;
        Ok(found.into_iter().map(Found::from).collect())
    }

    pub(super) fn each(&mut self, query: &Query, mut each: impl FnMut(&Found) -> bool) -> Result<(), Fault> {
        let each = |found: &failwell_postgres::Found| each(&Found::from(found.clone()));
        self.runtime.block_on(self.stacks.each(query, self.node.as_deref(), each))
    }

    pub(super) fn ends(&mut self) -> Result<Seen, Fault> {
        let nodes = self.runtime.block_on(self.stacks.nodes())?;
        Ok(nodes.into_iter().map(|(node, head)| (node, head.seq)).collect())
    }

    pub(super) fn verify(&mut self, known: Option<Head>) -> Result<Vec<(Option<String>, Verified)>, Fault> {
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

impl From<failwell_postgres::Found> for Found {
    fn from(found: failwell_postgres::Found) -> Found {
        Found { row: found.row, node: Some(found.node) }
    }
}

fn typed(url: &str) -> Result<Address, Complaint> {
    let url = config::filled(url).map_err(|(message, help)| Complaint::new(message, help))?;
    Address::read(&Secret::new(url), Trust::default())
        .map_err(|(problem, help)| Complaint::new(format!("what --postgres got {problem}"), help))
}

fn configured(place: &BookPlace) -> Result<Address, Complaint> {
    let config = configured::settle(place.ledger.config.as_deref()).map_err(Misconfigured::report)?;
    let postgres = config.audit.postgres.ok_or_else(|| {
        Complaint::new(
            "the configuration names no PostgreSQL",
            "set `postgres` below [audit], or give the address: --postgres postgres://…",
        )
    })?;
    let read = Address::read(&postgres.url, postgres.trust);
    read.map_err(|(problem, help)| Complaint::new(format!("`postgres` {problem}"), help))
}

/// Why the archive cannot be looked into: in our words, with the server's beside them.
fn closed(address: &Address, fault: &Fault) -> Complaint {
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
