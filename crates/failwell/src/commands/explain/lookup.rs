use failwell_fault::{Reason, reason};

use super::entry::{Place, places};
use crate::complaint::Complaint;

/// What a subject turned out to be.
pub(super) enum Found {
    /// One reason.
    One(&'static Reason),
    /// Several: a room, or all.
    Several(Vec<&'static Reason>),
    /// A number, with the reasons that use it and the faces on which they do.
    Number(i64, Vec<(&'static Reason, Vec<Place>)>),
}

/// How many near names are suggested.
const SUGGESTED: usize = 3;

/// Finds a reason by identity, anchor or unique name, a room, or a number.
pub(super) fn find(subject: &str) -> Result<Found, Complaint> {
    let plain = subject.trim().replace('\u{2212}', "-");
    if let Ok(number) = plain.parse() {
        return by_number(number);
    }
    let room: Vec<&'static Reason> =
        reason::all().filter(|reason| reason.room().eq_ignore_ascii_case(&plain)).collect();
    if !room.is_empty() {
        return Ok(Found::Several(room));
    }
    let named: Vec<&'static Reason> = reason::all().filter(|reason| is_named(reason, &plain)).collect();
    match named.as_slice() {
        [only] => Ok(Found::One(only)),
        [] => Err(unknown(&plain)),
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

fn by_number(number: i64) -> Result<Found, Complaint> {
    // 200 says nothing about a failure; JSON-RPC carries most of its errors on it.
    let is_status = (400..600).contains(&number);
    let fits = |place: &Place| {
        i64::from(place.code) == number || (is_status && i64::from(place.http_status) == number)
    };
    let uses: Vec<(&'static Reason, Vec<Place>)> = reason::all()
        .map(|reason| (reason, places(reason).into_iter().filter(fits).collect::<Vec<Place>>()))
        .filter(|(_, places)| !places.is_empty())
        .collect();
    if uses.is_empty() {
        let title = format!("no reason has the number {number}");
        return Err(Complaint::new(
            title,
            "see every code in docs/errors.md, or list reasons: failwell explain",
        ));
    }
    Ok(Found::Number(number, uses))
}

fn unknown(text: &str) -> Complaint {
    let near = nearest(text);
    let help = if near.is_empty() {
        "list every reason: failwell explain".to_owned()
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    Complaint::new(format!("no reason is called `{}`", shown(text)), help)
}

/// The nearest identities, by whole identity or by name alone.
fn nearest(text: &str) -> Vec<&'static str> {
    let wanted = text.to_ascii_uppercase().replace('-', "_");
    let likeness = |id: &str| {
        let whole = id.to_ascii_uppercase();
        let name = whole.split('/').next_back().unwrap_or_default();
        strsim::normalized_damerau_levenshtein(&whole, &wanted)
            .max(strsim::normalized_damerau_levenshtein(name, &wanted))
    };
    let mut near: Vec<(f64, &str)> = reason::all().map(|reason| (likeness(reason.id), reason.id)).collect();
    near.retain(|(likeness, _)| *likeness >= 0.5);
    near.sort_by(|left, right| right.0.total_cmp(&left.0));
    near.into_iter().take(SUGGESTED).map(|(_, id)| id).collect()
}

/// What was typed, short and harmless enough to print.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}
