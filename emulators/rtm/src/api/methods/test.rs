use super::{ApiMethod, MethodRequest};
use crate::api::api_error::ApiResult;
use crate::api::response::Element;

pub(super) const METHODS: &[ApiMethod] = &[
    ApiMethod::open("rtm.test.echo", "Answers with what was sent.", echo).unsigned(),
    ApiMethod::reads("rtm.test.login", "Says who is logged in.", login),
];

fn echo(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    // A parameter of this name would stand where the outcome does.
    let sent = request.params.iter().filter(|(name, _)| *name != "stat");
    Ok(sent.map(|(name, value)| Element::text(name.to_owned(), value)).collect())
}

fn login(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let user = &request.account().user;
    let name = Element::text("username", user.username.clone());
    Ok(vec![Element::new("user").with("id", user.id.to_string()).child(name)])
}
