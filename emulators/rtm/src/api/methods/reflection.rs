use super::{ApiMethod, Effect, MethodRequest, all, find};
use crate::api::api_error::{ApiError, ApiResult};
use crate::api::response::Element;
use crate::state::Permission;

pub(super) const METHODS: &[ApiMethod] = &[
    ApiMethod::open("rtm.reflection.getMethodInfo", "Describes a method.", get_method_info)
        .with(&["method_name"]),
    ApiMethod::open("rtm.reflection.getMethods", "Lists the methods.", get_methods),
];

fn get_methods(_: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let mut names: Vec<&str> = all().map(|method| method.name).collect();
    names.sort_unstable();
    let names = names.into_iter().map(|name| Element::text("method", name)).collect();
    Ok(vec![Element::new("methods").many("method", names)])
}

fn get_method_info(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let name = request.params.get("method_name").unwrap_or_default();
    let method = find(name).ok_or_else(|| ApiError::unknown_method(name))?;
    let level = match method.permission {
        None => "0",
        Some(Permission::Read) => "1",
        Some(Permission::Write) => "2",
        Some(Permission::Delete) => "3",
    };
    let timeline: &[&str] = if method.effect == Effect::Reads { &[] } else { &["timeline"] };
    let arguments = ["api_key"].iter().chain(timeline).chain(method.arguments);
    let arguments = arguments.map(|name| {
        let (name, optional) = name.strip_suffix('?').map_or((*name, false), |name| (name, true));
        Element::new("argument").with("name", name).flag("optional", optional)
    });
    let element = Element::new("method")
        .with("name", method.name)
        .flag("needslogin", method.permission.is_some())
        .flag("needssigning", method.is_signed)
        .with("requiredperms", level)
        .child(Element::text("description", method.about))
        .child(Element::wrapper("arguments", "argument", arguments.collect()));
    Ok(vec![element])
}
