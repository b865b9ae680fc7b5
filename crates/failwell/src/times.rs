//! Parses times of the command line.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

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
    Some(Timestamp::now().as_millisecond() - count * seconds * 1_000)
}

/// A time without an offset is in UTC.
fn point(text: &str) -> Option<i64> {
    // jiff would skip the name of a time zone and take the time before it for UTC.
    let plain = (!text.contains('[')).then_some(text)?;
    let utc = || plain.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    let point = plain.parse::<Timestamp>().ok().or_else(|| Some(utc()?.timestamp()))?;
    Some(point.as_millisecond()).filter(|millis| *millis >= 0)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, millis) in [
            ("1970-01-01", 0),
            ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2000-02-29T02:00:00+02:00", 951_782_400_000),
            ("2024-12-31T23:59:59.5Z", 1_735_689_599_500),
            ("2024-12-31T23:59:59.5", 1_735_689_599_500),
            ("2100-01-01T00:00", 4_102_444_800_000),
        ] {
            assert_eq!(parse(text), Ok(millis), "{text}");
        }
        let (hour, minutes) = (parse("1h").expect("a time"), parse("60m").expect("a time"));
        assert!((hour - minutes).abs() < 1_000);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for odd in [
            "",
            "h",
            "-1h",
            "2026",
            "2026-13-01",
            "2026-02-31",
            "2025-02-29T00:00:00Z",
            "2026-01-01T25:00Z",
            "2026-01-01T12:00[Europe/Berlin]",
            "1969-12-31",
            "yesterday",
            "1é",
        ] {
            assert!(parse(odd).is_err(), "{odd}");
        }
    }
}
