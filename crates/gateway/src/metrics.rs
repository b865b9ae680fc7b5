//! Numbers about upstreams, as Prometheus reads them. Labels are names of the configuration, never anybody's text.

use std::fmt::Write;
use std::sync::Arc;

use crate::faces::Faces;
use crate::seat::State;
use crate::upstream::Upstream;

type Read = fn(&Upstream) -> u64;

const NUMBERS: [(&str, &str, Read); 3] = [
    ("failwell_upstream_starts_total", "counter", |upstream| upstream.tally().starts()),
    ("failwell_upstream_stray_lines_total", "counter", |upstream| upstream.tally().strays()),
    ("failwell_upstream_caller_sessions", "gauge", |upstream| upstream.sessions() as u64),
];

pub(crate) fn of(upstreams: &[&Arc<Faces>]) -> String {
    let mut out = String::new();
    for (name, kind, read) in NUMBERS {
        let _ = writeln!(out, "# TYPE {name} {kind}");
        for upstream in upstreams {
            let number: u64 = upstream.all().map(|face| read(face)).sum();
            let _ = writeln!(out, "{name}{{upstream=\"{}\"}} {}", upstream.name(), number);
        }
    }
    write_states(&mut out, upstreams);
    out
}

/// Each state is there with 0 or 1, so that alerts can be written before the first time.
fn write_states(out: &mut String, upstreams: &[&Arc<Faces>]) {
    let _ = writeln!(out, "# TYPE failwell_upstream_state gauge");
    for upstream in upstreams {
        let (name, now) = (upstream.name(), upstream.state());
        for state in State::ALL {
            let (word, is) = (state.as_str(), u8::from(state == now));
            let _ = writeln!(out, "failwell_upstream_state{{upstream=\"{name}\",state=\"{word}\"}} {is}");
        }
    }
}
