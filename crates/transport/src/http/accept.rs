//! The `Accept` header: media types and their quality values.

use http::HeaderMap;
use http::header::ACCEPT;

/// The header value of nearly all clients.
const USUAL: &str = "application/json, text/event-stream";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wish {
    /// Quality in thousandths: 0 (refused) to 1000.
    quality: u16,
    /// The index of the matching range.
    position: usize,
}

/// The `Accept` header of one request. The usual value is recognised once and not parsed.
#[derive(Clone, Copy)]
pub(super) struct Accept<'a> {
    headers: &'a HeaderMap,
    is_usual: bool,
}

impl<'a> Accept<'a> {
    pub(super) fn of(headers: &'a HeaderMap) -> Accept<'a> {
        Accept { headers, is_usual: headers.get(ACCEPT).is_some_and(|first| first == USUAL) }
    }

    /// The entry for a type by its exact name, without wildcards.
    fn named(self, wanted: &str) -> Option<Wish> {
        let values = self.headers.get_all(ACCEPT).iter();
        let ranges = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        ranges.enumerate().find_map(|(position, range)| {
            let mut parts = range.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let name = parts.next().unwrap_or_default();
            name.eq_ignore_ascii_case(wanted.as_bytes()).then(|| Wish { quality: quality(parts), position })
        })
    }

    /// The entry for a type, by its most specific range.
    fn wish(self, wanted: &str) -> Option<Wish> {
        let family = wanted.split('/').next().unwrap_or_default();
        self.named(wanted).or_else(|| self.named(&format!("{family}/*"))).or_else(|| self.named("*/*"))
    }

    pub(super) fn takes(self, wanted: &str) -> bool {
        let is_usual = self.is_usual && matches!(wanted, "application/json" | "text/event-stream");
        is_usual || self.wish(wanted).is_some_and(|wish| wish.quality > 0)
    }

    /// Returns true if the client names both types and prefers an event stream to a JSON document.
    pub(super) fn prefers_events(self) -> bool {
        if self.is_usual {
            return false;
        }
        match (self.named("text/event-stream"), self.named("application/json")) {
            (Some(events), Some(json)) => {
                events.quality > json.quality
                    || events.quality == json.quality && events.position < json.position
            }
            _ => false,
        }
    }

    /// Returns true if the client names problem details and prefers no other type.
    pub(super) fn prefers_problems(self) -> bool {
        let Some(problem) = self.named("application/problem+json") else { return false };
        let plain = self.wish("application/json").map_or(0, |wish| wish.quality);
        problem.quality > 0 && problem.quality >= plain
    }
}

/// Reads `q=0.8` in thousandths. A missing or invalid value counts as 1.
fn quality<'a>(mut parameters: impl Iterator<Item = &'a [u8]>) -> u16 {
    let found = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_at_checked(2)?;
        name.eq_ignore_ascii_case(b"q=").then_some(value)
    });
    let number = found.and_then(|value| std::str::from_utf8(value).ok()?.trim().parse::<f32>().ok());
    number
        .filter(|number| number.is_finite())
        .map_or(1000, |number| (number.clamp(0.0, 1.0) * 1000.0).round() as u16)
}

#[cfg(test)]
mod tests {
    use super::Accept;
    use http::header::{ACCEPT, HeaderMap, HeaderValue};

    fn headers(values: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        values.iter().for_each(|value| {
            headers.append(ACCEPT, HeaderValue::from_static(value));
        });
        headers
    }

    #[test]
    fn problem_details_are_for_those_who_want_them_most() {
        for (accept, wanted) in [
            (&["application/problem+json"][..], true),
            (&["application/json, application/problem+json"], true),
            (&["application/json", "Application/Problem+JSON"], true),
            (&["application/problem+json;q=0.9, */*;q=0.5"], true),
            (&["application/problem+json;q=0.5, application/json"], false),
            (&["application/problem+json;q=0.5, */*"], false),
            (&["application/problem+json;q=0"], false),
            (&["application/problem+json ; Q=0.3 , application/json ; q=0.2"], true),
            (&["application/json"], false),
            (&["*/*"], false),
            (&["application/*"], false),
            (&[], false),
        ] {
            assert_eq!(Accept::of(&headers(accept)).prefers_problems(), wanted, "{accept:?}");
        }
    }

    #[test]
    fn the_range_that_fits_best_decides() {
        for (accept, wanted, taken) in [
            ("*/*", "text/event-stream", true),
            ("text/*, application/json", "text/event-stream", true),
            ("*/*, text/event-stream;q=0", "text/event-stream", false),
            ("*/*;q=0", "application/json", false),
            ("*/*;q=0, application/json;q=0.001", "application/json", true),
            ("application/json;q=nonsense", "application/json", true),
            ("text/html", "application/json", false),
        ] {
            assert_eq!(Accept::of(&headers(&[accept])).takes(wanted), taken, "{accept}");
        }
    }

    #[test]
    fn events_first_when_named_first_or_wanted_more() {
        for (accept, first) in [
            ("application/json, text/event-stream", false),
            ("text/event-stream, application/json", true),
            ("text/event-stream;q=0.5, application/json", false),
            ("application/json;q=0.5, text/event-stream", true),
            ("text/event-stream", false),
        ] {
            assert_eq!(Accept::of(&headers(&[accept])).prefers_events(), first, "{accept}");
        }
    }
}
