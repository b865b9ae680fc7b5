use serde_json::{Map, Value, json};

use crate::memory;
use crate::queue::AnalysisQueue;
use crate::replay::SandboxMode;

/// The result of `health_check`.
pub(crate) async fn health(queue: &AnalysisQueue) -> Map<String, Value> {
    let python = queue.python().python().await.ok();
    let warm = queue.python().warm().await;
    let solver = queue.solvers().version().await;
    let (name, version) = match solver.as_deref().map(|whole| whole.split_once(' ').unwrap_or((whole, ""))) {
        Some((name, version)) => (json!(name.to_lowercase()), json!(version)),
        None => (Value::Null, Value::Null),
    };
    let mut missing: Vec<&str> = Vec::new();
    if solver.is_none() {
        missing.push("solver: install z3 (python3 -m pip install z3-solver), or set FAILWELL_Z3");
    }
    if queue.warm_engine().await.is_err() {
        missing.push("engine: this program cannot start itself as a child; see failwell doctor");
    }
    if warm.is_err() {
        missing.push("python: no interpreter runs in the sandbox; see failwell doctor");
    }
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
    put("status", json!("healthy"));
    put("version", json!(env!("CARGO_PKG_VERSION")));
    put("python_version", json!(python.map(|python| python.version.as_str())));
    put("solver", name);
    put("solver_version", version);
    put("platform", json!(format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)));
    put("memory_usage_mb", json!(memory_mb()));
    put("sandbox", json!(sandbox(queue.python().sandbox())));
    put("missing", json!(missing));
    members
}

fn sandbox(mode: SandboxMode) -> &'static str {
    match mode {
        SandboxMode::Required => "required",
        SandboxMode::BestEffort => "as far as the kernel has one",
        SandboxMode::Off => "off",
    }
}

/// Resident memory of this process in megabytes, to one decimal. `None` if the system does not report it.
fn memory_mb() -> Option<f64> {
    let kilobytes = u32::try_from(memory::resident()? >> 10).ok()?;
    Some((f64::from(kilobytes) / 1024.0 * 10.0).round() / 10.0)
}
