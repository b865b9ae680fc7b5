use std::path::PathBuf;
use std::time::Duration;

/// The options of a run.
pub struct Options {
    pub round: Duration,
    pub rounds: usize,
    /// Only proxies whose name contains this. Limits are then not checked.
    pub only: String,
    /// Only combinations of size, connections and era whose name contains this.
    pub cell: String,
    pub peers: bool,
    /// The Failwell program, built like the proxies.
    pub failwell: PathBuf,
    /// A profile-guided build of the same program, measured too if given.
    pub pgo: Option<PathBuf>,
}

const USAGE: &str = "\
usage: bench/gateway/run [--seconds S] [--rounds N] [--only NAME] [--cell TEXT] [--no-peers]
  --seconds S   seconds per proxy and round, 0.05 to 60 (0.3)
  --rounds N    rounds, 1 to 100 (15)
  --only NAME   only the proxies whose name contains NAME; bars are then not judged
  --cell TEXT   only the cells whose name contains TEXT, such as '32 connections, 64 B'
  --no-peers    without the slow peers";

impl Options {
    /// Reads the command line, and checks every number against its bounds.
    pub fn read(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let failwell = std::env::var_os("BENCH_FAILWELL").map(PathBuf::from);
        let mut options = Options {
            round: Duration::from_millis(300),
            rounds: 15,
            only: String::new(),
            cell: String::new(),
            peers: true,
            pgo: std::env::var_os("BENCH_FAILWELL_PGO").map(PathBuf::from),
            failwell: failwell
                .ok_or("error: BENCH_FAILWELL names no program\nhelp: start this with bench/gateway/run")?,
        };
        while let Some(name) = arguments.next() {
            if name == "--no-peers" {
                options.peers = false;
                continue;
            }
            let value = arguments.next().ok_or(USAGE)?;
            let number = |low: f64, high: f64| {
                let parsed = value.parse::<f64>().ok().filter(|number| (low..=high).contains(number));
                parsed.ok_or_else(|| format!("error: {name} needs a number from {low} to {high}\n{USAGE}"))
            };
            match name.as_str() {
                "--seconds" => options.round = Duration::from_secs_f64(number(0.05, 60.0)?),
                "--rounds" => options.rounds = number(1.0, 100.0)? as usize,
                "--only" => options.only = value,
                "--cell" => options.cell = value,
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(options)
    }
}
