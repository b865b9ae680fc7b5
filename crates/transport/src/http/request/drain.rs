//! Discards unwanted request bodies.

use std::time::Duration;

use http_body::Body as _;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;

use super::RequestHead;
use crate::http::settings::HttpSettings;

/// Maximum time to read a discarded body.
const PATIENCE: Duration = Duration::from_secs(2);
/// Maximum size of a discarded body, as a multiple of the largest body.
const MOST: usize = 4;

/// Reads and discards a refused body for a limited time. Closing at once would reset the connection, and a
/// client that is still sending might never see the response. A client that sent `Expect` is not asked for
/// its body.
pub(in crate::http) fn discard(body: Incoming, head: &RequestHead<'_>, settings: &HttpSettings) {
    if body.is_end_stream() || head.get(http::header::EXPECT).is_some() {
        return;
    }
    read_on_for(body, settings.largest_body.saturating_mul(MOST));
}

/// Does the same for the rest of a body that was partly read.
pub fn read_on(body: Incoming) {
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
