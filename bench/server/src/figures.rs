use std::time::Duration;

/// The results of one round.
#[derive(Clone, Copy)]
pub struct Figures {
    /// Requests per second.
    pub rate: f64,
    /// Microseconds that half of the answers took at most.
    pub p50: f64,
    /// Microseconds that all but one in a hundred took at most.
    pub p99: f64,
    /// Microseconds of the server's processor time per request.
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

    /// How many times as many requests per second the first answered: the median of the rounds' own ratios.
    pub fn times_as_fast(first: &[Figures], second: &[Figures]) -> f64 {
        Figures::times_the(|figures| figures.rate, first, second)
    }

    /// How many times the second's figure the first's is: the median of the rounds' own ratios.
    pub fn times_the(figure: fn(&Figures) -> f64, first: &[Figures], second: &[Figures]) -> f64 {
        median(first.iter().zip(second).map(|(first, second)| figure(first) / figure(second)))
    }

    /// How much more the first's figure is than the second's: the median of the rounds' own differences.
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
