use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{ApiMethod, MethodRequest};
use crate::api::api_error::ApiResult;
use crate::api::response::Element;
use crate::assumed::BAD_TIME;
use crate::language::phrase;
use crate::language::phrase::DateContext;

pub(super) const METHODS: &[ApiMethod] = &[
    ApiMethod::open("rtm.time.convert", "Tells a time in another time zone.", convert)
        .with(&["to_timezone", "from_timezone?", "time?"])
        .unsigned(),
    ApiMethod::open("rtm.time.parse", "Reads a time in words.", parse)
        .with(&["text", "timezone?", "dateformat?"])
        .unsigned(),
    ApiMethod::open("rtm.timezones.getList", "Lists the time zones.", get_list),
];

/// The zone of this parameter, UTC when it is not given.
fn zone(request: &MethodRequest<'_>, name: &str) -> ApiResult<TimeZone> {
    request.params.given(name).map_or(Ok(TimeZone::UTC), |name| TimeZone::get(name).map_err(|_| BAD_TIME))
}

fn convert(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let name = request.required("to_timezone", BAD_TIME)?;
    let (to, from) = (zone(request, "to_timezone")?, zone(request, "from_timezone")?);
    let at = match request.params.given("time") {
        None => request.now,
        Some(text) => {
            let context = DateContext { now: request.now, zone: from, day_first: true };
            // The time is in the source zone; a suffix of its own is ignored.
            let local = text.trim_end_matches('Z');
            phrase::exact(local, &context).or_else(|| phrase::exact(text, &context)).ok_or(BAD_TIME)?.at
        }
    };
    let local = to.to_datetime(at).strftime("%Y-%m-%dT%H:%M:%S").to_string();
    Ok(vec![Element::text("time", local).with("timezone", name)])
}

fn parse(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let text = request.required("text", BAD_TIME)?;
    let day_first = request.params.get("dateformat") != Some("1");
    let context = DateContext { now: request.now, zone: zone(request, "timezone")?, day_first };
    let when = phrase::when(text, &context).ok_or(BAD_TIME)?;
    let precision = if when.timed { "time" } else { "date" };
    Ok(vec![Element::text("time", when.at.to_string()).with("precision", precision)])
}

fn get_list(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let now = request.now;
    let names = jiff::tz::db().available();
    let zones = names.filter_map(|name| {
        let name = name.as_str().to_owned();
        let known = name.contains('/') && !name.starts_with("Etc/");
        TimeZone::get(&name).ok().filter(|_| known).map(|zone| (name, zone))
    });
    let mut zones: Vec<(String, TimeZone)> = zones.collect();
    zones.sort_by(|left, right| left.0.cmp(&right.0));
    let elements = zones.iter().enumerate().map(|(place, (name, zone))| {
        let offset = |at: Timestamp| zone.to_offset(at).seconds();
        // Half a year apart, one of the two is winter.
        let other = now.checked_add(jiff::SignedDuration::from_hours(24 * 182)).unwrap_or(now);
        let standard = offset(now).min(offset(other));
        Element::new("timezone")
            .with("id", (place + 1).to_string())
            .with("name", name.clone())
            .flag("dst", offset(now) != offset(other))
            .with("offset", standard.to_string())
            .with("current_offset", offset(now).to_string())
    });
    Ok(vec![Element::new("timezones").many("timezone", elements.collect())])
}
