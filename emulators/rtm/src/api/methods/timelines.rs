use super::{ApiMethod, MethodRequest};
use crate::api::api_error;
use crate::api::api_error::ApiResult;
use crate::api::response::Element;

pub(super) const METHODS: &[ApiMethod] = &[
    ApiMethod::reads(
        "rtm.timelines.create",
        "Starts a timeline, within which changes can be undone.",
        create,
    ),
    ApiMethod::reads("rtm.transactions.undo", "Takes back a transaction of a timeline.", undo)
        .with(&["timeline", "transaction_id"])
        .deletes(),
];

fn create(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let timeline = request.state.new_timeline(request.token);
    Ok(vec![Element::text("timeline", timeline)])
}

fn undo(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let timeline = request.params.get("timeline").unwrap_or_default();
    let owner = request.state.timelines.get(timeline);
    if owner.is_none_or(|owner| owner != request.token) {
        return Err(api_error::BAD_TIMELINE);
    }
    let id = request.id("transaction_id").ok_or(api_error::BAD_TRANSACTION)?;
    let transaction = request.state.transactions.get_mut(&id).ok_or(api_error::BAD_TRANSACTION)?;
    if transaction.timeline != timeline || !transaction.can_be_undone {
        return Err(api_error::BAD_TRANSACTION);
    }
    transaction.can_be_undone = false;
    let transaction = transaction.clone();
    transaction.undo(&mut request.state.account, request.now);
    Ok(vec![])
}
