//! `[audit] otlp`: an address, or a table with more settings.

use std::collections::BTreeMap;
use std::time::Duration;

use failwell_fault::Secret;
use failwell_gateway::Trust;

use crate::config::keys::{Number, OTLP_BATCH, OTLP_QUEUE, OTLP_RETRY, OTLP_SAMPLE, OTLP_TIMEOUT};
use crate::config::parse::reader::{Reader, Section};
use crate::config::servers::upstream::{address_at, authorities, headers, is_exposed};
use crate::config::settings::Endpoint;

/// An OpenTelemetry collector and the data that it receives.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OtlpConfig {
    /// The address without secrets.
    pub(crate) url: String,
    pub(crate) headers: BTreeMap<String, Secret<String>>,
    pub(crate) trust: Trust,
    pub(crate) logs: bool,
    pub(crate) spans: bool,
    pub(crate) sample_one_in: u64,
    pub(crate) timeout: Duration,
    pub(crate) batch: usize,
    pub(crate) queue: usize,
    pub(crate) retry: Duration,
}

impl OtlpConfig {
    /// The default settings for an address.
    fn to(url: &Endpoint) -> OtlpConfig {
        let count = |number: &Number| usize::try_from(number.default).unwrap_or(usize::MAX);
        OtlpConfig {
            url: url.to_string(),
            headers: BTreeMap::new(),
            trust: Trust::default(),
            logs: true,
            spans: true,
            sample_one_in: OTLP_SAMPLE.default,
            timeout: Duration::from_secs(OTLP_TIMEOUT.default),
            batch: count(&OTLP_BATCH),
            queue: count(&OTLP_QUEUE),
            retry: Duration::from_secs(OTLP_RETRY.default),
        }
    }
}

pub(in crate::config) fn read(reader: &mut Reader<'_>, audit: &Section<'_>) -> Option<OtlpConfig> {
    if !Reader::is_table(audit, "otlp") {
        return address(reader, audit, "otlp").map(|url| OtlpConfig::to(&url));
    }
    let section = reader.table(audit, "otlp")?;
    if !section.has("url") {
        let help = "write otlp = { url = \"http://127.0.0.1:4318\" }";
        reader.missing(&section, "url", "`otlp` has no `url`", help);
    }
    let url = address(reader, &section, "url");
    let headers = headers(reader, &section);
    let exposed = url.as_ref().filter(|url| is_exposed(url) && !headers.is_empty());
    if let Some(host) = exposed.and_then(|url| url.0.host()) {
        let help = format!("begin `url` with https://: headers are sent to {host}");
        reader.wrong(
            &section.key_span("headers"),
            &section.path("headers"),
            "`headers` are not encrypted",
            help,
        );
    }
    let trust = authorities(reader, &section).map(|ca| ca.trust).unwrap_or_default();
    let [logs, spans] = ["logs", "spans"].map(|name| reader.flag(&section, name).unwrap_or(true));
    if !logs && !spans {
        let help = "remove one of `logs` and `spans`, or `otlp` altogether";
        reader.wrong(&section.key_span("spans"), &section.path("spans"), "`otlp` exports nothing", help);
    }
    let mut number = |wanted: &Number| reader.number(&section, wanted);
    let (sample_one_in, timeout, retry) = (number(&OTLP_SAMPLE), number(&OTLP_TIMEOUT), number(&OTLP_RETRY));
    let [batch, queue] =
        [&OTLP_BATCH, &OTLP_QUEUE].map(|wanted| usize::try_from(number(wanted)).unwrap_or(usize::MAX));
    let (timeout, retry) = (Duration::from_secs(timeout), Duration::from_secs(retry));
    let usual = OtlpConfig::to(&url?);
    Some(OtlpConfig { headers, trust, logs, spans, sample_one_in, timeout, batch, queue, retry, ..usual })
}

/// The address is a base URL. The exporter appends the path of each signal, so a query is refused.
fn address(reader: &mut Reader<'_>, section: &Section<'_>, name: &str) -> Option<Endpoint> {
    let url = address_at(reader, section, name)?;
    if url.0.query().is_some() {
        let help = "remove the question mark and everything after it; send a key as a header";
        reader.wrong(&section.key_span(name), &section.path(name), format!("`{name}` has a query"), help);
    }
    Some(url)
}
