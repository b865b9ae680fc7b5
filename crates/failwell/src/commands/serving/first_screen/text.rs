//! The screen for a person at a terminal.

use super::clients::Clients;
use super::{AdminKey, FirstScreen, ServerState};
use crate::commands::config_file::counted;
use crate::terminal::Paint;

/// The texts of one screen.
pub(super) struct Screen {
    paint: Paint,
    /// The width of the names of servers.
    width: usize,
}

impl Screen {
    pub(super) fn new(paint: Paint, names: &[String]) -> Screen {
        Screen { paint, width: names.iter().map(String::len).max().unwrap_or(0) }
    }

    /// The address, the files in use, and the title of the servers.
    pub(super) fn heading(&self, facts: &FirstScreen<'_>) -> String {
        let base = format!("http://{}", facts.address);
        let file = match &facts.file {
            Some(file) => file.display().to_string(),
            None => "none, so the demo server runs; failwell.toml names yours".to_owned(),
        };
        format!(
            "{} {} is up on {}\nconfiguration {file}\nstate         {}\n\n{}\n",
            self.paint.bold("failwell"),
            env!("CARGO_PKG_VERSION"),
            self.paint.bold(&base),
            facts.state.display(),
            self.paint.bold("servers"),
        )
    }

    /// One line about a server.
    pub(super) fn server(&self, name: &str, state: &ServerState) -> String {
        let words = match state {
            ServerState::Up { tools, took } => {
                let tools = tools.map_or(String::new(), |tools| format!("{}, ", counted(tools, "tool")));
                format!("{} {tools}{:.1} s", self.paint.green("✓"), took.as_secs_f64())
            }
            ServerState::Down(why) => format!("{} {why}", self.paint.red("✗")),
            ServerState::Starting => {
                format!("{} still starting; failwell status says more", self.paint.yellow("…"))
            }
            ServerState::Lazy => "· starts when it is first needed".to_owned(),
        };
        format!("  {name:<width$} {words}\n", width = self.width)
    }

    /// Everything below the servers.
    pub(super) fn rest(&self, facts: &FirstScreen<'_>, clients: &Clients, missing: &[String]) -> String {
        let note = facts.note.map_or(String::new(), |note| format!("  {note}\n"));
        let mut text = format!("{note}\n{}\n", self.paint.bold("connect"));
        clients.lines().iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        if let Some(line) = facts.credentials.line() {
            text.push_str(&format!("  {line}\n"));
        }
        if !missing.is_empty() {
            text.push_str(&format!("\n{}  (failwell doctor says more)\n", self.paint.bold("missing")));
            missing.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
        text.push_str(&format!("\n{}\n", self.paint.bold("try")));
        facts.suggestions.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        text.push_str("stop with Ctrl-C\n");
        text + &admin_key(facts.admin)
    }
}

/// The key of the first admin for a person, or where it is.
pub(in crate::commands::serving) fn admin_key(key: &AdminKey) -> String {
    match key {
        AdminKey::None => String::new(),
        AdminKey::Shown(key) => {
            format!("\nthe key of the first admin, shown this once:\n  {}\n", key.expose())
        }
        AdminKey::InFile(file) => {
            format!("\nthe key of the first admin is in {}; read it, then remove the file\n", file.display())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::{Clients, FirstScreen, Screen, ServerState};
    use crate::commands::serving::endpoint::AdminKey;
    use crate::commands::serving::first_screen::RequiredCredentials;
    use crate::terminal::Paint;

    fn facts(credentials: RequiredCredentials) -> FirstScreen<'static> {
        FirstScreen {
            address: "127.0.0.1:8484".parse().expect("an address"),
            file: Some(PathBuf::from("shop/failwell.toml")),
            state: PathBuf::from("/state"),
            credentials,
            admin: &AdminKey::None,
            note: None,
            suggestions: vec!["curl -s http://127.0.0.1:8484/v1/tools".to_owned()],
        }
    }

    #[test]
    fn each_server_has_one_line_with_its_tools_or_the_reason() {
        let screen = Screen::new(Paint::plain(), &["memory".to_owned(), "search".to_owned()]);
        let took = Duration::from_millis(810);
        for (name, state, line) in [
            ("memory", ServerState::Up { tools: Some(9), took }, "  memory ✓ 9 tools, 0.8 s\n"),
            ("one", ServerState::Up { tools: Some(1), took }, "  one    ✓ 1 tool, 0.8 s\n"),
            (
                "search",
                ServerState::Down("exit 1: BRAVE_API_KEY is required".to_owned()),
                "  search ✗ exit 1: BRAVE_API_KEY is required\n",
            ),
            ("slow", ServerState::Starting, "  slow   … still starting; failwell status says more\n"),
            ("later", ServerState::Lazy, "  later  · starts when it is first needed\n"),
        ] {
            assert_eq!(screen.server(name, &state), line);
        }
    }

    #[test]
    fn the_screen_names_the_files_and_says_how_to_connect() {
        let screen = Screen::new(Paint::plain(), &[]);
        let facts = facts(RequiredCredentials::No);
        let heading = screen.heading(&facts);
        assert!(heading.contains("is up on http://127.0.0.1:8484\n"), "{heading}");
        assert!(heading.contains("configuration shop/failwell.toml\nstate         /state\n"), "{heading}");
        let rest = screen.rest(&facts, &Clients::new(&facts), &[]);
        assert!(rest.starts_with("\nconnect\n") && !rest.contains("missing"), "{rest}");
        assert!(
            rest.ends_with("try\n  curl -s http://127.0.0.1:8484/v1/tools\nstop with Ctrl-C\n"),
            "{rest}"
        );
        let missing = screen.rest(&facts, &Clients::new(&facts), &["z3  no proofs".to_owned()]);
        assert!(missing.contains("\nmissing  (failwell doctor says more)\n  z3  no proofs\n"), "{missing}");
    }
}
