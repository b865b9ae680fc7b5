use super::{ApiMethod, MethodRequest};
use crate::api::api_error::ApiResult;
use crate::api::response::Element;

pub(super) const METHODS: &[ApiMethod] =
    &[ApiMethod::reads("rtm.settings.getList", "Lists the account's settings.", get_list)];

fn get_list(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let account = request.account();
    let digit = |set: bool| if set { "1" } else { "0" };
    let default = account.default_list.map(|id| id.to_string()).unwrap_or_default();
    let settings = Element::new("settings")
        .child(Element::text("timezone", account.zone_name.clone()))
        .child(Element::text("dateformat", digit(!account.day_first)))
        .child(Element::text("timeformat", digit(account.hours_24)))
        .child(Element::text("defaultlist", default))
        .child(Element::text("language", account.language.clone()))
        .child(Element::text("defaultduedate", ""))
        .child(Element::text("pro", digit(account.is_pro)));
    Ok(vec![settings])
}
