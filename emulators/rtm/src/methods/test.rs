use super::{Method, Request};
use crate::answer::Element;
use crate::refusal::Outcome;

pub(super) const METHODS: &[Method] = &[
    Method::open("rtm.test.echo", "Answers with what was sent.", echo).unsigned(),
    Method::reads("rtm.test.login", "Says who is logged in.", login),
];

fn echo(request: &mut Request<'_>) -> Outcome<Vec<Element>> {
    // A parameter of this name would stand where the outcome does.
    let sent = request.params.iter().filter(|(name, _)| *name != "stat");
    Ok(sent.map(|(name, value)| Element::text(name.to_owned(), value)).collect())
}

fn login(request: &mut Request<'_>) -> Outcome<Vec<Element>> {
    let user = &request.account().user;
    let name = Element::text("username", user.username.clone());
    Ok(vec![Element::new("user").with("id", user.id.to_string()).child(name)])
}
