//! One realistic fault per reason, with the facts, effects and violations that its code adds. Every
//! transcript therefore reads as in production. Samples are found by the reason's id.

#[path = "samples/device.rs"]
mod device;
#[path = "samples/gateway.rs"]
mod gateway;
#[path = "samples/http.rs"]
mod http;
#[path = "samples/mcp.rs"]
mod mcp;
#[path = "samples/operation.rs"]
mod operation;
#[path = "samples/policy.rs"]
mod policy;
#[path = "samples/pytest.rs"]
mod pytest;
#[path = "samples/rpc.rs"]
mod rpc;
#[path = "samples/server.rs"]
mod server;
#[path = "samples/shelf.rs"]
mod shelf;
#[path = "samples/symbolic.rs"]
mod symbolic;
#[path = "samples/tasks.rs"]
mod tasks;

use failwell_fault::{Echo, Fault, Name, Pointer, Reason};

/// The sample of a reason. It must have a fact for every placeholder.
pub(crate) fn sample(reason: &'static Reason) -> Fault {
    let fault = fill(reason.id, Fault::new(reason));
    let id = reason.id;
    let fault = fault.unwrap_or_else(|| panic!("{id} has no sample: add one in tests/support/samples"));
    for name in placeholders(reason) {
        let is_filled = fault.get(name).is_some() || OPTIONAL.contains(&(id, name));
        assert!(is_filled, "the sample of {id} has no fact `{name}`, which its texts name");
    }
    fault
}

/// Facts that may be missing where the reason is usually raised.
const OPTIONAL: &[(&str, &str)] = &[("tasks/INVALID_DATE", "why")];

/// Adds the facts of a reason. `None` if it has no sample.
fn fill(id: &str, fault: Fault) -> Option<Fault> {
    let (area, name) = id.split_once('/')?;
    match area {
        "audit" | "config" | "process" | "lobby" | "stranger" => operation::fill(id, fault),
        "device" => device::fill(name, fault),
        "gateway" => gateway::fill(name, fault),
        "http" => http::fill(name, fault),
        "mcp" => mcp::fill(name, fault),
        "policy" => policy::fill(name, fault),
        "pytest" => pytest::fill(name, fault),
        "rpc" => rpc::fill(name, fault),
        "server" => server::fill(name, fault),
        "shelf" => shelf::fill(name, fault),
        "symbolic" => symbolic::fill(name, fault),
        "tasks" => tasks::fill(name, fault),
        _ => None,
    }
}

/// The placeholders in the detail and hint of a reason, each once, in order.
fn placeholders(reason: &'static Reason) -> Vec<&'static str> {
    let mut names = Vec::new();
    for template in [reason.detail, reason.hint] {
        for piece in template.split('{').skip(1) {
            let name = piece.split('}').next().expect("a closed brace");
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn echo(text: &str) -> Echo {
    Echo::of_caller(text)
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

fn at(path: &[&str]) -> Pointer {
    path.iter().fold(Pointer::root(), |place, part| place.then(part))
}
