//! The checks every request passes, in the order `assumed` says, and the method behind them.

use super::methods;
use super::methods::{ApiMethod, Effect, MethodRequest};
use super::params::Params;
use super::signature::sign;
use crate::api::api_error;
use crate::api::api_error::{ApiError, ApiResult};
use crate::api::response::{Element, Format, SingleItemForm, Version};
use crate::assumed::{Check, ORDER};
use crate::state::State;

/// The response format that the request asks for.
pub(crate) struct ResponseOptions {
    pub(crate) format: Format,
    pub(crate) version: Version,
    pub(crate) single: SingleItemForm,
}

impl ResponseOptions {
    pub(crate) fn from_params(params: &Params) -> ResponseOptions {
        let format = match params.given("format") {
            Some("json") => Format::Json {
                callback: params.given("callback").filter(|name| is_name(name)).map(str::to_owned),
            },
            _ => Format::Xml,
        };
        let version = if params.get("v") == Some("2") { Version::Two } else { Version::One };
        let single = if params.get("v") == Some("1") { SingleItemForm::Thing } else { SingleItemForm::List };
        ResponseOptions { format, version, single }
    }
}

/// A callback is a name, so that nothing else can be put into a page this way.
fn is_name(text: &str) -> bool {
    text.len() <= 100 && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'))
}

/// Runs the method, as a whole or not at all.
pub(crate) fn perform(state: &mut State, params: &Params) -> ApiResult<Vec<Element>> {
    let method = methods::find(params.get("method").unwrap_or_default());
    for check in ORDER {
        passes(*check, state, params, method)?;
    }
    let method = method.ok_or_else(|| unknown(params))?;
    let version = ResponseOptions::from_params(params).version;
    let now = state.clock.now();
    let token = params.get("auth_token").unwrap_or_default();
    let outcome = (method.run)(&mut MethodRequest { state: &mut *state, params, version, now, token });
    let can_be_undone = match method.effect {
        Effect::Reads => return outcome,
        Effect::Adds => false,
        Effect::Changes => true,
    };
    let timeline = params.get("timeline").unwrap_or_default().to_owned();
    let transaction = state.account.finish(timeline, can_be_undone);
    let mut children = outcome?;
    let id = state.keep(transaction);
    let element = Element::new("transaction").with("id", id.to_string()).flag("undoable", can_be_undone);
    children.insert(0, element);
    Ok(children)
}

fn unknown(params: &Params) -> ApiError {
    ApiError::unknown_method(params.get("method").unwrap_or_default())
}

fn passes(check: Check, state: &State, params: &Params, method: Option<&'static ApiMethod>) -> ApiResult<()> {
    let allowed = |holds: bool, refusal: ApiError| if holds { Ok(()) } else { Err(refusal) };
    match (check, method) {
        (Check::Format, _) => match params.given("format") {
            None | Some("json" | "rest") => Ok(()),
            Some(other) => Err(ApiError::unknown_format(other)),
        },
        (Check::Key, _) => allowed(params.get("api_key") == Some(&state.api_key), api_error::BAD_KEY),
        (Check::Method, method) => method.map(|_| ()).ok_or_else(|| unknown(params)),
        (_, None) => Err(unknown(params)),
        (Check::Version, Some(method)) => match params.given("v") {
            None | Some("1") => allowed(method.since == Version::One, api_error::BAD_VERSION),
            Some("2") => Ok(()),
            Some(_) => Err(api_error::BAD_VERSION),
        },
        (Check::Signature, Some(method)) => match params.given("api_sig") {
            None => allowed(!method.is_signed, api_error::NO_SIGNATURE),
            Some(given) => allowed(given == sign(&state.secret, params.iter()), api_error::BAD_SIGNATURE),
        },
        (Check::Token, Some(method)) => {
            let known = params.get("auth_token").is_some_and(|token| state.tokens.contains_key(token));
            allowed(method.permission.is_none() || known, api_error::BAD_TOKEN)
        }
        (Check::Permission, Some(method)) => {
            let has = params.get("auth_token").and_then(|token| state.tokens.get(token)).copied();
            allowed(method.permission <= has, api_error::NOT_PERMITTED)
        }
        (Check::Timeline, Some(method)) => {
            let mine = || {
                let owner = state.timelines.get(params.get("timeline").unwrap_or_default());
                owner.is_some_and(|owner| Some(owner.as_str()) == params.get("auth_token"))
            };
            allowed(method.effect == Effect::Reads || mine(), api_error::BAD_TIMELINE)
        }
    }
}
