//! Subscriptions are stored and listed. No notification is ever sent: the service wants HTTPS with a certificate the world trusts.

use jiff::SignedDuration;

use super::shared::time;
use super::{ApiMethod, MethodRequest};
use crate::api::api_error::ApiResult;
use crate::api::response::Element;
use crate::assumed;
use crate::state::account::Subscription;

pub(super) const METHODS: &[ApiMethod] = &[
    ApiMethod::reads("rtm.push.getSubscriptions", "Lists the subscriptions.", get_subscriptions),
    ApiMethod::reads("rtm.push.getTopics", "Lists the topics.", get_topics),
    ApiMethod::adds("rtm.push.subscribe", "Adds a subscription.", subscribe).with(&[
        "url",
        "topics",
        "push_format",
        "lease_seconds?",
        "filter?",
    ]),
    ApiMethod::adds("rtm.push.unsubscribe", "Ends a subscription.", unsubscribe).with(&["subscription_id"]),
];

const TOPICS: &[&str] =
    &["changes_available", "task_completed", "task_created", "task_received", "task_tagged"];

fn topics<'a>(names: impl IntoIterator<Item = &'a str>) -> Element {
    Element::wrapper("topics", "topic", names.into_iter().map(|name| Element::text("topic", name)).collect())
}

fn element(subscription: &Subscription) -> Element {
    Element::new("subscription")
        .with("id", subscription.id.to_string())
        .with("url", subscription.url.clone())
        .with("format", subscription.format.clone())
        .with("expires", subscription.expires.map(time).unwrap_or_default())
        .flag("pending", true)
        .with("filter", subscription.filter.clone())
        .child(topics(subscription.topics.iter().map(String::as_str)))
}

fn get_topics(_: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    Ok(vec![topics(TOPICS.iter().copied())])
}

fn get_subscriptions(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let now = request.now;
    let alive = |one: &&Subscription| one.expires.is_none_or(|expires| expires > now);
    let all = request.account().subscriptions.values().filter(alive).map(element).collect();
    Ok(vec![Element::wrapper("subscriptions", "subscription", all)])
}

fn subscribe(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let url = request.required("url", assumed::BAD_PUSH)?.to_owned();
    let topics: Vec<String> = request
        .required("topics", assumed::BAD_PUSH)?
        .split(',')
        .map(|topic| topic.trim().to_owned())
        .collect();
    let format = request.required("push_format", assumed::BAD_PUSH)?.to_owned();
    let known = topics.iter().all(|topic| TOPICS.contains(&topic.as_str()));
    let taken = request.state.account.subscriptions.values().any(|one| one.url == url);
    if !url.starts_with("https://") || !known || taken || !matches!(format.as_str(), "json" | "xml") {
        return Err(assumed::BAD_PUSH);
    }
    let expires = match request.params.given("lease_seconds").map(str::parse::<i64>) {
        None => None,
        Some(Ok(seconds @ 60..=86_400)) => request.now.checked_add(SignedDuration::from_secs(seconds)).ok(),
        Some(_) => return Err(assumed::BAD_PUSH),
    };
    let filter = request.params.get("filter").unwrap_or_default().to_owned();
    let account = request.account();
    let subscription = Subscription { id: account.fresh(), url, format, topics, filter, expires };
    let answer = element(&subscription);
    account.subscriptions.insert(subscription.id, subscription);
    Ok(vec![answer])
}

fn unsubscribe(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let id = request.id("subscription_id").ok_or(assumed::BAD_SUBSCRIPTION)?;
    request.account().subscriptions.remove(&id).ok_or(assumed::BAD_SUBSCRIPTION)?;
    Ok(vec![])
}
