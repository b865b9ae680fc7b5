//! The servers take turns, in another order each round, and are compared round by round. Other load on the machine then
//! affects all of them alike.

use crate::child::Server;
use crate::figures::Figures;
use crate::load::{Target, round};
use crate::message::{Echo, Era};
use crate::options::Options;

struct Contender {
    name: &'static str,
    binary: &'static str,
    path: &'static str,
    era: Era,
    /// The required ratio of requests per second, Failwell to a server of the same era.
    target: Option<f64>,
}

const fn contender(
    name: &'static str,
    binary: &'static str,
    path: &'static str,
    era: Era,
    target: Option<f64>,
) -> Contender {
    Contender { name, binary, path, era, target }
}

/// Bytes of the text that is echoed.
const TEXT: usize = 96;

/// Failwell is first in each era. Sessions have no target.
const CONTENDERS: [Contender; 5] = [
    contender("failwell", "echo-failwell", "/mcp", Era::Modern, None),
    contender("rmcp", "echo-rmcp", "/mcp", Era::Modern, Some(2.0)),
    contender("axum", "echo-axum", "/mcp", Era::Modern, Some(0.75)),
    contender("failwell session", "echo-failwell", "/mcp", Era::Session, None),
    contender("rmcp session", "echo-rmcp", "/session", Era::Session, None),
];

/// Measures, prints, and says whether every target was met.
pub async fn run(options: &Options) -> Result<bool, String> {
    let chosen: Vec<&Contender> = CONTENDERS.iter().filter(|one| one.name.contains(&options.only)).collect();
    let mut rounds: Vec<Vec<Figures>> = chosen.iter().map(|_| Vec::new()).collect();
    let servers = chosen.iter().map(|one| Server::start(one.binary)).collect::<Result<Vec<_>, _>>()?;
    for number in 0..options.rounds {
        for turn in 0..chosen.len() {
            let index = (number + turn) % chosen.len();
            let (one, server) = (chosen[index], &servers[index]);
            let measured = measure(one, server, options).await;
            rounds[index].push(measured.map_err(|error| format!("{}: {error}", one.name))?);
        }
    }
    println!(
        "{} connections, {} rounds of {:?}, medians; every answer checked",
        options.connections, options.rounds, options.round
    );
    Ok(report(&chosen, &rounds))
}

async fn measure(one: &Contender, server: &Server, options: &Options) -> Result<Figures, String> {
    let echo = Echo { path: one.path, tool: "echo", size: TEXT };
    let target = Target { address: server.address, echo, era: one.era };
    let before = server.cpu()?;
    let (times, length) = round(target, options.connections, options.round).await?;
    Ok(Figures::of(times, length, server.cpu()? - before))
}

fn report(chosen: &[&Contender], rounds: &[Vec<Figures>]) -> bool {
    let mut met = true;
    println!(
        "{:<18}{:>12}{:>10}{:>10}{:>12}{:>10}{:>9}",
        "server", "requests/s", "p50 µs", "p99 µs", "cpu µs/req", "ours is", "target"
    );
    for (one, measured) in chosen.iter().zip(rounds) {
        let figure = Figures::median(measured);
        let ours = chosen.iter().zip(rounds).find(|(first, _)| first.era == one.era);
        let ratio = ours.map_or(1.0, |(_, ours)| Figures::times_as_fast(ours, measured));
        let judged = one.target.filter(|_| chosen.len() == CONTENDERS.len());
        let missed = judged.is_some_and(|target| ratio < target);
        met &= !missed;
        println!(
            "{:<18}{:>12.0}{:>10.0}{:>10.0}{:>12.1}{ratio:>9.2}x{:>9}{}",
            one.name,
            figure.rate,
            figure.p50,
            figure.p99,
            figure.cpu,
            judged.map(|target| format!("{target:.2}x")).unwrap_or_default(),
            if missed { "  missed" } else { "" }
        );
    }
    met
}
