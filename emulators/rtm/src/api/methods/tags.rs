use std::collections::BTreeSet;

use super::{ApiMethod, MethodRequest};
use crate::api::api_error::ApiResult;
use crate::api::response::Element;

pub(super) const METHODS: &[ApiMethod] =
    &[ApiMethod::reads("rtm.tags.getList", "Lists the tags in use.", get_list)];

fn get_list(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let series = request.account().series.values().filter(|series| series.is_alive());
    let tags: BTreeSet<&String> = series.flat_map(|series| &series.tags).collect();
    let tags = tags.into_iter().map(|tag| Element::new("tag").with("name", tag.clone())).collect();
    Ok(vec![Element::wrapper("tags", "tag", tags)])
}
