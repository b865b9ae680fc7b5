use failwell_fault::{Reason, ReasonRegistry};

use super::entry::{DialectCode, places};
use crate::complaint::Complaint;

/// The result of a lookup.
pub(super) enum ExplainSubject {
    One(&'static Reason),
    /// The reasons of an area, or all.
    Several(Vec<&'static Reason>),
    /// A number, with each reason that uses it and the dialects in which it does.
    Number(i64, Vec<(&'static Reason, Vec<DialectCode>)>),
}

/// Maximum number of suggestions.
const SUGGESTED: usize = 3;

/// A suggestion has at least this likeness; `foo` and `FORM` have 0.5.
const LIKE_ENOUGH: f64 = 0.6;

/// Finds a reason by id, anchor or unique name; an area; a number; or words of the text that a caller saw.
pub(super) fn find(subject: &str, reasons: &ReasonRegistry) -> Result<ExplainSubject, Complaint> {
    let plain = subject.trim().replace('\u{2212}', "-");
    if let Ok(number) = plain.parse() {
        return by_number(number, reasons);
    }
    let area: Vec<&'static Reason> =
        reasons.iter().filter(|reason| reason.area().eq_ignore_ascii_case(&plain)).collect();
    if !area.is_empty() {
        return Ok(ExplainSubject::Several(area));
    }
    let named: Vec<&'static Reason> = reasons.iter().filter(|reason| is_named(reason, &plain)).collect();
    match named.as_slice() {
        [only] => Ok(ExplainSubject::One(only)),
        [] => by_text(&plain, reasons).ok_or_else(|| unknown(&plain, reasons)),
        several => {
            let ids: Vec<&str> = several.iter().map(|reason| reason.id).collect();
            let title = format!("`{}` is the name of several reasons", shown(&plain));
            Err(Complaint::new(title, format!("say which: {}", ids.join(" or "))))
        }
    }
}

fn is_named(reason: &Reason, text: &str) -> bool {
    let spelt = text.replace('-', "_");
    let name = reason.id.split('/').next_back().unwrap_or(reason.id);
    reason.id.eq_ignore_ascii_case(&spelt)
        || name.eq_ignore_ascii_case(&spelt)
        || reason.anchor().eq_ignore_ascii_case(text)
}

fn by_number(number: i64, reasons: &ReasonRegistry) -> Result<ExplainSubject, Complaint> {
    // Status 200 is excluded: `/rpc` uses it for every error.
    let is_status = (400..600).contains(&number);
    let fits = |place: &DialectCode| {
        i64::from(place.code) == number || (is_status && i64::from(place.http_status) == number)
    };
    let uses: Vec<(&'static Reason, Vec<DialectCode>)> = reasons
        .iter()
        .map(|reason| (reason, places(reason).into_iter().filter(fits).collect::<Vec<DialectCode>>()))
        .filter(|(_, places)| !places.is_empty())
        .collect();
    if uses.is_empty() {
        let title = format!("no reason has the number {number}");
        return Err(Complaint::new(
            title,
            "see every code in docs/errors.md, or list reasons: failwell explain",
        ));
    }
    Ok(ExplainSubject::Number(number, uses))
}

/// The reasons whose title, detail or hint has all the words, in this order of preference. A single word is the name of a
/// reason, so two are the least.
fn by_text(text: &str, reasons: &ReasonRegistry) -> Option<ExplainSubject> {
    let words = words(text);
    if words.len() < 2 {
        return None;
    }
    let fields: [fn(&Reason) -> &'static str; 4] =
        [|reason| reason.detail, |reason| reason.title, |reason| reason.hint, |reason| reason.about];
    fields.iter().find_map(|field| {
        let found: Vec<&'static Reason> =
            reasons.iter().filter(|reason| matches_template(field(reason), text, &words)).collect();
        match found.as_slice() {
            [] => None,
            [only] => Some(ExplainSubject::One(only)),
            several => Some(ExplainSubject::Several(several.to_vec())),
        }
    })
}

/// Whether the text could have been written from the template, or has only words of it.
fn matches_template(template: &str, text: &str, wanted: &[String]) -> bool {
    if template.is_empty() {
        return false;
    }
    // The fixed part before the first placeholder, as in `Tool not found: {name}`.
    let fixed = template.split('{').next().unwrap_or_default();
    let text = text.to_lowercase();
    if words(fixed).len() >= 2 && text.contains(fixed.trim().to_lowercase().as_str()) {
        return true;
    }
    let has = words(template);
    wanted.iter().all(|word| has.contains(word))
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '_');
    parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect()
}

fn unknown(text: &str, reasons: &ReasonRegistry) -> Complaint {
    let near = nearest(text, reasons);
    let help = if near.is_empty() {
        "list every reason: failwell explain".to_owned()
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    Complaint::new(format!("no reason is called `{}`", shown(text)), help)
}

/// The most similar ids, compared by the whole id and by the name alone.
fn nearest(text: &str, reasons: &ReasonRegistry) -> Vec<&'static str> {
    let wanted = text.to_ascii_uppercase().replace('-', "_");
    let likeness = |id: &str| {
        let whole = id.to_ascii_uppercase();
        let name = whole.split('/').next_back().unwrap_or_default();
        strsim::normalized_damerau_levenshtein(&whole, &wanted)
            .max(strsim::normalized_damerau_levenshtein(name, &wanted))
    };
    let mut near: Vec<(f64, &str)> = reasons.iter().map(|reason| (likeness(reason.id), reason.id)).collect();
    near.retain(|(likeness, _)| *likeness >= LIKE_ENOUGH);
    near.sort_by(|left, right| right.0.total_cmp(&left.0));
    near.into_iter().take(SUGGESTED).map(|(_, id)| id).collect()
}

/// The typed text without control characters, shortened for printing.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests {
    use failwell_fault::ReasonRegistry;

    use super::{ExplainSubject, find};

    #[test]
    fn the_words_of_a_message_find_its_reason() {
        let reasons = ReasonRegistry::core();
        for subject in ["Tool not found", "tool not found: ehco", "error: Tool not found: shop__ehco"] {
            let found = find(subject, &reasons);
            assert!(
                matches!(found, Ok(ExplainSubject::One(reason)) if reason.id == "mcp/UNKNOWN_TOOL"),
                "{subject}"
            );
        }
        assert!(find("words of no message whatsoever", &reasons).is_err());
    }

    #[test]
    fn a_distant_name_is_not_suggested() {
        let error = find("foo", &ReasonRegistry::core()).err().expect("unknown");
        assert!(error.help.starts_with("list every reason"), "{}", error.help);
    }

    #[test]
    fn a_servers_reason_is_found_like_those_of_the_core() {
        let reasons = ReasonRegistry::core().with(failwell_demo::REASONS).expect("a new id");
        for subject in ["lobby/UNKNOWN_REASON", "lobby-unknown-reason", "unknown_reason"] {
            assert!(
                matches!(find(subject, &reasons), Ok(ExplainSubject::One(reason)) if reason.id == "lobby/UNKNOWN_REASON"),
                "{subject}"
            );
        }
        assert!(
            matches!(find("lobby", &reasons), Ok(ExplainSubject::Several(area)) if area.len() == failwell_demo::REASONS.len())
        );
        assert!(find("lobby/UNKNOWN_REASON", &ReasonRegistry::core()).is_err());
    }
}
