//! Parses times of the command line.

use std::time::{SystemTime, UNIX_EPOCH};

/// Parses `10m` (ago), `2026-06-30` or `2026-06-30T12:00:00Z` into milliseconds since 1970.
pub(crate) fn parse(text: &str) -> Result<i64, String> {
    let wrong =
        || "write 30s, 10m, 2h or 3d for so long ago, or 2026-06-30, or 2026-06-30T12:00:00Z".to_owned();
    ago(text).or_else(|| point(text)).ok_or_else(wrong)
}

fn ago(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let count: i64 = text.strip_suffix(unit)?.parse().ok().filter(|count| (0..=1_000_000).contains(count))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(i64::try_from(now.as_millis()).ok()? - count * seconds * 1_000)
}

fn point(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00:00Z"));
    let mut date = date.splitn(3, '-');
    let year: i64 = date.next()?.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let month: i64 = date.next()?.parse().ok().filter(|month| (1..=12).contains(month))?;
    let day: i64 = date.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let mut time = time.strip_suffix('Z').unwrap_or(time).splitn(3, ':');
    let hour: i64 = time.next()?.parse().ok().filter(|hour| (0..=23).contains(hour))?;
    let minute: i64 = time.next()?.parse().ok().filter(|minute| (0..=59).contains(minute))?;
    let second: f64 = time.next().unwrap_or("0").parse().ok().filter(|s| (0.0..60.0).contains(s))?;
    let whole = (days(year, month, day) * 86_400 + hour * 3_600 + minute * 60) * 1_000;
    Some(whole + (second * 1_000.0).round() as i64)
}

/// Days since 1970-01-01. Years start in March, so that the leap day is the last day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (shifted / 400, shifted % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, millis) in [
            ("1970-01-01", 0),
            ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2024-12-31T23:59:59.5Z", 1_735_689_599_500),
            ("2100-01-01T00:00", 4_102_444_800_000),
        ] {
            assert_eq!(parse(text), Ok(millis), "{text}");
        }
        let (hour, minutes) = (parse("1h").expect("a time"), parse("60m").expect("a time"));
        assert!((hour - minutes).abs() < 1_000);
        for odd in ["", "h", "-1h", "2026", "2026-13-01", "2026-01-01T25:00Z", "yesterday", "1é"] {
            assert!(parse(odd).is_err(), "{odd}");
        }
    }
}
