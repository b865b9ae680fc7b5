//! Error messages for unusable files of the state folder.

use super::temp_folder::TempFolder;
use super::{fails, failwell};

const REFERENCE: &str = "0123456789abc";

/// All commands that read the ledger.
const LEDGER: [&[&str]; 5] = [
    &["audit", "tail"],
    &["audit", "query"],
    &["audit", "export"],
    &["audit", "verify"],
    &["explain", REFERENCE],
];

/// All commands that read approvals or pins.
const CONSENT: [&[&str]; 5] =
    [&["approve"], &["approve", "some-id"], &["pin", "list"], &["pin", "diff"], &["pin", "approve", "--yes"]];

fn folder_with(file: &str, bytes: impl AsRef<[u8]>) -> TempFolder {
    let folder = TempFolder::new();
    std::fs::write(folder.0.join(file), bytes).expect("written");
    folder
}

/// Every command fails with this title, and its help names the file.
fn check(commands: &[&[&str]], folder: &TempFolder, called: &str, file: &str, why: &str) {
    let place = folder.0.display().to_string();
    for command in commands {
        let errors = fails(&[command, &["--data-dir", &place][..]].concat(), 1);
        let expected = format!("error: the {called} in {place} cannot be read: {why}");
        assert!(errors.starts_with(&expected), "{command:?}: {errors}");
        assert!(errors.contains(&format!("\nhelp: look at {place}/{file} ")), "{command:?}: {errors}");
        assert!(errors.lines().count() == 2 && !errors.contains(".rs:"), "{command:?}: {errors}");
    }
}

#[test]
fn a_damaged_file_is_reported_without_source_positions() {
    let (garbage, cut) = ("this is no database ".repeat(50), b"SQLite format 3\0 and no more");
    for (commands, called, file) in
        [(LEDGER, "ledger", "ledger.sqlite"), (CONSENT, "record of approvals and pins", "consent.sqlite")]
    {
        check(&commands, &folder_with(file, &garbage), called, file, "it is not a database\n");
        check(&commands, &folder_with(file, cut), called, file, "");
        let folder = TempFolder::new();
        std::fs::create_dir(folder.0.join(file)).expect("a folder");
        check(&commands, &folder, called, file, "it is a folder\n");
    }
    let empty = folder_with("ledger.sqlite", "");
    check(&LEDGER, &empty, "ledger", "ledger.sqlite", "it is empty, or another program's\n");
}

#[test]
fn a_server_that_cannot_keep_keys_says_where() {
    let folder = folder_with("keys.sqlite", "this is no database ".repeat(50));
    let place = folder.0.display().to_string();
    let file = folder.0.join("failwell.toml");
    std::fs::write(&file, "data_dir = \".\"\nrequire_key = true\n").expect("written");
    let errors = fails(&["up", "--listen", "127.0.0.1:0", "--config", &file.display().to_string()], 1);
    let expected = format!("error: the record of keys in {place} cannot be written: it is not a database\n");
    assert!(errors.starts_with(&expected) && errors.lines().count() == 2, "{errors}");
}

#[test]
fn a_folder_that_is_not_there_is_not_one_where_nothing_waits() {
    let folder = TempFolder::new();
    let place = folder.0.join("nowhere").display().to_string();
    for (commands, called) in [(LEDGER, "ledger"), (CONSENT, "record of approvals and pins")] {
        for command in commands {
            let errors = fails(&[command, &["--data-dir", &place][..]].concat(), 1);
            let expected = format!("error: there is no {called} in {place}: there is no such folder\n");
            assert!(errors.starts_with(&expected), "{command:?}: {errors}");
        }
    }
    let place = folder.0.display().to_string();
    for (command, expected) in
        [("approve", "no call waits"), ("pin list", "nothing is"), ("pin diff", "nothing is")]
    {
        let ran = failwell(&[&command.split(' ').collect::<Vec<_>>()[..], &["--data-dir", &place]].concat());
        assert!(ran.code == Some(0) && ran.err.starts_with(expected), "{command}: {}", ran.err);
    }
}

/// An unreadable file is different from a missing file. The test uses a link to itself instead of
/// permissions, because the tests may run as root.
#[test]
#[cfg(unix)]
fn a_file_that_cannot_be_looked_at_is_not_taken_for_none() {
    for (commands, called, file) in
        [(LEDGER, "ledger", "ledger.sqlite"), (CONSENT, "record of approvals and pins", "consent.sqlite")]
    {
        let folder = TempFolder::new();
        std::os::unix::fs::symlink(file, folder.0.join(file)).expect("a link");
        check(&commands, &folder, called, file, "Too many levels of symbolic links");
    }
}
