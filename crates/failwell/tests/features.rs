//! Commands and settings whose part is not in the build. Run them with `cargo test -p failwell
//! --no-default-features --test features`.

#![cfg(not(any(
    feature = "cedar",
    feature = "wasm",
    feature = "postgres",
    feature = "keyring",
    feature = "emulators",
    feature = "probe"
)))]
#![allow(clippy::expect_used, reason = "a test may stop at the first surprise")]

use std::process::Command;

/// The command fails and names the missing feature and the command that adds it.
fn check(arguments: &[&str], feature: &str) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_failwell")).args(arguments).output().expect("the program runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
    assert!(error.contains(&format!("built without the feature `{feature}`")), "{arguments:?}: {error}");
    let command = format!("./x install {feature}");
    assert!(error.contains(&command), "{arguments:?}: {error}");
}

#[test]
fn emulators_are_named() {
    check(&["emulate", "rtm"], "emulators");
    check(&["emulate", "wda"], "emulators");
    check(&["up", "--demo", "--listen", "127.0.0.1:0"], "emulators");
}

#[test]
fn the_probe_is_named() {
    check(&["probe", "http://127.0.0.1:1/"], "probe");
    check(&["probe", "--", "true"], "probe");
}

/// `failwell check` names the absent part of a file on a line of its own, as `./x up` reads it.
fn check_file(settings: &str, feature: &str) {
    let folder = std::env::temp_dir().join(format!("failwell-features-{feature}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("failwell.toml");
    std::fs::write(&file, settings).expect("a file");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
        command.arg("check").args(arguments).arg(&file).output().expect("the program runs")
    };
    let (json, text) = (run(&["--json"]), run(&[]));
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
    let (json, text) = (String::from_utf8_lossy(&json.stdout), String::from_utf8_lossy(&text.stderr));
    let line = format!("\"feature\": \"{feature}\"");
    let named: Vec<&str> = json.lines().filter(|line| line.contains("\"feature\"")).map(str::trim).collect();
    assert_eq!(named, [line], "{json}");
    assert!(text.contains(&format!("help: add it with: ./x install {feature}")), "{text}");
}

#[test]
fn parts_that_a_file_needs_are_named() {
    check_file("cedar = \"policies.cedar\"\n", "cedar");
    check_file("[audit.postgres]\nurl = \"postgres://127.0.0.1/failwell\"\n", "postgres");
    check_file("[tasks]\ntoken_store = \"keyring\"\n", "keyring");
    check_file("[[guard.custom]]\nname = \"words\"\nwasm = \"words.wasm\"\n", "wasm");
}
