use super::{Method, Request};
use crate::answer::Element;
use crate::refusal::{self, Outcome};

pub(super) const METHODS: &[Method] = &[
    Method::reads("rtm.timelines.create", "Starts a timeline, within which changes can be undone.", create),
    Method::reads("rtm.transactions.undo", "Takes back a transaction of a timeline.", undo)
        .with(&["timeline", "transaction_id"])
        .deletes(),
];

fn create(request: &mut Request<'_>) -> Outcome<Vec<Element>> {
    let timeline = request.state.new_timeline(request.token);
    Ok(vec![Element::text("timeline", timeline)])
}

fn undo(request: &mut Request<'_>) -> Outcome<Vec<Element>> {
    let timeline = request.params.get("timeline").unwrap_or_default();
    let owner = request.state.timelines.get(timeline);
    if owner.is_none_or(|owner| owner != request.token) {
        return Err(refusal::BAD_TIMELINE);
    }
    let id = request.id("transaction_id").ok_or(refusal::BAD_TRANSACTION)?;
    let transaction = request.state.transactions.get_mut(&id).ok_or(refusal::BAD_TRANSACTION)?;
    if transaction.timeline != timeline || !transaction.can_be_undone {
        return Err(refusal::BAD_TRANSACTION);
    }
    transaction.can_be_undone = false;
    let transaction = transaction.clone();
    transaction.undo(&mut request.state.account, request.now);
    Ok(vec![])
}
