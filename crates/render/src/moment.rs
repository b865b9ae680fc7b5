use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A point in time, formatted as RFC 3339 in UTC. The code is written by hand: it has thirty lines, and a
/// date library would be the largest dependency of this crate (ADR 0033).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    seconds: u64,
    millis: u16,
}

impl Moment {
    pub fn now() -> Moment {
        Moment::from(SystemTime::now())
    }

    /// A fixed time, for transcripts that must not change.
    pub fn at_unix(seconds: u64) -> Moment {
        Moment { seconds, millis: 0 }
    }

    /// Milliseconds since 1970.
    pub fn unix_millis(self) -> i64 {
        i64::try_from(self.seconds * 1_000 + u64::from(self.millis)).unwrap_or(i64::MAX)
    }

    /// Creates a time from milliseconds since 1970.
    pub fn from_unix_millis(millis: i64) -> Moment {
        let millis = u64::try_from(millis).unwrap_or(0);
        Moment { seconds: millis / 1_000, millis: u16::try_from(millis % 1_000).unwrap_or(0) }
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Moment {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment { seconds: since.as_secs(), millis: u16::try_from(since.subsec_millis()).unwrap_or(0) }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.seconds / 86_400);
        let of_day = self.seconds % 86_400;
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        // Every record and every response has a timestamp, so this avoids the slower formatter.
        let mut text = *b"0000-00-00T00:00:00.000Z";
        put(&mut text, 0, 4, year);
        put(&mut text, 5, 2, month);
        put(&mut text, 8, 2, day);
        put(&mut text, 11, 2, hour);
        put(&mut text, 14, 2, minute);
        put(&mut text, 17, 2, second);
        put(&mut text, 20, 3, u64::from(self.millis));
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

/// Writes the last digits of a number at their positions.
fn put(text: &mut [u8], at: usize, digits: usize, mut number: u64) {
    for place in text.iter_mut().skip(at).take(digits).rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Converts days since 1970-01-01 to a Gregorian date. Years start in March, so that the leap day is the last
/// day.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn moments_read_as_the_calendar_says() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_164_800, "2024-02-29T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (4_102_444_800, "2100-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(Moment::at_unix(seconds).to_string(), text);
        }
    }
}
