//! Prometheus metrics of upstreams. Labels are names from the configuration only.

use std::sync::Arc;

use failwell_toolbox::{Histogram, MetricsText};

use crate::upstream::DualEraUpstream;
use crate::upstream::Upstream;
use crate::upstream::connection_pool::UpstreamStatus;

type ReadCounter = fn(&Upstream) -> u64;

const NUMBERS: [(&str, &str, &str, ReadCounter); 4] = [
    ("failwell_upstream_starts_total", "counter", "Attempts to start or connect an upstream.", |upstream| {
        upstream.counters().starts()
    }),
    (
        "failwell_upstream_stray_lines_total",
        "counter",
        "Lines of an upstream that were no messages.",
        |upstream| upstream.counters().strays(),
    ),
    ("failwell_upstream_failures_total", "counter", "Requests to an upstream that failed.", |upstream| {
        upstream.counters().failures()
    }),
    (
        "failwell_upstream_caller_sessions",
        "gauge",
        "Sessions of single callers with an upstream.",
        |upstream| upstream.sessions() as u64,
    ),
];

pub(crate) fn write(upstreams: &[&Arc<DualEraUpstream>], out: &mut MetricsText) {
    for (name, kind, help, read) in NUMBERS {
        out.family(name, kind, help);
        for upstream in upstreams {
            let number: u64 = upstream.all().map(|one| read(one)).sum();
            out.put(name, &[("upstream", upstream.name())], number);
        }
    }
    write_durations(out, upstreams);
    write_states(out, upstreams);
}

fn write_durations(out: &mut MetricsText, upstreams: &[&Arc<DualEraUpstream>]) {
    let name = "failwell_upstream_request_duration_seconds";
    out.family(name, "histogram", "Duration of requests to an upstream.");
    for upstream in upstreams {
        let all: Vec<&Histogram> = upstream.all().map(|one| one.counters().took()).collect();
        Histogram::write(&all, out, name, &[("upstream", upstream.name())]);
    }
}

/// Every state is exported with 0 or 1, so that alerts can be written in advance.
fn write_states(out: &mut MetricsText, upstreams: &[&Arc<DualEraUpstream>]) {
    out.family("failwell_upstream_state", "gauge", "1 for the state that an upstream is in.");
    for upstream in upstreams {
        let now = upstream.state();
        for state in UpstreamStatus::ALL {
            let labels = [("upstream", upstream.name()), ("state", state.as_str())];
            out.put("failwell_upstream_state", &labels, u8::from(state == now));
        }
    }
}
