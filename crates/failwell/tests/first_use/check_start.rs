//! `check` with programs that are absent, and `check --start`.

use serde_json::Value;

use crate::temp_folder::TempFolder;
use crate::{SERVER, run};

fn configured(upstreams: &[(&str, &str)]) -> TempFolder {
    let folder = TempFolder::new();
    let tables = upstreams
        .iter()
        .map(|(name, command)| format!("[[upstream]]\nname = \"{name}\"\ncommand = {command}\n"));
    let file = format!("servers = []\n{}", tables.collect::<String>());
    std::fs::write(folder.0.join("failwell.toml"), file).expect("written");
    folder
}

#[test]
fn a_program_that_is_absent_is_a_warning() {
    let folder = configured(&[("gone", r#"["no-such-program"]"#), ("here", r#"["sh"]"#)]);
    let ran = run(&folder.0, &["check"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.out, "failwell.toml is fine: 2 upstreams, 0 built-in servers\n");
    let message = "warning: an upstream cannot start: gone: `no-such-program`: it does not exist\nhelp: ";
    assert!(ran.err.starts_with(message) && ran.err.lines().count() == 2, "{}", ran.err);
    let ran = run(&folder.0, &["check", "--json"]);
    let verdict: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((&verdict["ok"], verdict["warnings"].as_array().map(Vec::len)), (&Value::Bool(true), Some(1)));
}

#[test]
fn every_upstream_is_started_on_demand() {
    let server = format!(r#"["python3", "{SERVER}"]"#);
    let ends = r#"["sh", "-c", "echo BRAVE is required >&2; exit 1"]"#;
    let folder = configured(&[("good", &server), ("bad", ends), ("gone", r#"["no-such-program"]"#)]);
    let ran = run(&folder.0, &["check", "--start"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(
        lines.iter().any(|line| line.starts_with("good ✓ 7 tools, ") && line.ends_with(" s")),
        "{}",
        ran.out
    );
    assert!(lines.contains(&"bad ✗ exit 1: BRAVE is required"), "{}", ran.out);
    assert!(lines.contains(&"gone ✗ the program cannot be started: it does not exist"), "{}", ran.out);

    let ran = run(&folder.0, &["check", "--start", "--json"]);
    let verdict: Value = serde_json::from_str(&ran.out).expect("JSON");
    let good = verdict["servers"].as_array().expect("servers").iter().find(|server| server["name"] == "good");
    assert_eq!((ran.code, &verdict["ok"]), (Some(1), &Value::Bool(false)));
    assert_eq!(good.map(|good| (&good["ok"], &good["tools"])), Some((&Value::Bool(true), &7.into())));

    let fine = configured(&[("good", &server)]);
    assert_eq!(run(&fine.0, &["check", "--start"]).code, Some(0));
}
