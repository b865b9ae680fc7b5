use super::{ApiMethod, MethodRequest};
use crate::api::api_error;
use crate::api::api_error::ApiResult;
use crate::api::response::Element;
use crate::assumed;
use crate::state::account::{Contact, same};

pub(super) const METHODS: &[ApiMethod] = &[
    ApiMethod::adds("rtm.contacts.add", "Adds a contact by user name.", add).with(&["contact"]),
    ApiMethod::adds("rtm.contacts.delete", "Deletes a contact.", delete).with(&["contact_id"]).deletes(),
    ApiMethod::reads("rtm.contacts.getList", "Lists the contacts.", get_list),
];

fn element(contact: &Contact) -> Element {
    Element::new("contact")
        .with("id", contact.id.to_string())
        .with("fullname", contact.fullname.clone())
        .with("username", contact.username.clone())
}

fn add(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let name = request.required("contact", api_error::BAD_CONTACT)?.to_owned();
    let account = request.account();
    if same(&account.user.username, &name) {
        return Err(api_error::OWN_CONTACT);
    }
    if account.contacts.values().any(|contact| same(&contact.username, &name)) {
        return Err(api_error::CONTACT_EXISTS);
    }
    let person = account.people.iter().find(|person| same(&person.username, &name)).cloned();
    let person = person.ok_or(api_error::NO_SUCH_PERSON)?;
    let answer = element(&person);
    account.contacts.insert(person.id, person);
    Ok(vec![answer])
}

fn delete(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let id = request.id("contact_id").ok_or(assumed::BAD_CONTACT_ID)?;
    let account = request.account();
    account.contacts.remove(&id).ok_or(assumed::BAD_CONTACT_ID)?;
    for group in account.groups.values_mut() {
        group.contacts.retain(|contact| *contact != id);
    }
    Ok(vec![])
}

fn get_list(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let contacts = request.account().contacts.values().map(element).collect();
    Ok(vec![Element::wrapper("contacts", "contact", contacts)])
}
