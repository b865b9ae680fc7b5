use super::{ApiMethod, MethodRequest};
use crate::api::api_error;
use crate::api::api_error::ApiResult;
use crate::api::response::Element;
use crate::state::Permission;

pub(super) const METHODS: &[ApiMethod] = &[
    ApiMethod::reads(
        "rtm.auth.checkToken",
        "Says whose an authentication token is and what it allows.",
        check_token,
    ),
    ApiMethod::open("rtm.auth.getFrob", "Returns a frob to be approved by the user.", get_frob),
    ApiMethod::open("rtm.auth.getToken", "Returns the token of an approved frob.", get_token).with(&["frob"]),
];

fn auth(request: &MethodRequest<'_>, token: &str, permission: Permission) -> Element {
    let user = &request.state.account.user;
    let user = Element::new("user")
        .with("id", user.id.to_string())
        .with("username", user.username.clone())
        .with("fullname", user.fullname.clone());
    Element::new("auth")
        .child(Element::text("token", token))
        .child(Element::text("perms", permission.name()))
        .child(user)
}

fn check_token(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let permission = *request.state.tokens.get(request.token).ok_or(api_error::BAD_TOKEN)?;
    Ok(vec![auth(request, request.token, permission)])
}

fn get_frob(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    Ok(vec![Element::text("frob", request.state.new_frob())])
}

fn get_token(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let frob = request.params.get("frob").unwrap_or_default();
    let (token, permission) = request.state.redeem(frob).ok_or(api_error::BAD_FROB)?;
    Ok(vec![auth(request, &token, permission)])
}
