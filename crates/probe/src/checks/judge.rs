//! From what came back to a verdict.

use super::check::{Expectation, ExpectedRefusal, Severity};
use super::verdict::Verdict;
use crate::connection::exchange::{Exchange, ServerAnswer};
use crate::revision::Revision;

/// Judges an exchange.
pub(crate) fn judge(expect: &Expectation, exchange: &Exchange) -> Verdict {
    if let Some(status) = exchange.status().filter(|status| *status >= 500) {
        return Verdict::broken(format!(
            "HTTP {status}: the server blames itself for a mistake of the caller"
        ));
    }
    match expect {
        Expectation::Refusal(wanted) => refused(wanted, exchange),
        Expectation::Result => result(exchange),
        Expectation::OneAnswer { silence } => one_answer(*silence, exchange),
        Expectation::Silence => silence(exchange),
        Expectation::Status { held, short } => status(held, short, exchange),
        Expectation::Custom(_, by) => by(exchange),
    }
}

/// Describes the expectation in words.
pub(crate) fn wanted(expect: &Expectation, revision: Revision) -> String {
    match expect {
        Expectation::Refusal(refusal) => {
            let statuses: Vec<String> = refusal.statuses.iter().map(u16::to_string).collect();
            let http =
                if statuses.is_empty() { String::new() } else { format!(", HTTP {}", statuses.join(" or ")) };
            format!("error {}{http}", list(&spoken(refusal.codes, revision)))
        }
        Expectation::Result => "a result with the same id".to_owned(),
        Expectation::OneAnswer { .. } => "exactly one answer: an error or a result".to_owned(),
        Expectation::Silence => "no answer (over HTTP: 202, or a refusal)".to_owned(),
        Expectation::Status { held, .. } => {
            let held: Vec<String> = held.iter().map(u16::to_string).collect();
            format!("HTTP {}", held.join(" or "))
        }
        Expectation::Custom(words, _) => (*words).to_owned(),
    }
}

pub(crate) fn marked(mark: Severity, why: String) -> Verdict {
    match mark {
        Severity::Held => Verdict::noted(why),
        Severity::Short => Verdict::short(why),
        Severity::Broken => Verdict::broken(why),
    }
}

/// The codes that exist in a revision: −32020 and its neighbours began with 2026-07-28.
fn spoken(codes: &[i64], revision: Revision) -> Vec<i64> {
    codes.iter().copied().filter(|code| revision.is_modern() || !(-32099..=-32020).contains(code)).collect()
}

fn list(codes: &[i64]) -> String {
    codes.iter().map(i64::to_string).collect::<Vec<_>>().join(" or ")
}

fn refused(wanted: &ExpectedRefusal, exchange: &Exchange) -> Verdict {
    match exchange.answer() {
        ServerAnswer::Nothing => no_answer(wanted, exchange),
        ServerAnswer::Result(_) => Verdict::broken("it was answered with a result as if nothing were wrong"),
        ServerAnswer::Failed(_) => {
            marked(wanted.failed, "a failed tool result instead of a protocol error".to_owned())
        }
        ServerAnswer::Error { code, message } => {
            let codes = spoken(wanted.codes, exchange.revision);
            if !codes.contains(&code) {
                let why = format!("refused with {code} instead of {}", list(&codes));
                return if wanted.near.contains(&code) { Verdict::short(why) } else { Verdict::broken(why) };
            }
            if wanted.anonymous != Severity::Held && exchange.id.is_some() && !exchange.echoes_id(message) {
                let why = "the id was readable and is not in the answer";
                return marked(wanted.anonymous, why.to_owned());
            }
            match exchange.status() {
                Some(status) if !wanted.statuses.is_empty() && !wanted.statuses.contains(&status) => {
                    Verdict::broken(format!("the right error under HTTP {status}"))
                }
                _ => Verdict::HELD,
            }
        }
    }
}

fn no_answer(wanted: &ExpectedRefusal, exchange: &Exchange) -> Verdict {
    match exchange.status() {
        Some(status @ 400..=499) => {
            Verdict::short(format!("HTTP {status} without a JSON-RPC error: a client cannot show why"))
        }
        Some(status) => Verdict::broken(format!("HTTP {status} without an error")),
        None => match &exchange.trouble {
            Some(why) => Verdict::broken(why.clone()),
            None => marked(wanted.silence, quiet(exchange)),
        },
    }
}

fn quiet(exchange: &Exchange) -> String {
    if exchange.id.is_some() { "no answer: the caller waits until its own timeout" } else { "no answer" }
        .to_owned()
}

fn result(exchange: &Exchange) -> Verdict {
    match exchange.answer() {
        ServerAnswer::Result(message) | ServerAnswer::Failed(message) if exchange.echoes_id(message) => {
            once(exchange)
        }
        ServerAnswer::Result(_) | ServerAnswer::Failed(_) => Verdict::broken("the id came back changed"),
        ServerAnswer::Error { code, .. } => Verdict::broken(format!("refused with {code}")),
        ServerAnswer::Nothing => nothing(exchange),
    }
}

fn nothing(exchange: &Exchange) -> Verdict {
    if exchange.messages.iter().any(crate::connection::message::Message::is_answer) {
        return Verdict::broken("the id came back changed");
    }
    match (exchange.status(), &exchange.trouble) {
        (Some(status), _) => Verdict::broken(format!("HTTP {status} without an answer")),
        (None, Some(why)) => Verdict::broken(why.clone()),
        (None, None) => Verdict::broken("no answer"),
    }
}

fn once(exchange: &Exchange) -> Verdict {
    match exchange.answers().len() {
        0 | 1 => Verdict::HELD,
        more => Verdict::broken(format!("answered {more} times")),
    }
}

fn one_answer(silence: Severity, exchange: &Exchange) -> Verdict {
    if matches!(exchange.answer(), ServerAnswer::Nothing) {
        return match (exchange.status(), &exchange.trouble) {
            (Some(400..=499), _) => Verdict::HELD,
            (Some(status), _) => Verdict::broken(format!("HTTP {status} without an answer")),
            (None, Some(why)) => marked(silence, why.clone()),
            (None, None) => marked(silence, quiet(exchange)),
        };
    }
    once(exchange)
}

fn silence(exchange: &Exchange) -> Verdict {
    let mut answers =
        exchange.messages.iter().filter(|message| message.is_answer() && !message.answers_a_request());
    if let Some(answer) = answers.next() {
        let refused = exchange.status().is_some_and(|status| (400..500).contains(&status));
        return match (answer.result(), refused) {
            (Some(_), _) => Verdict::broken("answered with a result"),
            (None, true) => Verdict::HELD,
            (None, false) => Verdict::broken("answered with an error"),
        };
    }
    match exchange.status() {
        None => exchange.trouble.as_ref().map_or(Verdict::HELD, Verdict::broken),
        Some(202 | 204 | 400..=499) => Verdict::HELD,
        Some(200) => Verdict::short("HTTP 200 instead of 202"),
        Some(status) => Verdict::broken(format!("HTTP {status} instead of 202")),
    }
}

fn status(held: &[u16], short: &[u16], exchange: &Exchange) -> Verdict {
    match (exchange.status(), &exchange.trouble) {
        (Some(status), _) if held.contains(&status) => Verdict::HELD,
        (Some(status), _) if short.contains(&status) => {
            Verdict::short(format!("refused, but with HTTP {status}"))
        }
        (Some(status), _) => Verdict::broken(format!("HTTP {status}")),
        (None, Some(why)) => Verdict::broken(why.clone()),
        (None, None) => Verdict::broken("no answer"),
    }
}
