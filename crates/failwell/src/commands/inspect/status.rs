//! The servers of the running program, as its `GET /v1/servers` lists them.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use failwell_connect::{HeadLines, Remote, SendError, Trust, Verb};
use failwell_fault::Secret;
use failwell_journal::printable;
use serde::Deserialize;
use serde_json::Value;

use crate::cli::StatusCommand;
use crate::commands::config_file::{self, ConfigFileError};
use crate::commands::json;
use crate::commands::serving::endpoint::the_key;
use crate::complaint::Complaint;
use crate::config::{DEFAULT_ADDRESS, reachable};
use crate::terminal::{self, Paint};

/// How long the program may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest answer, in bytes.
const LARGEST: usize = 4 << 20;

/// The members of an answer that the table shows.
#[derive(Debug, Default, Deserialize)]
struct ServerList {
    servers: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    name: String,
    kind: String,
    state: String,
    since: String,
    tools: Option<u64>,
    sessions: u64,
    starts: u64,
    last_failure: Option<Failure>,
}

#[derive(Debug, Deserialize)]
struct Failure {
    text: String,
}

/// Asks the program, and prints what it says.
pub(in crate::commands) async fn run(arguments: StatusCommand) -> Result<ExitCode, Complaint> {
    let config = config_file::settle(arguments.config.as_deref()).map_err(ConfigFileError::report)?;
    let at = known(arguments.address.or(config.listen).unwrap_or(DEFAULT_ADDRESS))?;
    let answer = ask(at).await?;
    let listed: ServerList = serde_json::from_value(answer.clone()).map_err(|_| foreign(at))?;
    let is_down = listed.servers.iter().any(|row| row.state == "down");
    match arguments.json {
        true => terminal::print(&json(&answer)?),
        false => terminal::print(&table(&listed, Paint::for_stdout())),
    }
    Ok(if is_down { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The address to connect to.
fn known(at: SocketAddr) -> Result<SocketAddr, Complaint> {
    if at.port() == 0 {
        return Err(Complaint::new(
            "the configuration takes any free port, so the program's is not known",
            "give the address that the first screen shows: --address 127.0.0.1:PORT",
        ));
    }
    Ok(reachable(at))
}

async fn ask(at: SocketAddr) -> Result<Value, Complaint> {
    let headers: Vec<(String, Secret<String>)> =
        the_key().into_iter().map(|key| ("X-API-Key".to_owned(), key)).collect();
    let remote = Remote::new(&format!("http://{at}/v1/servers"), &headers, Trust::System)
        .map_err(|fault| Complaint::new(fault.detail(), "set FAILWELL_KEY to the key alone"))?;
    let asking = async {
        let response = remote.send(Verb::Get, HeadLines::new(), Default::default()).await?;
        let status = response.status();
        Ok::<_, SendError>((status, response.whole(LARGEST).await?))
    };
    let (status, body) = match tokio::time::timeout(PATIENCE, asking).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) | Err(_) => return Err(silent(at)),
    };
    match status {
        200 => serde_json::from_slice(&body).map_err(|_| foreign(at)),
        401 => Err(Complaint::new(
            format!("the program at {at} needs a key"),
            "set FAILWELL_KEY to a key with the role developer or admin",
        )),
        403 => Err(Complaint::new(
            "this key may not list the servers",
            "set FAILWELL_KEY to a key with the role developer or admin",
        )),
        _ => Err(foreign(at)),
    }
}

fn silent(at: SocketAddr) -> Complaint {
    Complaint::new(
        format!("no program answers at {at}"),
        "start it with `failwell up`, or give its address: --address ADDR",
    )
}

fn foreign(at: SocketAddr) -> Complaint {
    Complaint::new(
        format!("the program at {at} does not list its servers"),
        "give the address of a running `failwell up` of this version: --address ADDR",
    )
}

/// One line per server, in columns.
fn table(listed: &ServerList, paint: Paint) -> String {
    let mut rows =
        vec![["server", "kind", "state", "tools", "sessions", "starts", "since"].map(str::to_owned)];
    for row in &listed.servers {
        rows.push([
            printable(&row.name),
            row.kind.clone(),
            row.state.clone(),
            row.tools.map_or("–".to_owned(), |tools| tools.to_string()),
            row.sessions.to_string(),
            row.starts.to_string(),
            row.since.clone(),
        ]);
    }
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let line = cells.join("  ");
        let state = row.get(2).map_or("", String::as_str);
        let line = match (number, state) {
            (0, _) => paint.bold(line.trim_end()),
            (_, "down") => paint.red(line.trim_end()),
            _ => line.trim_end().to_owned(),
        };
        text.push_str(&format!("{line}\n"));
        let failure =
            number.checked_sub(1).and_then(|number| listed.servers.get(number)?.last_failure.as_ref());
        if let Some(failure) = failure {
            text.push_str(&format!("  last failure: {}\n", printable(&failure.text)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ServerList, known, table};
    use crate::terminal::Paint;

    #[test]
    fn the_table_has_a_line_per_server_and_its_last_failure() {
        let since = "2026-11-19T10:00:00.000Z";
        let failure =
            json!({"at": since, "reason": "gateway/UPSTREAM_DOWN", "text": "exit 1: \u{1b}[2Jno key"});
        let listed: ServerList = serde_json::from_value(json!({"servers": [
            {"name": "memory", "kind": "program", "state": "up", "since": since, "tools": 9, "sessions": 0, "starts": 1, "lazy": false},
            {"name": "search", "kind": "program", "state": "down", "since": since, "sessions": 0, "starts": 2, "lazy": false, "last_failure": failure},
        ]}))
        .expect("an answer");
        let text = table(&listed, Paint::plain());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "server  kind     state  tools  sessions  starts  since");
        assert_eq!(lines[1], format!("memory  program  up     9      0         1       {since}"));
        assert_eq!(lines[2], format!("search  program  down   –      0         2       {since}"));
        assert_eq!(lines[3], "  last failure: exit 1: \\u{1b}[2Jno key");
    }

    #[test]
    fn a_free_port_is_not_known() {
        assert!(known("127.0.0.1:0".parse().expect("an address")).is_err());
    }
}
