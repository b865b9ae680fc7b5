use super::{check_package, check_script, package, prose, root};

fn findings(files: &[(&str, &str)]) -> Vec<String> {
    let paths: Vec<String> = files.iter().map(|(path, _)| format!("crates/x/{path}")).collect();
    let files: Vec<(&str, &str)> =
        paths.iter().zip(files).map(|(path, (_, text))| (path.as_str(), *text)).collect();
    check_package("crates/x", &files).into_iter().map(|problem| problem.what).collect()
}

fn script(text: &str) -> Vec<String> {
    check_script("tests/x.py", text).into_iter().map(|problem| problem.what).collect()
}

/// The folders that hold several packages are not taken for one, and no Rust file is without a package.
#[test]
fn every_package_is_checked_by_itself() {
    for (file, expected) in [
        ("crates/pipeline/src/lib.rs", "crates/pipeline"),
        ("tests/suite/tests/gateway/main.rs", "tests/suite"),
        ("bench/gateway/src/run.rs", "bench/gateway"),
        ("fuzz/targets/scan.rs", "fuzz"),
        ("examples/guard-wasm/guard.rs", "examples/guard-wasm"),
    ] {
        assert_eq!(package(&root().join(file)), expected);
    }
}

#[test]
fn a_type_name_stands_once_in_a_package() {
    let twice = [("src/a.rs", "struct Entry;"), ("src/b.rs", "mod c { enum Entry { A } }")];
    assert_eq!(
        findings(&twice),
        ["crates/x/src/b.rs:1: the type `Entry` is defined in crates/x/src/a.rs:1 too"]
    );
    for doubled in [
        [("src/a.rs", "struct Entry;"), ("src/b.rs", "#[cfg(test)]\nmod tests { struct Entry; }")],
        [("tests/a.rs", "struct Entry;"), ("tests/b/c.rs", "struct Entry;")],
        [("targets/a.rs", "struct Entry;"), ("targets/b.rs", "fn f() { enum Entry { A } }")],
    ] {
        assert_eq!(findings(&doubled).len(), 1, "{doubled:?}");
    }
    for fine in [
        [("src/a.rs", "struct Entry;"), ("src/b.rs", "fn entry() { let x = \"struct Entry;\"; }")],
        [("src/a.rs", "struct Entry;"), ("tests/b.rs", "struct Entry;")],
        [("src/bin/a.rs", "struct Entry;"), ("src/bin/b/main.rs", "struct Entry;")],
        [("src/a.rs", "type Item = u8;"), ("src/b.rs", "impl Iterator for A { type Item = u8; }")],
        [("src/a.rs", "trait A { type Item; }"), ("src/b.rs", "trait B { type Item; }")],
    ] {
        assert_eq!(findings(&fine), Vec::<String>::new(), "{fine:?}");
    }
}

/// One of the two is in any build.
#[test]
fn opposite_conditions_exclude_each_other() {
    let parts = |first: &'static str, second: &'static str| {
        findings(&[
            ("src/lib.rs", first),
            ("src/guard.rs", "pub struct Guard;"),
            ("src/guard_absent.rs", second),
        ])
    };
    let opposite = "#[cfg(feature = \"wasm\")]\nmod guard;\n#[cfg(not(feature = \"wasm\"))]\n#[path = \"guard_absent.rs\"]\nmod guard;";
    assert_eq!(parts(opposite, "pub struct Guard;"), Vec::<String>::new());
    assert_eq!(parts(opposite, "struct Guard; struct Guard;").len(), 1);
    let alike = "#[cfg(feature = \"wasm\")] mod guard; #[cfg(feature = \"other\")] mod guard_absent;";
    assert_eq!(parts(alike, "pub struct Guard;").len(), 1);
    let here = "#[cfg(unix)] struct Pipe; #[cfg(not(unix))] struct Pipe;";
    assert_eq!(findings(&[("src/lib.rs", here)]), Vec::<String>::new());
}

#[test]
fn a_type_is_a_noun() {
    for name in [
        "Kept", "Sent", "Listed", "Running", "Unknown", "Unsaid", "Of", "Takes", "Must", "LoginOf",
        "DriverIs",
    ] {
        let text = format!("pub(crate) enum {name} {{ A }}");
        for path in ["src/a.rs", "tests/a.rs", "src/bin/a.rs", "targets/a.rs"] {
            assert_eq!(findings(&[(path, &text)]).len(), 1, "{path}: {name}");
        }
        assert_eq!(script(&format!("class {name}:\n    pass\n")).len(), 1, "{name}");
    }
    for name in
        ["Setting", "Feed", "Ring", "Encoding", "StoredFile", "RunningChild", "ReplyTo", "Proof", "Axis"]
    {
        let text = format!("struct {name};");
        assert_eq!(findings(&[("src/a.rs", &text)]), Vec::<String>::new(), "{name}");
        assert_eq!(script(&format!("class {name}:\n    pass\n")), Vec::<String>::new(), "{name}");
    }
    let test_only = "#[cfg(test)] mod tests { struct Kept; }";
    assert_eq!(findings(&[("src/a.rs", test_only)]).len(), 1);
}

#[test]
fn old_words_are_found_in_names() {
    for (path, text) in [
        ("src/a.rs", "struct House;"),
        ("src/a.rs", "trait Room {}"),
        ("src/a.rs", "struct ApprovalDesk;"),
        ("src/a.rs", "struct Line;"),
        ("src/a.rs", "fn heed(&self) {}"),
        ("src/a.rs", "fn jot_down() {}"),
        ("src/a.rs", "mod veil;"),
        ("src/turnstile.rs", ""),
        ("src/patrons/list.rs", ""),
        ("tests/a.rs", "struct Cloakroom;"),
        ("tests/a.rs", "fn f() { let desk = 1; }"),
        ("src/a.rs", "fn f(charter: u8) {}"),
        ("src/a.rs", "struct A { gate: u8 }"),
        ("src/a.rs", "static ROOM: u8 = 1;"),
        ("src/a.rs", "use failwell_controls::Settings as HouseSettings;"),
        ("src/carriers.rs", ""),
        ("src/entrance.rs", ""),
        ("src/kept/list.rs", ""),
        ("tests/passing.rs", ""),
        ("tests/unheard.rs", ""),
        ("src/a.rs", "fn f() { let told = 1; }"),
        ("src/a.rs", "fn f(said: &str) {}"),
        ("tests/a.rs", "fn f() { if let Some(heard) = next() {} }"),
        ("src/a.rs", "struct A { ruling: u8 }"),
        ("src/a.rs", "enum A { Some(u8), Nobody }"),
        ("src/a.rs", "enum A { B { kept: u8 }, Kept }"),
        ("src/a.rs", "enum A { B(Vec<[u8; 4]>, u8), #[serde(rename = \"x\")] Kept(u8) }"),
        ("src/a.rs", "fn f() { g(|| { enum A { Well } }) }"),
    ] {
        assert_eq!(findings(&[(path, text)]).len(), 1, "{path}: {text}");
    }
    for text in [
        "fn read() { let demo = \"lobby\"; }",
        "static SHELF: &str = \"shelf/FULL\";",
        "fn f() { raise(LOBBY_UNKNOWN_REASON) }",
        "fn is_letter() {}",
        "enum A { B { kept: u8 }, C(Kept, Well) }",
        "fn f() { match a { A { kept, .. } => Kept } }",
        "fn threshold_told_apart() {}",
        "struct A { #[serde(rename = \"told\")] fault: u8 }",
        "fn the_oldest_session_makes_room() {}",
        "fn f() { let line = 1; let place = 2; }",
    ] {
        assert_eq!(findings(&[("src/a.rs", text)]), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn old_words_are_found_in_comments() {
    for text in [
        "// The house asks.",
        "//! Every room has\n",
        "/// See [`House`].",
        "/* porters */",
        "// the server's room",
    ] {
        assert_eq!(findings(&[("src/a.rs", text)]).len(), 1, "{text}");
        assert_eq!(findings(&[("tests/a.rs", text)]).len(), 1, "{text}");
    }
    for text in [
        "// There is room for ten.",
        "// The reason `shelf/FULL` and the table `[shelf]`.",
        "// The argument `SUBJECT`.",
        "// A small letter and a witness.",
        "let text = \"the house\";",
    ] {
        assert_eq!(findings(&[("src/a.rs", text)]), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn old_words_are_found_in_python() {
    for text in [
        "def serve(desk):\n    pass\n",
        "class Porter:\n    pass\n",
        "import house\n",
        "wait(1)  # the house asks\n",
        "\"\"\"What the house says.\"\"\"\n",
        "def f():\n    '''Every room.'''\n",
    ] {
        assert_eq!(script(text).len(), 1, "{text}");
    }
    for text in ["servers = ['lobby']\n", "call(\"lobby__echo\", text='the house')\n", "# There is room.\n"] {
        assert_eq!(script(text), Vec::<String>::new(), "{text}");
    }
    let named = check_script("tests/house.py", "");
    assert_eq!(named.len(), 1, "the name of a file counts");
    for text in ["def told():\n    pass\n", "said = 1\n", "self.heard = []\n"] {
        assert_eq!(script(text).len(), 1, "{text}");
    }
    let project = check_script("tests/pytest/fixtures/passing/test_a.py", "");
    assert_eq!(project.len(), 0, "a project is named by what happens in pytest");
}

#[test]
fn old_words_are_found_in_documents() {
    for (text, count) in [
        ("## House\n", 1),
        ("A call leaves the house.\n", 1),
        ("See `ApprovalDesk`.\n", 1),
        ("```\nhouse\n```\n", 0),
        ("### lobby\n<a id=\"lobby-unknown-reason\"></a>\n#### lobby/UNKNOWN_REASON\n", 0),
        ("The server `lobby` and its table `[lobby]`.\n", 0),
    ] {
        assert_eq!(prose::in_document("CHANGELOG.md", text).len(), count, "{text}");
    }
}
