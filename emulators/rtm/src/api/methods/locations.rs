use super::{ApiMethod, MethodRequest};
use crate::api::api_error::ApiResult;
use crate::api::response::Element;
use crate::state::account::Location;

pub(super) const METHODS: &[ApiMethod] =
    &[ApiMethod::reads("rtm.locations.getList", "Lists the places tasks can be at.", get_list)];

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

fn get_list(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let locations = request.account().locations.values().map(element).collect();
    Ok(vec![Element::wrapper("locations", "location", locations)])
}
