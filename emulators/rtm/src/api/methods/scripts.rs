//! Scripts are kept and listed. None is ever run.

use super::{ApiMethod, MethodRequest};
use crate::api::api_error::ApiResult;
use crate::api::response::Element;
use crate::assumed;
use crate::state::account::Script;

pub(super) const METHODS: &[ApiMethod] = &[
    ApiMethod::adds("rtm.scripts.add", "Adds a script.", add).with(&["name", "code?", "params?"]),
    ApiMethod::adds("rtm.scripts.delete", "Deletes a script.", delete).with(&["script_id"]).deletes(),
    ApiMethod::reads("rtm.scripts.getList", "Lists the scripts.", get_list),
    ApiMethod::adds("rtm.scripts.run", "Runs a script; refused here.", run).with(&["script_id"]),
    ApiMethod::adds("rtm.scripts.setCode", "Changes a script.", set_code).with(&["script_id", "code"]),
    ApiMethod::adds("rtm.scripts.setName", "Renames a script.", set_name).with(&["script_id", "name"]),
    ApiMethod::adds("rtm.scripts.setParams", "Sets what a script is run with.", set_params)
        .with(&["script_id", "params"]),
];

fn element(script: &Script) -> Element {
    Element::new("script")
        .with("id", script.id.to_string())
        .with("name", script.name.clone())
        .child(Element::text("code", script.code.clone()))
        .child(Element::text("params", script.params.clone()))
}

fn add(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let name = request.required("name", assumed::BAD_SCRIPT)?.to_owned();
    let text = |name: &str| request.params.get(name).unwrap_or_default().to_owned();
    let (code, params) = (text("code"), text("params"));
    let account = request.account();
    let script = Script { id: account.fresh(), name, code, params };
    let answer = element(&script);
    account.scripts.insert(script.id, script);
    Ok(vec![answer])
}

fn change(request: &mut MethodRequest<'_>, set: impl FnOnce(&mut Script)) -> ApiResult<Vec<Element>> {
    let id = request.id("script_id").ok_or(assumed::BAD_SCRIPT)?;
    let script = request.account().scripts.get_mut(&id).ok_or(assumed::BAD_SCRIPT)?;
    set(script);
    Ok(vec![element(script)])
}

fn set_code(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let code = request.params.get("code").unwrap_or_default().to_owned();
    change(request, |script| script.code = code)
}

fn set_name(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let name = request.required("name", assumed::BAD_SCRIPT)?.to_owned();
    change(request, |script| script.name = name)
}

fn set_params(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let params = request.params.get("params").unwrap_or_default().to_owned();
    change(request, |script| script.params = params)
}

fn delete(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let id = request.id("script_id").ok_or(assumed::BAD_SCRIPT)?;
    request.account().scripts.remove(&id).ok_or(assumed::BAD_SCRIPT)?;
    Ok(vec![])
}

fn run(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let known = request.id("script_id").is_some_and(|id| request.state.account.scripts.contains_key(&id));
    Err(if known { assumed::NO_SCRIPTS } else { assumed::BAD_SCRIPT })
}

fn get_list(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let scripts = request.account().scripts.values().map(element).collect();
    Ok(vec![Element::wrapper("scripts", "script", scripts)])
}
