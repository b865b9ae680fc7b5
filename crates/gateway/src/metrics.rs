//! Numbers about upstreams. Labels are names of the configuration, never anybody's text.

use std::sync::Arc;

use failwell_server::{Histogram, Numbers};

use crate::faces::Faces;
use crate::seat::State;
use crate::upstream::Upstream;

type Read = fn(&Upstream) -> u64;

const NUMBERS: [(&str, &str, Read); 4] = [
    ("failwell_upstream_starts_total", "counter", |upstream| upstream.tally().starts()),
    ("failwell_upstream_stray_lines_total", "counter", |upstream| upstream.tally().strays()),
    ("failwell_upstream_failures_total", "counter", |upstream| upstream.tally().failures()),
    ("failwell_upstream_caller_sessions", "gauge", |upstream| upstream.sessions() as u64),
];

pub(crate) fn write(upstreams: &[&Arc<Faces>], out: &mut Numbers) {
    for (name, kind, read) in NUMBERS {
        out.family(name, kind);
        for upstream in upstreams {
            let number: u64 = upstream.all().map(|face| read(face)).sum();
            out.put(name, &[("upstream", upstream.name())], number);
        }
    }
    write_durations(out, upstreams);
    write_states(out, upstreams);
}

/// How long requests to each upstream took.
fn write_durations(out: &mut Numbers, upstreams: &[&Arc<Faces>]) {
    let name = "failwell_upstream_request_duration_seconds";
    out.family(name, "histogram");
    for upstream in upstreams {
        let all: Vec<&Histogram> = upstream.all().map(|face| face.tally().took()).collect();
        Histogram::write(&all, out, name, &[("upstream", upstream.name())]);
    }
}

/// Each state is there with 0 or 1, so that alerts can be written before the first time.
fn write_states(out: &mut Numbers, upstreams: &[&Arc<Faces>]) {
    out.family("failwell_upstream_state", "gauge");
    for upstream in upstreams {
        let now = upstream.state();
        for state in State::ALL {
            let labels = [("upstream", upstream.name()), ("state", state.as_str())];
            out.put("failwell_upstream_state", &labels, u8::from(state == now));
        }
    }
}
