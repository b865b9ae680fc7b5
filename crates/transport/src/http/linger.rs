//! Bodies nobody wants.

use std::time::Duration;

use http_body::Body as _;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;

use super::request::Head;
use super::settings::HttpSettings;

/// How long a body is read on.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many bodies' worth is read on.
const MOST: usize = 4;

/// Reads a refused body on for a while and throws it away: closing at once would reset the connection, and a
/// client that is still sending might never read why. One that waits to be asked for its body is not asked.
pub(super) fn throw_away(body: Incoming, head: &Head<'_>, settings: &HttpSettings) {
    if body.is_end_stream() || head.get(http::header::EXPECT).is_some() {
        return;
    }
    read_on_for(body, settings.largest_body.saturating_mul(MOST));
}

/// The same for what is left of a body that somebody began to read.
pub(super) fn read_on(body: Incoming) {
    if !body.is_end_stream() {
        read_on_for(body, HttpSettings::default().largest_body.saturating_mul(MOST));
    }
}

fn read_on_for(body: Incoming, most: usize) {
    tokio::spawn(async move {
        let mut body = Limited::new(body, most);
        let _ = tokio::time::timeout(PATIENCE, async { while let Some(Ok(_)) = body.frame().await {} }).await;
    });
}
