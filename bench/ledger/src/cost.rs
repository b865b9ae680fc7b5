//! The gateway without a ledger, with one, and with a critical one, measured in turn and compared round by round.

use bench_server::child::Server;
use bench_server::figures::Figures;
use bench_server::load::{Target, round};
use bench_server::message::{Echo, Era};
use bench_server::options::Options;

/// The binaries, and the most CPU time of each relative to the one without a ledger. CPU time varies less than
/// wall-clock time when the machine does other work.
const CONTENDERS: [(&str, &str, Option<f64>); 3] = [
    ("no ledger", "gateway-none", None),
    ("ledger", "gateway-ledger", Some(0.15)),
    ("critical", "gateway-critical", None),
];

/// Measures and prints. Returns whether the ledger stays within its limits.
pub async fn run(options: &Options) -> Result<bool, String> {
    let servers: Result<Vec<Server>, String> =
        CONTENDERS.iter().map(|(_, binary, _)| Server::start(binary)).collect();
    let servers = servers?;
    let mut rounds: Vec<Vec<Figures>> = CONTENDERS.iter().map(|_| Vec::new()).collect();
    for number in 0..options.rounds {
        for turn in 0..servers.len() {
            let index = (number + turn) % servers.len();
            let server = &servers[index];
            let echo = Echo { path: "/mcp", tool: "up__echo", size: 64 };
            let target = Target { address: server.address, echo, era: Era::Modern };
            let before = server.cpu()?;
            let (times, length) = round(target, options.connections, options.round).await?;
            rounds[index].push(Figures::of(times, length, server.cpu()? - before));
        }
    }
    println!(
        "the gateway: {} connections, {} rounds of {:?}, medians; every answer checked",
        options.connections, options.rounds, options.round
    );
    Ok(report(&rounds))
}

fn report(rounds: &[Vec<Figures>]) -> bool {
    let mut met = true;
    println!(
        "{:<12}{:>12}{:>10}{:>10}{:>12}{:>8}{:>8}{:>9}",
        "", "requests/s", "p50 µs", "p99 µs", "cpu µs/req", "keeps", "costs", "at most"
    );
    for ((name, _, most), measured) in CONTENDERS.iter().zip(rounds) {
        let figure = Figures::median(measured);
        let without = rounds.first().map_or(measured, |without| without);
        let (keeps, costs) = (
            Figures::times_as_fast(measured, without),
            Figures::times_the(|figures| figures.cpu, measured, without) - 1.0,
        );
        let missed = most.is_some_and(|most| costs > most);
        met &= !missed;
        println!(
            "{name:<12}{:>12.0}{:>10.0}{:>10.0}{:>12.1}{:>7.0}%{:>7.1}%{:>9}{}",
            figure.rate,
            figure.p50,
            figure.p99,
            figure.cpu,
            keeps * 100.0,
            costs * 100.0,
            most.map(|most| format!("{:.0}%", most * 100.0)).unwrap_or_default(),
            if missed { "  missed" } else { "" }
        );
    }
    met
}
