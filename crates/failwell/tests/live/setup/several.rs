//! Several nodes behind one address. With `FAILWELL_NODES=2` every `Node::up` is two nodes that share a real Redis, and
//! a proxy sends requests to them in turn.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::folder::Folder;
use super::node::{Node, within};

/// The number of nodes of a `Node::up`.
pub(crate) fn wanted() -> usize {
    let wanted = std::env::var("FAILWELL_NODES").ok().map(|text| text.parse().expect("a number of nodes"));
    wanted.unwrap_or(1)
}

/// The state folder of each node, the first one's first.
pub(crate) fn states() -> Vec<String> {
    let of = |number| if number == 1 { "state".to_owned() } else { format!("state-{number}") };
    (1..=wanted()).map(of).collect()
}

/// Whether a child's count of its calls fits this many in all. Each node's child counts its own.
pub(crate) fn counts(text: &str, all: usize) -> bool {
    let own: usize = text.parse().expect("a number");
    if wanted() == 1 { own == all } else { (1..=all).contains(&own) }
}

/// Waits until this holds on every node. Requests take turns, so checks in a row begin on different nodes if they make
/// one request each; one request between them changes the turns for checks that make two.
pub(crate) fn everywhere(node: &Node, limit: Duration, is: impl Fn() -> bool) -> bool {
    let in_a_row = || (0..wanted()).all(|_| is());
    let other_turn = || wanted() == 1 || node.send("GET", "/healthz", &[], "").status == 200 && in_a_row();
    within(limit, || in_a_row() && other_turn())
}

/// The nodes beside the first one, and the proxy before all of them.
pub(crate) struct OtherNodes {
    pub(crate) nodes: Vec<Node>,
    proxy: RoundRobin,
}

impl OtherNodes {
    pub(crate) fn start(first: SocketAddr, folder: &Folder, arguments: &[&str]) -> OtherNodes {
        let states = states();
        let nodes: Vec<Node> =
            states.iter().skip(1).map(|state| Node::with_state(folder, arguments, state)).collect();
        let addresses = std::iter::once(first).chain(nodes.iter().map(|node| node.address)).collect();
        OtherNodes { nodes, proxy: RoundRobin::before(addresses) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.proxy.address
    }
}

/// `tests/tools/round_robin.py`.
struct RoundRobin {
    child: Child,
    address: SocketAddr,
}

impl RoundRobin {
    fn before(nodes: Vec<SocketAddr>) -> RoundRobin {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/tools/round_robin.py");
        let mut command = Command::new("python3");
        command.arg(script).args(nodes.iter().map(ToString::to_string));
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the proxy starts");
        let mut lines = BufReader::new(child.stdout.take().expect("standard output")).lines();
        let address = lines.next().expect("an address").expect("readable");
        RoundRobin { child, address: address.parse().expect("an address") }
    }
}

impl Drop for RoundRobin {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
