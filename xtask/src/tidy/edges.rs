//! Dependencies point one way. Development dependencies are left out: they do not ship.

use std::process::Command;

use serde::Deserialize;

use crate::problem::Problem;
use crate::tree::root;

/// Who may depend on whom, from the ground up.
const ALLOWED: &[(&str, &[&str])] = &[
    ("failwell-fault", &[]),
    ("failwell-rpc", &["fault"]),
    ("failwell-policy", &["rpc", "fault"]),
    ("failwell-render", &["rpc", "fault"]),
    // How every file of our own in SQLite is made and opened.
    ("failwell-drawer", &[]),
    // Rooms bring what they make to it, the corridor and the door hand it out.
    ("failwell-shelf", &["drawer", "fault"]),
    ("failwell-audit", &["drawer", "render", "rpc", "fault"]),
    ("failwell-process", &["rpc", "fault"]),
    ("failwell-plugins", &["policy", "process", "fault"]),
    ("failwell-server", &["policy", "render", "audit", "process", "shelf", "rpc", "fault"]),
    ("failwell-consent", &["server", "drawer", "rpc", "fault"]),
    // Keeps what `server::KeyRing` asks for: rusqlite stays out of the corridor.
    ("failwell-keyring", &["server", "policy", "drawer", "fault"]),
    ("failwell-transport", &["server", "policy", "render", "shelf", "rpc", "fault"]),
    // Carries what is in the ledger elsewhere: over the connect side of the door, and into a database.
    ("failwell-otlp", &["transport", "audit", "fault"]),
    ("failwell-postgres", &["transport", "audit", "fault"]),
    // Reaches Redis over the TLS everything else is reached over.
    ("failwell-state", &["transport", "server", "policy", "rpc", "fault"]),
    ("failwell-probe", &[]),
    // Nothing of ours but what they are made of: a stand-in must not share the mistakes of its client.
    ("failwell-emulator-props", &[]),
    ("failwell-emulator-rtm", &["emulator-props"]),
    ("failwell-emulator-wda", &["emulator-props"]),
    (
        "failwell-gateway",
        &["consent", "transport", "server", "policy", "render", "audit", "process", "rpc", "fault"],
    ),
    ("failwell-lobby", ROOM),
    ("failwell-symbolic", ROOM),
    ("failwell-pytest", ROOM),
    ("failwell-tasks", ROOM),
    ("failwell-device", ROOM),
    ("failwell", EVERYTHING),
    ("xtask", &["render", "rpc", "fault"]),
    ("failwell-suite", EVERYTHING),
];

/// What a tool server's room sees: never another room, never the door.
const ROOM: &[&str] = &["server", "process", "shelf", "fault"];

/// The binary wires everything.
const EVERYTHING: &[&str] = &[
    "gateway",
    "plugins",
    "lobby",
    "symbolic",
    "pytest",
    "tasks",
    "device",
    "transport",
    "otlp",
    "postgres",
    "probe",
    "emulator-rtm",
    "emulator-wda",
    "state",
    "consent",
    "keyring",
    "server",
    "policy",
    "render",
    "audit",
    "process",
    "shelf",
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
        let said = String::from_utf8_lossy(&output.stderr);
        Problem::new(
            format!("cargo metadata is unreadable: {error}: {said}"),
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
            ("failwell-server", "failwell-transport", None, 1),
            ("failwell-server", "failwell-transport", Some("dev"), 0),
            ("failwell-server", "failwell-transport", Some("build"), 1),
            ("failwell-probe", "failwell-fault", None, 1),
            ("failwell-tasks", "failwell-pytest", None, 1),
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
