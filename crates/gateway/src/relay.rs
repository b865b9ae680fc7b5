//! Calls that cross eras, ask the client questions, or continue as tasks.

mod pending_calls;
mod rounds;
mod tasks;

use std::sync::Arc;

use failwell_fault::Fault;
use failwell_rpc::{Era, Json};
use failwell_toolbox::{Capability, Context, Members};

pub(crate) use self::pending_calls::PendingCalls;
use self::rounds::call_with_rounds;
use self::tasks::follow_session_task;
use crate::upstream::{
    ClientRelay, ParsedResult, PooledConnection, RequestParams, Upstream, UpstreamRequest,
};

/// Sends a request whose upstream may ask questions before it answers.
pub(crate) async fn call_upstream(
    upstream: &Arc<Upstream>,
    method: &'static str,
    params: &mut RequestParams,
    cx: &Context,
    pending_calls: &Arc<PendingCalls>,
) -> Result<Members, Fault> {
    let pooled = upstream.acquire(cx).await?;
    match pooled.connection.era() {
        Era::Modern => call_with_rounds(upstream, &pooled, method, params, cx).await,
        // Boxed: the future of a call between a modern client and a modern upstream stays small.
        Era::Session => {
            Box::pin(call_session_upstream(upstream, pooled, method, params, cx, pending_calls)).await
        }
    }
}

async fn call_session_upstream(
    upstream: &Arc<Upstream>,
    pooled: PooledConnection,
    method: &'static str,
    params: &RequestParams,
    cx: &Context,
    pending_calls: &Arc<PendingCalls>,
) -> Result<Members, Fault> {
    let send = |relay| send_in_session(upstream.clone(), pooled, method, params.clone(), relay);
    let is_session = cx.client().revision.era() == Era::Session;
    // A client that supports tasks gets questions through the task.
    let is_followed = params.is_task() && cx.client().can(Capability::Tasks);
    let result = match is_session || is_followed {
        true => send(ClientRelay::direct(cx)).await?,
        false => pending_calls.call(cx, send).await?,
    };
    Ok(ParsedResult::parse(result).members)
}

/// Sends a request to a session-era upstream, which asks its questions while the request is open.
async fn send_in_session(
    upstream: Arc<Upstream>,
    pooled: PooledConnection,
    method: &'static str,
    params: RequestParams,
    relay: ClientRelay,
) -> Result<Json, Fault> {
    let request = UpstreamRequest::new(method, &params).on(&pooled).relayed(&relay);
    let result = upstream.request(&relay.cx, &request).await?;
    if params.is_task() { follow_session_task(&upstream, result, &relay).await } else { Ok(result) }
}
