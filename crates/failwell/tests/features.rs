//! Commands whose part is not in the build. Run them with `cargo test -p failwell --no-default-features
//! --test features`.

#![cfg(not(all(feature = "emulators", feature = "probe")))]
#![allow(clippy::expect_used, reason = "a test may stop at the first surprise")]

use std::process::Command;

/// The command fails and names the missing feature and the command that adds it.
fn check(arguments: &[&str], feature: &str) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_failwell")).args(arguments).output().expect("the program runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
    assert!(error.contains(&format!("built without the feature `{feature}`")), "{arguments:?}: {error}");
    let command = format!("cargo build --release -p failwell --features {feature}");
    assert!(error.contains(&command), "{arguments:?}: {error}");
}

#[cfg(not(feature = "emulators"))]
#[test]
fn emulators_are_named() {
    check(&["emulate", "rtm"], "emulators");
    check(&["emulate", "wda"], "emulators");
    check(&["up", "--demo", "--listen", "127.0.0.1:0"], "emulators");
}

#[cfg(not(feature = "probe"))]
#[test]
fn the_probe_is_named() {
    check(&["probe", "http://127.0.0.1:1/"], "probe");
    check(&["probe", "--", "true"], "probe");
}
