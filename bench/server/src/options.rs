use std::time::Duration;

/// The options of a run.
pub struct Options {
    pub connections: usize,
    pub round: Duration,
    pub rounds: usize,
    /// Only servers whose name contains this.
    pub only: String,
}

const USAGE: &str = "\
usage: bench/server/run [--connections N] [--seconds S] [--rounds N] [--only NAME]
  --connections N   connections at once, 1 to 256 (16)
  --seconds S       seconds per server and round, 0.1 to 60 (1)
  --rounds N        rounds, 1 to 100 (15)
  --only NAME       only the servers whose name contains NAME; targets are then not judged";

impl Options {
    /// Reads the command line, and checks every number against its bounds.
    pub fn read(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options =
            Options { connections: 16, round: Duration::from_secs(1), rounds: 15, only: String::new() };
        while let Some(name) = arguments.next() {
            let value = arguments.next();
            let number = |low: f64, high: f64| {
                let parsed = value.as_deref().and_then(|text| text.parse::<f64>().ok());
                parsed
                    .filter(|number| (low..=high).contains(number))
                    .ok_or_else(|| format!("error: {name} needs a number from {low} to {high}\n{USAGE}"))
            };
            match name.as_str() {
                "--connections" => options.connections = number(1.0, 256.0)? as usize,
                "--seconds" => options.round = Duration::from_secs_f64(number(0.1, 60.0)?),
                "--rounds" => options.rounds = number(1.0, 100.0)? as usize,
                "--only" => options.only = value.unwrap_or_default(),
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(options)
    }
}
