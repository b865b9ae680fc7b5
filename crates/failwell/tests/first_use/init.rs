//! Writing a configuration.

use crate::temp_folder::TempFolder;
use crate::{command, run};

/// A client's file as VS Code writes it, with everything that needs care.
const CLIENT: &str = r#"{
  // my servers
  "inputs": [{"type": "promptString", "id": "shop-key", "description": "Key of the shop", "password": true}],
  "servers": {
    "Brave Search": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "search", "--verbose"],
      "env": {"BRAVE_API_KEY": "HUSHED-one", "LOG_LEVEL": "warn"},
      "autoApprove": ["x"],
    },
    "shop": {"command": "shop", "args": ["--key", "${input:shop-key}"], "cwd": "/no/such/folder"},
    "tickets": {"type": "http", "url": "https://tickets.example/mcp", "headers": {"Authorization": "Bearer HUSHED-two"}},
    "tasks": {"command": "other", "disabled": true},
  },
}"#;

#[test]
fn a_new_file_is_valid_and_never_overwrites_another() {
    let folder = TempFolder::new();
    let ran = run(&folder.0, &["init"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let checked = run(&folder.0, &["check"]);
    assert_eq!(checked.out, "failwell.toml is fine: 0 upstreams, 1 built-in server\n");
    let file = folder.0.join("failwell.toml");
    std::fs::write(&file, "# mine\n").expect("written");
    let again = run(&folder.0, &["init"]);
    assert_eq!(again.code, Some(1));
    assert!(again.err.starts_with("error: failwell.toml exists already\nhelp: "), "{}", again.err);
    assert_eq!(std::fs::read_to_string(&file).expect("readable"), "# mine\n");
    assert_eq!(run(&folder.0, &["init", "--force"]).code, Some(0));
    assert!(std::fs::read_to_string(&file).expect("readable").len() > 1_000);
    let left = std::fs::read_dir(&folder.0).expect("a folder").count();
    assert_eq!(left, 1, "no temporary file stays");
}

#[test]
fn the_servers_of_a_client_are_converted_without_their_secrets() {
    let folder = TempFolder::new();
    std::fs::write(folder.0.join("mcp.json"), CLIENT).expect("written");
    let ran = run(&folder.0, &["init", "--from", "mcp.json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let file = std::fs::read_to_string(folder.0.join("failwell.toml")).expect("written");
    for text in [&ran.out, &file] {
        assert!(!text.contains("HUSHED"), "{text}");
    }
    for message in [
        "failwell.toml is written with 4 servers: brave-search, shop, tickets, tasks-2",
        "\n  BRAVE_API_KEY  env BRAVE_API_KEY of brave-search\n",
        "\n  SHOP_KEY       the command of shop (Key of the shop)\n",
        "\n  TICKETS_TOKEN  header Authorization of tickets\n",
        "brave-search: without autoApprove",
        "shop: its `cwd` is no folder on this machine",
        "tasks-2: is switched off in the client",
        "failwell check --start\n",
    ] {
        assert!(ran.out.contains(message), "{message} in {}", ran.out);
    }
    let unset = run(&folder.0, &["check"]);
    assert!(unset.code == Some(1) && unset.err.contains("BRAVE_API_KEY is not set"), "{}", unset.err);
    let mut check = command(&folder.0, &["check"]);
    check.env("BRAVE_API_KEY", "a").env("SHOP_KEY", "b").env("TICKETS_TOKEN", "c");
    let checked = crate::program_output::ProgramOutput::from(check.output().expect("it runs"));
    assert_eq!(checked.out, "failwell.toml is fine: 3 upstreams, 0 built-in servers\n", "{}", checked.err);
}

/// The shell that expands the variables of arguments is gone when the server runs.
#[test]
fn arguments_with_variables_reach_the_program() {
    let folder = TempFolder::new();
    let args = format!(r#"["{}", "--api-key", "HUSHED-three"]"#, crate::SERVER);
    let client = format!(r#"{{"mcpServers": {{"a": {{"command": "python3", "args": {args}}}}}}}"#);
    std::fs::write(folder.0.join("mcp.json"), client).expect("written");
    assert_eq!(run(&folder.0, &["init", "--from", "mcp.json"]).code, Some(0));
    let mut check = command(&folder.0, &["check", "--start"]);
    check.env("A_API_KEY", "it's \"three\"");
    let checked = crate::program_output::ProgramOutput::from(check.output().expect("it runs"));
    assert!(
        checked.code == Some(0) && checked.out.contains("a ✓ 7 tools, "),
        "{} {}",
        checked.out,
        checked.err
    );
}

#[test]
fn what_cannot_be_converted_is_said() {
    let folder = TempFolder::new();
    for (text, message) in [
        ("{", "mcp.json is no JSON: "),
        ("{}", "mcp.json has no servers of an MCP client"),
        (r#"{"mcpServers": {"a": {}}}"#, "none of the servers in mcp.json can be converted"),
    ] {
        std::fs::write(folder.0.join("mcp.json"), text).expect("written");
        let ran = run(&folder.0, &["init", "--from", "mcp.json"]);
        assert!(ran.code == Some(1) && ran.err.contains(message), "{}", ran.err);
        assert!(!folder.0.join("failwell.toml").exists());
    }
    assert!(run(&folder.0, &["init", "--from", "none.json"]).err.contains("none.json cannot be read"));
}

#[test]
fn a_client_s_file_given_as_configuration_is_recognized() {
    let folder = TempFolder::new();
    std::fs::write(folder.0.join("mcp.json"), CLIENT).expect("written");
    let expected = "error: this file has the servers of an MCP client, in JSON\n  --> mcp.json\n\
                    help: convert it: failwell init --from mcp.json\n";
    for arguments in [&["check", "mcp.json"][..], &["up", "--config", "mcp.json"]] {
        let ran = run(&folder.0, arguments);
        assert!(ran.code == Some(1) && ran.err.starts_with(expected), "{}", ran.err);
    }
}
