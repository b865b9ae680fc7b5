use super::{ApiMethod, MethodRequest};
use crate::api::api_error::ApiResult;
use crate::api::response::Element;
use crate::assumed;
use crate::state::account::{Group, Id};

pub(super) const METHODS: &[ApiMethod] = &[
    ApiMethod::adds("rtm.groups.add", "Adds a group of contacts.", add).with(&["group"]),
    ApiMethod::adds("rtm.groups.addContact", "Puts a contact into a group.", add_contact)
        .with(&["group_id", "contact_id"]),
    ApiMethod::adds("rtm.groups.delete", "Deletes a group.", delete).with(&["group_id"]).deletes(),
    ApiMethod::reads("rtm.groups.getList", "Lists the groups.", get_list),
    ApiMethod::adds("rtm.groups.removeContact", "Takes a contact out of a group.", remove_contact)
        .with(&["group_id", "contact_id"]),
];

fn element(group: &Group) -> Element {
    let contacts =
        group.contacts.iter().map(|id| Element::new("contact").with("id", id.to_string())).collect();
    Element::new("group")
        .with("id", group.id.to_string())
        .with("name", group.name.clone())
        .child(Element::wrapper("contacts", "contact", contacts))
}

fn add(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let name = request.required("group", assumed::BAD_GROUP_NAME)?.to_owned();
    let account = request.account();
    let group = Group { id: account.fresh(), name, contacts: vec![] };
    let answer = element(&group);
    account.groups.insert(group.id, group);
    Ok(vec![answer])
}

fn delete(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let id = request.id("group_id").ok_or(assumed::BAD_GROUP)?;
    request.account().groups.remove(&id).ok_or(assumed::BAD_GROUP)?;
    Ok(vec![])
}

/// The group and the contact, which are there.
fn pair(request: &mut MethodRequest<'_>) -> ApiResult<(Id, Id)> {
    let group = request.id("group_id").filter(|id| request.state.account.groups.contains_key(id));
    let contact = request.id("contact_id").filter(|id| request.state.account.contacts.contains_key(id));
    Ok((group.ok_or(assumed::BAD_GROUP)?, contact.ok_or(assumed::BAD_CONTACT_ID)?))
}

fn add_contact(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let (group, contact) = pair(request)?;
    let group = request.account().groups.get_mut(&group).ok_or(assumed::BAD_GROUP)?;
    if !group.contacts.contains(&contact) {
        group.contacts.push(contact);
    }
    Ok(vec![])
}

fn remove_contact(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let (group, contact) = pair(request)?;
    let group = request.account().groups.get_mut(&group).ok_or(assumed::BAD_GROUP)?;
    group.contacts.retain(|known| *known != contact);
    Ok(vec![])
}

fn get_list(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let groups = request.account().groups.values().map(element).collect();
    Ok(vec![Element::wrapper("groups", "group", groups)])
}
