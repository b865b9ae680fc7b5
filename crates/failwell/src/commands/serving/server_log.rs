//! The life of the servers in the journal.

use failwell_gateway::{Gateway, ServerChange, ServerEvent, ServerKind};
use failwell_journal::ServerNotice;
use failwell_pipeline::Pipeline;

use crate::terminal;

/// Writes starts and ends of servers to the journal. A start that fails is logged as the failure that it is.
pub(super) fn log_servers(gateway: &Gateway, pipeline: &Pipeline) {
    let journal = pipeline.journal().clone();
    // A person reads the first starts on the first screen.
    let has_screen = terminal::is_interactive() && terminal::is_read();
    gateway.observe_servers(move |event| {
        if has_screen && matches!(event.change, ServerChange::Started { start: 1, .. }) {
            return;
        }
        let why = match &event.change {
            ServerChange::Ended(Some(failure)) => Some(failure.text(str::to_owned)),
            ServerChange::Ended(None) | ServerChange::Started { .. } => None,
        };
        journal.note_server(&notice(event, why.as_deref()));
    });
}

fn notice<'a>(event: &'a ServerEvent, why: Option<&'a str>) -> ServerNotice<'a> {
    let notice = ServerNotice {
        level: "info",
        server: &event.server,
        event: "stopped",
        tools: None,
        seconds: None,
        why,
    };
    match event.change {
        ServerChange::Started { start, took, tools } => {
            let event = match (event.kind, start) {
                (ServerKind::Http, 1) => "connected",
                (ServerKind::Http, _) => "connected again",
                (_, 1) => "started",
                _ => "restarted",
            };
            // Milliseconds: more digits say nothing.
            let seconds = (took.as_secs_f64() * 1_000.0).round() / 1_000.0;
            ServerNotice { event, tools, seconds: Some(seconds), ..notice }
        }
        ServerChange::Ended(Some(_)) => ServerNotice { level: "warn", event: "ended", ..notice },
        ServerChange::Ended(None) => notice,
    }
}
