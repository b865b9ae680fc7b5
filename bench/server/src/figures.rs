use std::time::Duration;

/// The results of one round.
#[derive(Clone, Copy)]
pub struct Figures {
    /// Requests per second.
    pub rate: f64,
    /// Median latency in microseconds.
    pub p50: f64,
    /// 99th percentile of the latency in microseconds.
    pub p99: f64,
    /// CPU time of the server per request, in microseconds.
    pub cpu: f64,
}

impl Figures {
    pub fn of(mut times: Vec<Duration>, length: Duration, cpu: Duration) -> Figures {
        times.sort_unstable();
        let count = times.len().max(1);
        let at = |part: usize| times.get(count * part / 100).map_or(0.0, |time| micros(*time));
        Figures {
            rate: times.len() as f64 / length.as_secs_f64(),
            p50: at(50),
            p99: at(99),
            cpu: micros(cpu) / count as f64,
        }
    }

    /// The median of each figure by itself.
    pub fn median(rounds: &[Figures]) -> Figures {
        let of = |figure: fn(&Figures) -> f64| median(rounds.iter().map(figure));
        Figures { rate: of(|f| f.rate), p50: of(|f| f.p50), p99: of(|f| f.p99), cpu: of(|f| f.cpu) }
    }

    /// The ratio of requests per second, first to second: the median over the rounds.
    pub fn times_as_fast(first: &[Figures], second: &[Figures]) -> f64 {
        Figures::times_the(|figures| figures.rate, first, second)
    }

    /// The ratio of a figure, first to second: the median over the rounds.
    pub fn times_the(figure: fn(&Figures) -> f64, first: &[Figures], second: &[Figures]) -> f64 {
        median(first.iter().zip(second).map(|(first, second)| figure(first) / figure(second)))
    }

    /// The difference of a figure, first minus second: the median over the rounds.
    pub fn more_than(figure: fn(&Figures) -> f64, first: &[Figures], second: &[Figures]) -> f64 {
        median(first.iter().zip(second).map(|(first, second)| figure(first) - figure(second)))
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
