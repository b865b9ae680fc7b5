//! Measures the cost of a supervisor: many runs of a program that does nothing, plain and supervised in
//! turns, so that both see the same load.
//!
//! `cargo run --release -p failwell-process --example overhead [RUNS]`

use std::io::Write;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use failwell_process::{Caps, Launcher, Plan, Profile, Sandbox};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(failwell_process::ARGUMENT) {
        return failwell_process::supervise_main();
    }
    let runs = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(300);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    match runtime.map(|runtime| runtime.block_on(measure(runs))) {
        Ok(Some(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

async fn measure(runs: usize) -> Option<()> {
    let launcher = Launcher::of_this_program().ok()?;
    let sandboxed = Sandbox::Profile(Profile::closed().with_system());
    let (mut plain, mut watched, mut boxed) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        let began = Instant::now();
        let mut command = tokio::process::Command::new("/bin/true");
        command.stdin(Stdio::null()).env_clear().current_dir("/").output().await.ok()?;
        plain.push(began.elapsed());
        for (times, sandbox) in [(&mut watched, Sandbox::None), (&mut boxed, sandboxed.clone())] {
            let began = Instant::now();
            let mut plan = Plan::new("/bin/true", "/");
            plan.output = Caps { head: 1024, tail: 1024 };
            plan.sandbox = sandbox;
            launcher.start(plan).await.ok()?.wait().await;
            times.push(began.elapsed());
        }
    }
    let mut text = String::new();
    for (name, mut times) in [("plain", plain), ("supervised", watched), ("supervised, in a sandbox", boxed)]
    {
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(Duration::ZERO);
        text.push_str(&format!(
            "{name:<26} least {:>9.1?}  median {:>9.1?}  95% {:>9.1?}\n",
            at(0),
            at(50),
            at(95)
        ));
    }
    std::io::stdout().write_all(text.as_bytes()).ok()
}
