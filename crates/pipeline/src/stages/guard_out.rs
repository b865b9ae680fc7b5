//! Stage `guard_out`: content guards on the rendered response, before it leaves. Guards see the bytes that a
//! caller would get. Results, errors and all dialects therefore pass the same inspection.

use failwell_fault::{Effect, Fault, Retry, reason};
use failwell_render::{Moment, Outcome, Reply, ResultKind, render};
use failwell_rpc::{Dialect, Direction, ExpectedResult, Raw, ReplyTo};
use memchr::memmem;

use crate::controls::guards::{GuardedBytes, LARGE, MessageMeta};
use crate::pipeline::Pipeline;
use crate::request::call::STATE;
use crate::request::extension::ResponseContent;
use crate::request::scope::Exchange;

impl Pipeline {
    /// Inspects a response before it leaves. A blocked response becomes a fault.
    pub(crate) fn guard_out(&self, exchange: &mut Exchange<'_>, reply: Reply, now: Moment) -> Option<Reply> {
        if exchange.response() != ResponseContent::Guarded {
            return Some(reply);
        }
        let from = content_start(exchange, &reply.body);
        let meta = self.answer_meta(exchange);
        match self.ports.guards.inspect(direction_of(exchange), meta, &reply.body, from) {
            Ok(None) => Some(reply),
            Ok(Some(body)) => Some(Reply { body, ..reply }),
            Err(fault) => held_back(exchange, fault, now),
        }
    }

    /// Inspects a large response apart from the threads that serve connections.
    pub(crate) async fn guard_out_apart(
        &self,
        exchange: &mut Exchange<'_>,
        reply: Reply,
        now: Moment,
    ) -> Option<Reply> {
        if reply.body.len() <= LARGE || exchange.response() != ResponseContent::Guarded {
            return self.guard_out(exchange, reply, now);
        }
        let from = content_start(exchange, &reply.body);
        let (direction, body) = (direction_of(exchange), reply.body);
        let inspection = self.ports.guards.inspect_apart(direction, self.answer_meta(exchange), body, from);
        match inspection.await {
            Ok(GuardedBytes::Unchanged(body) | GuardedBytes::Redacted(body)) => Some(Reply { body, ..reply }),
            Err(fault) => held_back(exchange, fault, now),
        }
    }

    /// Asks the custom guards about a response. A fault of the guards themselves is our own text, and is not
    /// inspected again.
    pub(crate) async fn guard_out_custom(
        &self,
        exchange: &mut Exchange<'_>,
        reply: Reply,
        now: Moment,
    ) -> Option<Reply> {
        let direction = direction_of(exchange);
        let is_ours = exchange.outcome.as_ref().err().is_some_and(|fault| {
            *fault.reason() == reason::POLICY_BLOCKED || *fault.reason() == reason::POLICY_GUARD_FAILED
        });
        let is_guarded = exchange.response() == ResponseContent::Guarded;
        if is_ours || !is_guarded || !self.ports.guards.asks_in(direction) {
            return Some(reply);
        }
        let from = content_start(exchange, &reply.body);
        let left = self.ports.guards.ask(direction, self.answer_meta(exchange), &reply.body, from).await;
        match left {
            Ok(None) => Some(reply),
            Ok(Some(body)) => Some(Reply { body, ..reply }),
            Err(fault) => held_back(exchange, fault, now),
        }
    }

    /// The facts about the response that guards can use.
    fn answer_meta<'s>(&'s self, exchange: &'s Exchange<'_>) -> MessageMeta<'s> {
        let route = exchange.log.route();
        let (on, tool) = self.subjects(route);
        MessageMeta {
            server: self.guarded_server(route),
            on,
            tool,
            method: exchange.method.unwrap_or_default(),
            caller: exchange.caller.map_or("", |caller| caller.name()),
            to: Some(&exchange.to),
            connection: exchange.connection,
            verdicts: Some(exchange.log.verdicts()),
        }
    }
}

fn direction_of(exchange: &Exchange<'_>) -> Direction {
    match &exchange.outcome {
        Ok(Outcome::ToolFailed(_)) | Err(_) => Direction::Error,
        // The report of a failing tool is its result, in every dialect.
        Ok(_) => Direction::Result,
    }
}

/// Replaces a response that may not leave with its fault. The effect of the work stays.
fn held_back(exchange: &mut Exchange<'_>, fault: Fault, now: Moment) -> Option<Reply> {
    let effect = effect(&exchange.to, &exchange.outcome);
    exchange.outcome = Err(withheld(fault, effect).with_effect(effect));
    render(&exchange.to, &exchange.outcome, None, now)
}

/// The fault of a response that may not leave. Another attempt would repeat work that is done.
fn withheld(fault: Fault, effect: Effect) -> Fault {
    let fault = match *fault.reason() == reason::SERVER_BUSY {
        // The request itself was not too many.
        true => {
            let why = "too many large messages are waiting for their inspection";
            let failed = Fault::new(&reason::POLICY_GUARD_FAILED).fact("guard", "content").fact("why", why);
            failed.absorbing(fault)
        }
        false => fault,
    };
    if *fault.reason() == reason::POLICY_BLOCKED {
        return fault.advise(&reason::POLICY_BLOCKED_ANSWER).retry_as(Retry::Never);
    }
    match effect {
        Effect::None => fault,
        Effect::Unknown | Effect::Partial | Effect::Complete => {
            fault.advise(&reason::POLICY_UNJUDGED_ANSWER).retry_as(Retry::Never)
        }
    }
}

/// The effect of work whose response does not reach the caller.
pub(crate) fn effect(to: &ReplyTo, happened: &Result<Outcome, Fault>) -> Effect {
    match happened {
        Err(fault) => fault.effect(),
        Ok(Outcome::ToolFailed(failed)) => failed.fault.effect(),
        Ok(Outcome::ReportedFailure(failed)) => failed.fault.effect(),
        Ok(Outcome::Value(_)) => Effect::Complete,
        Ok(_) if matches!(to.asked, ExpectedResult::Tool | ExpectedResult::ToolOrError) => Effect::Complete,
        Ok(_) => Effect::None,
    }
}

/// The offset of the content in a response: after the id and a sealed state, which clients must get unchanged.
fn content_start(exchange: &Exchange<'_>, body: &[u8]) -> usize {
    let after_id = after_id(&exchange.to, body);
    match &exchange.outcome {
        Ok(Outcome::Mcp { members, kind: ResultKind::InputRequired, .. }) => {
            let state = members.get(STATE).map_or("", Raw::text).as_bytes();
            let rest = body.get(after_id..).unwrap_or_default();
            memmem::find(rest, state).map_or(after_id, |at| after_id + at + state.len())
        }
        _ => after_id,
    }
}

/// The offset after the id, because an id is returned exactly as the client sent it.
fn after_id(to: &ReplyTo, body: &[u8]) -> usize {
    const AHEAD: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
    match (to.dialect, &to.id) {
        (Dialect::Mcp(_) | Dialect::Rpc, Some(id)) if body.starts_with(AHEAD) => {
            AHEAD.len() + id.text().len()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use failwell_fault::{Effect, Fault, Retry, reason};

    use super::withheld;

    #[test]
    fn work_that_is_done_is_not_to_be_repeated() {
        for (fault, effect, expected, retry) in [
            (&reason::SERVER_BUSY, Effect::Complete, "policy/GUARD_FAILED", Some(Retry::Never)),
            (&reason::SERVER_BUSY, Effect::Unknown, "policy/GUARD_FAILED", Some(Retry::Never)),
            (&reason::SERVER_BUSY, Effect::None, "policy/GUARD_FAILED", None),
            (&reason::POLICY_GUARD_FAILED, Effect::Complete, "policy/GUARD_FAILED", Some(Retry::Never)),
            (&reason::POLICY_GUARD_FAILED, Effect::None, "policy/GUARD_FAILED", None),
            (&reason::POLICY_BLOCKED, Effect::None, "policy/BLOCKED", Some(Retry::Never)),
        ] {
            let usual = Fault::new(&reason::POLICY_GUARD_FAILED).retry();
            let fault = withheld(Fault::new(fault), effect);
            assert_eq!((fault.reason().id, fault.retry()), (expected, retry.unwrap_or(usual)), "{effect:?}");
            assert_eq!(fault.hint().contains("do not repeat"), effect != Effect::None, "{}", fault.hint());
        }
    }
}
