//! `[limits]`: rate and concurrency limits, and the limits of the HTTP listener.

use failwell_policy::{Allowance, CallerMatcher, Limits, Pattern, Rate};

use super::rules::check_caller;
use crate::config::keys::{BURST, CONCURRENCY};
use crate::config::parse::reader::{Reader, Section};
use crate::config::settings::ListenerLimits;

/// Maximum number of limits for callers, and of limits for tools.
const MOST: usize = 1_000;

pub(in crate::config) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> (Limits, ListenerLimits) {
    let Some(section) = reader.table(root, "limits") else {
        return (Limits::default(), ListenerLimits::default());
    };
    let default = allowance(reader, &section);
    let errors = reader.table(&section, "errors").and_then(|inner| {
        if !inner.has("rate") {
            reader.missing(&inner, "rate", "`errors` has no `rate`", "write errors = { rate = \"5/s\" }");
        }
        rate(reader, &inner)
    });
    let mut callers = Vec::new();
    for (name, inner) in reader.named(&section, "callers") {
        check_caller(reader, &name);
        callers.push((CallerMatcher::new([name.value.as_str()]), some(reader, &inner)));
    }
    let mut tools = Vec::new();
    for (name, inner) in reader.named(&section, "tools") {
        if !name.value.contains("__") && !name.value.contains('*') {
            let help = "write it as server__tool, with `*` for any run of characters";
            reader.wrong(&name.span, &name.key, "this is not a tool of a server", help);
        }
        tools.push((Pattern::new(&name.value), some(reader, &inner)));
    }
    if callers.len().max(tools.len()) > MOST {
        let message = format!("there are more than {MOST} limits");
        reader.wrong(&root.key_span("limits"), "limits", message, "use `*` in names to combine some of them");
    }
    // Only a start applies the limits of the listener.
    let listener = ListenerLimits::from_keys(|key| reader.number(&section, key));
    (Limits { default, callers, tools, errors }, listener)
}

/// A quota that sets at least one limit.
fn some(reader: &mut Reader<'_>, section: &Section<'_>) -> Allowance {
    if !section.has("rate") && !section.has("concurrency") {
        let help = "add rate = \"5/s\" or concurrency = 2";
        reader.missing(section, "rate", "the limit has neither `rate` nor `concurrency`", help);
    }
    allowance(reader, section)
}

fn allowance(reader: &mut Reader<'_>, section: &Section<'_>) -> Allowance {
    let concurrency = u32::try_from(reader.number(section, &CONCURRENCY)).ok().filter(|most| *most > 0);
    Allowance { rate: rate(reader, section), concurrency }
}

fn rate(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Rate> {
    let burst = reader.number(section, &BURST);
    let Some(text) = reader.text(section, "rate") else {
        if section.has("burst") && !section.has("rate") && !reader.is_noted(&section.path("rate")) {
            let help = "add rate = \"5/s\", or remove it";
            reader.wrong(&section.key_span("burst"), &section.path("burst"), "`burst` needs `rate`", help);
        }
        return None;
    };
    let Some((many, seconds)) = parse(&text.value) else {
        let help = "write how many in which time, such as \"5/s\", \"30/min\" or \"100/h\"";
        reader.wrong(&text.span, &text.key, "`rate` is no rate", help);
        return None;
    };
    let burst = if burst == 0 { many } else { u32::try_from(burst).unwrap_or(u32::MAX) };
    Some(Rate { per_second: f64::from(many) / f64::from(seconds), burst: f64::from(burst) })
}

/// Parses a rate into a count and a number of seconds.
fn parse(text: &str) -> Option<(u32, u32)> {
    let (many, time) = text.split_once('/')?;
    let seconds = match time {
        "s" => 1,
        "min" => 60,
        "h" => 3_600,
        _ => return None,
    };
    let is_number = many.bytes().all(|byte| byte.is_ascii_digit()) && (1..=6).contains(&many.len());
    many.parse().ok().filter(|many| is_number && *many > 0).map(|many| (many, seconds))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn rates_are_so_many_in_a_time() {
        for (text, rate) in [("5/s", (5, 1)), ("30/min", (30, 60)), ("100/h", (100, 3_600))] {
            assert_eq!(parse(text), Some(rate), "{text}");
        }
        for odd in ["", "5", "0/s", "-1/s", "+1/s", "5/d", "/s", "5 /s", "1.5/s", "1000000/s"] {
            assert_eq!(parse(odd), None, "{odd}");
        }
    }
}
