//! The proxies take turns, in another order each round, and are compared round by round. Other load on the machine then
//! affects all of them alike.

use crate::bars::{Bars, judge};
use crate::options::Options;
use crate::stage::{Contender, Stage};
use crate::{extras, instructions, peers};
use bench_server::figures::Figures;
use bench_server::load::{Target, round};
use bench_server::message::{Echo, Era};

/// The number of connections, the bytes of the echoed text, and the era of the clients.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    pub connections: usize,
    pub size: usize,
    pub era: Era,
}

/// From this size on, a call is mostly copying.
pub const LARGE: usize = 64 * 1024;

pub const CELLS: [Cell; 9] = [
    cell(1, 64, Era::Modern),
    cell(1, 4 * 1024, Era::Modern),
    cell(1, LARGE, Era::Modern),
    cell(32, 64, Era::Modern),
    cell(32, 4 * 1024, Era::Modern),
    cell(32, LARGE, Era::Modern),
    cell(1, 64, Era::Session),
    cell(32, 64, Era::Session),
    cell(32, LARGE, Era::Session),
];

pub const fn cell(connections: usize, size: usize, era: Era) -> Cell {
    Cell { connections, size, era }
}

impl Cell {
    pub fn name(self) -> String {
        let size =
            if self.size < 1024 { format!("{} B", self.size) } else { format!("{} KB", self.size / 1024) };
        let plural = if self.connections == 1 { "" } else { "s" };
        let era = if self.era == Era::Session { ", sessions" } else { "" };
        format!("{} connection{plural}, {size}{era}", self.connections)
    }
}

/// The results: the rounds of each proxy in each cell.
pub struct Measurements(Vec<(Cell, &'static str, Vec<Figures>)>);

impl Measurements {
    pub fn rounds(&self, cell: Cell, name: &str) -> Option<&[Figures]> {
        let found = self.0.iter().find(|(at, who, _)| *at == cell && *who == name);
        found.map(|(_, _, rounds)| rounds.as_slice())
    }
}

/// Measures, prints, and says whether every bar was met.
pub async fn run(options: &Options) -> Result<bool, String> {
    let stage = Stage::set(&options.failwell, options.pgo.as_deref())?;
    let chosen: Vec<&Contender> =
        stage.contenders.iter().filter(|one| one.name.contains(&options.only)).collect();
    println!("{} rounds of {:?}, medians; every answer checked", options.rounds, options.round);
    let mut measured = Measurements(Vec::new());
    for cell in CELLS.into_iter().filter(|cell| cell.name().contains(&options.cell)) {
        let rounds = measure_cell(&chosen, cell, options).await?;
        report(&chosen, cell, &rounds);
        let named = chosen.iter().zip(rounds).map(|(one, rounds)| (cell, one.name, rounds));
        measured.0.extend(named);
    }
    println!("\nmemory, MB: resident, and the share of it");
    for one in &chosen {
        let memory = one.process.memory();
        println!("{:<24}{:>10.1}{:>10.1}", one.name, memory.resident, memory.share);
    }
    let mut bars = Bars::default();
    judge(&measured, &mut bars);
    if options.only.is_empty() && options.cell.is_empty() {
        extras::measure(options, &stage, &mut bars).await?;
        instructions::measure(options, &stage).await?;
    }
    if options.peers {
        peers::measure(&stage, &measured, &mut bars).await?;
    }
    Ok(bars.report() || !options.only.is_empty())
}

async fn measure_cell(
    chosen: &[&Contender],
    cell: Cell,
    options: &Options,
) -> Result<Vec<Vec<Figures>>, String> {
    let mut rounds: Vec<Vec<Figures>> = chosen.iter().map(|_| Vec::new()).collect();
    for number in 0..options.rounds {
        for turn in 0..chosen.len() {
            let index = (number + turn) % chosen.len();
            let measured = measure(chosen[index], cell, options).await;
            rounds[index].push(measured.map_err(|error| format!("{}: {error}", chosen[index].name))?);
        }
    }
    Ok(rounds)
}

async fn measure(one: &Contender, cell: Cell, options: &Options) -> Result<Figures, String> {
    let echo = Echo { path: "/mcp", tool: one.tool, size: cell.size };
    let target = Target { address: one.address, echo, era: cell.era };
    let before = one.process.cpu();
    let (times, length) = round(target, cell.connections, options.round).await?;
    Ok(Figures::of(times, length, one.process.cpu() - before))
}

fn report(chosen: &[&Contender], cell: Cell, rounds: &[Vec<Figures>]) {
    println!("\n{}", cell.name());
    let [rate, p50, p99, cpu, ratio] = ["requests/s", "p50 µs", "p99 µs", "cpu µs/req", "cpu ratio"];
    println!("{:<24}{rate:>12}{p50:>10}{p99:>10}{cpu:>12}{ratio:>11}", "proxy");
    let yardstick = chosen.iter().zip(rounds).find(|(one, _)| one.name == crate::bars::YARDSTICK);
    for (one, measured) in chosen.iter().zip(rounds) {
        let figure = Figures::median(measured);
        let ratio = yardstick.map(|(_, yardstick)| Figures::times_the(|f| f.cpu, measured, yardstick));
        println!(
            "{:<24}{:>12.0}{:>10.0}{:>10.0}{:>12.1}{:>11}",
            one.name,
            figure.rate,
            figure.p50,
            figure.p99,
            figure.cpu,
            ratio.map(|ratio| format!("{ratio:.2}x")).unwrap_or_default()
        );
    }
}
