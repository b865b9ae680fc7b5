use super::{Method, Request};
use crate::account::Location;
use crate::answer::Element;
use crate::refusal::Outcome;

pub(super) const METHODS: &[Method] =
    &[Method::reads("rtm.locations.getList", "Lists the places tasks can be at.", get_list)];

fn element(location: &Location) -> Element {
    Element::new("location")
        .with("id", location.id.to_string())
        .with("name", location.name.clone())
        .with("longitude", location.longitude.to_string())
        .with("latitude", location.latitude.to_string())
        .with("zoom", "9")
        .with("address", location.address.clone())
        .flag("viewable", true)
}

fn get_list(request: &mut Request<'_>) -> Outcome<Vec<Element>> {
    let locations = request.account().locations.values().map(element).collect();
    Ok(vec![Element::wrapper("locations", "location", locations)])
}
