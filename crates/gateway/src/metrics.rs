//! Numbers about upstreams, as Prometheus reads them. Labels are names of the configuration, never anybody's text.

use std::fmt::Write;
use std::sync::Arc;

use crate::upstream::Upstream;

type Read = fn(&Upstream) -> u64;

const NUMBERS: [(&str, &str, Read); 3] = [
    ("failwell_upstream_starts_total", "counter", |upstream| upstream.tally().starts()),
    ("failwell_upstream_stray_lines_total", "counter", |upstream| upstream.tally().strays()),
    ("failwell_upstream_caller_sessions", "gauge", |upstream| upstream.sessions() as u64),
];

pub(crate) fn of(upstreams: &[&Arc<Upstream>]) -> String {
    let mut out = String::new();
    for (name, kind, read) in NUMBERS {
        let _ = writeln!(out, "# TYPE {name} {kind}");
        for upstream in upstreams {
            let _ = writeln!(out, "{name}{{upstream=\"{}\"}} {}", upstream.name(), read(upstream));
        }
    }
    out
}
