//! The program supervises its own children. It needs no second binary.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use failwell_process::{Environment, ExitCause, Launcher, Plan};

#[tokio::test]
async fn the_program_is_its_own_supervisor() {
    let mut plan = Plan::new("/bin/sh", "/").arguments(["-c", "setsid sleep 300 & echo $!; exit 7"]);
    plan.environment = Environment::inherit(&["PATH"]);
    let mut child = Launcher::at(env!("CARGO_BIN_EXE_failwell")).start(plan).await.unwrap();
    let ended = child.wait().await;
    assert_eq!((ended.how, ended.survivors), (ExitCause::Code(7), 0));
    let left_behind = format!("/proc/{}", ended.output.stdout.text().trim());
    assert!(!std::path::Path::new(&left_behind).exists(), "{left_behind}");
}
