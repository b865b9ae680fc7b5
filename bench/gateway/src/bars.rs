//! The limits that Failwell must keep.

use crate::run::{CELLS, LARGE, Measurements, cell};
use bench_server::figures::Figures;
use bench_server::message::Era;

/// Failwell is compared with the proxy that does only what every gateway must.
pub const YARDSTICK: &str = "hyper envelope";

/// The limits. Each is checked when it is added.
#[derive(Default)]
pub struct Bars(Vec<Bar>);

struct Bar {
    name: String,
    value: f64,
    wanted: Threshold,
    unit: &'static str,
}

#[derive(Clone, Copy)]
enum Threshold {
    AtMost(f64),
    AtLeast(f64),
}

impl Bars {
    pub fn at_most(&mut self, name: impl Into<String>, value: f64, limit: f64, unit: &'static str) {
        self.0.push(Bar { name: name.into(), value, wanted: Threshold::AtMost(limit), unit });
    }

    pub fn at_least(&mut self, name: impl Into<String>, value: f64, limit: f64, unit: &'static str) {
        self.0.push(Bar { name: name.into(), value, wanted: Threshold::AtLeast(limit), unit });
    }

    /// Prints every limit. Returns whether all were kept.
    pub fn report(&self) -> bool {
        println!("\n{:<66}{:>11}{:>12}", "bar", "measured", "wanted");
        let mut all = true;
        for bar in &self.0 {
            let (sign, limit, met) = match bar.wanted {
                Threshold::AtMost(limit) => ("≤", limit, bar.value <= limit),
                Threshold::AtLeast(limit) => ("≥", limit, bar.value >= limit),
            };
            all &= met;
            let verdict = if met { "pass" } else { "FAIL" };
            let wanted = format!("{sign} {limit}{}", bar.unit);
            println!(
                "{:<66}{:>11}{wanted:>12}  {verdict}",
                bar.name,
                format!("{:.2}{}", bar.value, bar.unit)
            );
        }
        all
    }
}

/// The limits on calls.
pub fn judge(measured: &Measurements, bars: &mut Bars) {
    for (name, limit, limit_when_large) in [("failwell", 1.4, 1.0), ("failwell guarded", 1.9, 1.2)] {
        for cell in CELLS {
            let both = measured.rounds(cell, name).zip(measured.rounds(cell, YARDSTICK));
            let Some((ours, theirs)) = both else { continue };
            let cpu = Figures::times_the(|figures| figures.cpu, ours, theirs);
            let limit = if cell.size == LARGE { limit_when_large } else { limit };
            bars.at_most(format!("{name}, {}: cpu, times the proxy", cell.name()), cpu, limit, "x");
            if cell.connections > 1 {
                let late = Figures::times_the(|figures| figures.p99, ours, theirs);
                bars.at_most(format!("{name}, {}: p99, times the proxy", cell.name()), late, 1.5, "x");
            }
        }
        let alone = CELLS[0];
        if let Some((ours, direct)) = measured.rounds(alone, name).zip(measured.rounds(alone, "direct")) {
            let added = Figures::more_than(|figures| figures.p50, ours, direct);
            bars.at_most(format!("{name}, {}: p50 added", alone.name()), added, 100.0, " µs");
        }
    }
    for cell in CELLS.into_iter().filter(|cell| cell.connections > 1) {
        if let Some((stdio, http)) =
            measured.rounds(cell, "failwell stdio").zip(measured.rounds(cell, "failwell"))
        {
            let part = Figures::times_the(|figures| figures.rate, stdio, http);
            bars.at_least(
                format!("failwell, {}: calls/s over stdio, part of HTTP", cell.name()),
                part,
                0.5,
                "x",
            );
        }
    }
}

/// The limit on calls per second through one shared child process.
pub fn over_stdio(measured: &Measurements) -> Option<f64> {
    measured.rounds(cell(32, 64, Era::Modern), "failwell stdio").map(|rounds| Figures::median(rounds).rate)
}
