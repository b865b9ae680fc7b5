//! Dependencies point one way. Development dependencies are left out: they do not ship.

use std::process::Command;

use serde::Deserialize;

use crate::problem::Problem;
use crate::tree::root;

/// The allowed dependencies of each crate, from the bottom up.
const ALLOWED: &[(&str, &[&str])] = &[
    ("failwell-fault", &[]),
    ("failwell-rpc", &["fault"]),
    ("failwell-policy", &["rpc", "fault"]),
    // One retry delay with jitter for every crate.
    ("failwell-backoff", &[]),
    ("failwell-render", &["rpc", "fault"]),
    // One log line per failure, with or without a ledger.
    ("failwell-journal", &["render", "rpc", "fault"]),
    ("failwell-process", &["rpc", "fault"]),
    ("failwell-plugins", &["backoff", "policy", "process", "fault"]),
    // The parts of a tool server. Servers depend on this, not on the pipeline that serves them.
    ("failwell-toolbox", &["render", "rpc", "fault"]),
    // The stages, and the traits of the controls around them. It knows no policy, ledger or store.
    ("failwell-pipeline", &["toolbox", "journal", "render", "rpc", "fault"]),
    // Keys, approvals, pins and stored files of one node. It opens every SQLite file.
    ("failwell-store", &["backoff", "policy", "rpc", "fault"]),
    ("failwell-audit", &["store", "pipeline", "toolbox", "journal", "render", "rpc", "fault"]),
    // Implements the controls of the pipeline with policy, ledger and store.
    (
        "failwell-controls",
        &["audit", "store", "pipeline", "toolbox", "journal", "policy", "render", "rpc", "fault"],
    ),
    // Outgoing HTTP with TLS.
    ("failwell-connect", &["fault"]),
    // Whether a request left decides the effect a fault states, so the servers that call web services share one client.
    // It opens TLS connections as `connect` does.
    ("failwell-http-client", &["connect"]),
    // Listeners for any pipeline. Other crates add paths to its table.
    ("failwell-transport", &["pipeline", "toolbox", "render", "rpc", "fault"]),
    // The dependency of every tool server, ours included.
    ("failwell-sdk", &["transport", "pipeline", "toolbox", "journal", "rpc", "fault"]),
    // The operator's paths, and the authentication of callers.
    (
        "failwell-rest",
        &[
            "connect",
            "transport",
            "controls",
            "store",
            "pipeline",
            "toolbox",
            "policy",
            "render",
            "rpc",
            "fault",
        ],
    ),
    // Sends the ledger to a collector.
    ("failwell-otlp", &["backoff", "connect", "audit", "pipeline", "journal", "rpc", "fault"]),
    // Implements the contracts of `pipeline` and `store` for several nodes, over the TLS of `connect`; copies the ledger.
    (
        "failwell-cluster",
        &[
            "backoff", "connect", "controls", "audit", "store", "pipeline", "toolbox", "journal", "policy",
            "rpc", "fault",
        ],
    ),
    ("failwell-probe", &[]),
    // Emulators share no code with the program: a stand-in must not share the mistakes of its client.
    ("failwell-emulator-http", &[]),
    ("failwell-emulator-rtm", &["emulator-http"]),
    ("failwell-emulator-wda", &["emulator-http"]),
    (
        "failwell-gateway",
        &[
            "backoff",
            "connect",
            "store",
            "transport",
            "pipeline",
            "toolbox",
            "policy",
            "render",
            "audit",
            "process",
            "rpc",
            "fault",
        ],
    ),
    ("failwell-demo", SERVER),
    ("failwell-symbolic", SERVER),
    ("failwell-pytest", SERVER),
    ("failwell-tasks", SERVER_WITH_CLIENT),
    // It keeps screenshots and recordings in the program's store of files.
    ("failwell-device", &["store", "backoff", "http-client", "sdk", "process", "fault"]),
    // One list of every reason, so that the binary, the manual and the tests cannot differ.
    ("failwell-catalogue", &["device", "demo", "pytest", "symbolic", "tasks", "fault"]),
    ("failwell", EVERYTHING),
    ("xtask", &["catalogue", "render", "rpc", "fault"]),
    ("failwell-suite", EVERYTHING),
];

/// The dependencies of a tool server: no other server, no pipeline, no transport.
const SERVER: &[&str] = &["sdk", "process", "fault"];

/// A server that is itself the client of a web service.
const SERVER_WITH_CLIENT: &[&str] = &["backoff", "http-client", "sdk", "process", "fault"];

/// The binary wires everything.
const EVERYTHING: &[&str] = &[
    "catalogue",
    "gateway",
    "plugins",
    "demo",
    "symbolic",
    "pytest",
    "tasks",
    "device",
    "transport",
    "rest",
    "connect",
    "otlp",
    "probe",
    "emulator-rtm",
    "emulator-wda",
    "cluster",
    "controls",
    "pipeline",
    "toolbox",
    "journal",
    "policy",
    "render",
    "audit",
    "process",
    "store",
    "rpc",
    "fault",
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
    path: Option<String>,
}

pub(super) fn check() -> Vec<Problem> {
    match metadata() {
        Ok(metadata) => metadata.packages.iter().flat_map(of_package).collect(),
        Err(problem) => vec![problem],
    }
}

fn metadata() -> Result<Metadata, Problem> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .map_err(|error| Problem::new(format!("cargo does not start: {error}"), "run this through cargo"))?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let output = String::from_utf8_lossy(&output.stderr);
        Problem::new(
            format!("cargo metadata is unreadable: {error}: {output}"),
            "make `cargo metadata` work first",
        )
    })
}

fn of_package(package: &Package) -> Vec<Problem> {
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name) else {
        let what = format!("the crate {} has no place in the order of crates", package.name);
        return vec![Problem::new(
            what,
            "give it a row in xtask/src/tidy/edges.rs, in a commit that says why",
        )];
    };
    let ours = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    let shipped = ours.filter(|dependency| dependency.kind.as_deref() != Some("dev"));
    shipped
        .filter(|dependency| !is_allowed(&dependency.name, allowed))
        .map(|dependency| {
            let what = format!("{} may not depend on {}", package.name, dependency.name);
            Problem::new(what, "move the shared code down, or turn the dependency round")
        })
        .collect()
}

fn is_allowed(dependency: &str, allowed: &[&str]) -> bool {
    dependency.strip_prefix("failwell-").is_some_and(|short| allowed.contains(&short))
}

#[cfg(test)]
mod tests {
    use super::{ALLOWED, Dependency, Package, of_package};

    fn package(name: &str, on: &str, kind: Option<&str>) -> Package {
        let dependency =
            Dependency { name: on.to_owned(), kind: kind.map(str::to_owned), path: Some(String::new()) };
        Package { name: name.to_owned(), dependencies: vec![dependency] }
    }

    #[test]
    fn edges_point_down() {
        for (name, on, kind, problems) in [
            ("failwell-rpc", "failwell-fault", None, 0),
            ("failwell-fault", "failwell-rpc", None, 1),
            ("failwell-pipeline", "failwell-transport", None, 1),
            ("failwell-pipeline", "failwell-transport", Some("dev"), 0),
            ("failwell-pipeline", "failwell-transport", Some("build"), 1),
            ("failwell-probe", "failwell-fault", None, 1),
            ("failwell-tasks", "failwell-pytest", None, 1),
            ("failwell-tasks", "failwell-store", None, 1),
            ("failwell-device", "failwell-store", None, 0),
            ("failwell-stranger", "failwell-fault", None, 1),
        ] {
            assert_eq!(of_package(&package(name, on, kind)).len(), problems, "{name} → {on}");
        }
    }

    /// The table itself has no cycle: each row names only rows before it, the binary's aside.
    #[test]
    fn the_table_is_in_order() {
        for (index, (name, allowed)) in ALLOWED.iter().enumerate() {
            for below in *allowed {
                let place =
                    ALLOWED.iter().position(|(known, _)| known.strip_prefix("failwell-") == Some(below));
                assert!(place.is_some_and(|place| place < index), "{name} → {below}");
            }
        }
    }
}
