//! Permissions in Cedar, for those who outgrow lists.
//!
//! | | |
//! |---|---|
//! | principal | `Caller::"key:ci"`, in its `Role::"admin"` |
//! | action | `Action::"see"`, `Action::"call"`, `Action::"read"`, `Action::"get"` |
//! | resource | `Tool::"files/write"`, `Resource::"files/file:///x"` or `Prompt::"files/plan"`, in its `Server::"files"` |
//! | context | `arguments` of a call; what Cedar has no type for (fractions, null) is left out |
//!
//! Nothing is permitted that no policy permits, and nothing while a policy cannot be evaluated: a `forbid` that
//! trips over a missing argument forbids.

use std::collections::HashSet;
use std::str::FromStr;

use cedar_policy::{
    ActionConstraint, Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid,
    PolicySet, PrincipalConstraint, Request, ResourceConstraint,
};
use serde_json::{Map, Value};

use crate::thing::{Act, Thing};
use crate::{Caller, Sort};

/// A set of policies.
#[derive(Debug)]
pub struct Charter {
    policies: PolicySet,
    authorizer: Authorizer,
}

/// What is wrong with the text of a charter.
#[derive(Debug)]
pub struct Unreadable {
    /// Where, in bytes from its beginning, if that is known.
    pub at: Option<usize>,
    /// What, in words.
    pub what: String,
}

impl Charter {
    /// Reads policies. Names of actions and sorts that do not exist are refused: a policy about them would never
    /// say anything.
    pub fn read(text: &str) -> Result<Charter, Unreadable> {
        let policies = PolicySet::from_str(text).map_err(|errors| Unreadable {
            at: errors.iter().next().and_then(miette_offset),
            what: errors.to_string(),
        })?;
        for policy in policies.policies() {
            let unknown = unknown_name(policy);
            if let Some(name) = unknown {
                let at = text.find(name.as_str());
                return Err(Unreadable { at, what: format!("nothing here is called {name}") });
            }
        }
        Ok(Charter { policies, authorizer: Authorizer::new() })
    }

    /// Whether this is permitted.
    pub fn permits(&self, caller: &Caller, act: Act, thing: Thing<'_>, arguments: Option<&str>) -> bool {
        self.decide(caller, act, thing, arguments).unwrap_or(false)
    }

    fn decide(&self, caller: &Caller, act: Act, thing: Thing<'_>, arguments: Option<&str>) -> Option<bool> {
        let (principal, resource) = (uid("Caller", caller.name())?, thing_uid(thing)?);
        let roles = caller.roles().map(|role| uid("Role", role)).collect::<Option<HashSet<_>>>()?;
        let servers = HashSet::from([uid("Server", thing.server)?]);
        let entities =
            [Entity::new_no_attrs(principal.clone(), roles), Entity::new_no_attrs(resource.clone(), servers)];
        let entities = Entities::from_entities(entities, None).ok()?;
        let action = uid("Action", action(act, thing.sort))?;
        let request = Request::new(principal, action, resource, context(arguments)?, None).ok()?;
        let response = self.authorizer.is_authorized(&request, &self.policies, &entities);
        let evaluated = response.diagnostics().errors().next().is_none();
        Some(evaluated && response.decision() == Decision::Allow)
    }
}

fn thing_uid(thing: Thing<'_>) -> Option<EntityUid> {
    let sort = match thing.sort {
        Sort::Tools => "Tool",
        Sort::Prompts => "Prompt",
        Sort::Resources => "Resource",
    };
    uid(sort, &format!("{}/{}", thing.server, thing.name))
}

const ACTIONS: [&str; 4] = ["see", "call", "read", "get"];
const PRINCIPALS: [&str; 2] = ["Caller", "Role"];
const RESOURCES: [&str; 4] = ["Tool", "Prompt", "Resource", "Server"];

fn action(act: Act, sort: Sort) -> &'static str {
    match (act, sort) {
        (Act::See, _) => "see",
        (Act::Use, Sort::Tools) => "call",
        (Act::Use, Sort::Resources) => "read",
        (Act::Use, Sort::Prompts) => "get",
    }
}

fn uid(sort: &str, name: &str) -> Option<EntityUid> {
    Some(EntityUid::from_type_name_and_id(EntityTypeName::from_str(sort).ok()?, EntityId::new(name)))
}

fn context(arguments: Option<&str>) -> Option<Context> {
    let arguments = arguments.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let arguments = known_to_cedar(arguments).unwrap_or_else(|| Value::Object(Map::new()));
    Context::from_json_value(serde_json::json!({"arguments": arguments}), None).ok()
}

/// A value without what Cedar has no type for. Names that mean something to its JSON format go as well, so that an
/// argument cannot pose as an entity.
fn known_to_cedar(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Number(number) => number.as_i64().map(Value::from),
        Value::Array(items) => Some(items.into_iter().filter_map(known_to_cedar).collect()),
        Value::Object(members) => {
            let plain = members.into_iter().filter(|(name, _)| !name.starts_with("__"));
            Some(Value::Object(
                plain.filter_map(|(name, value)| Some((name, known_to_cedar(value)?))).collect(),
            ))
        }
        other => Some(other),
    }
}

fn unknown_name(policy: &cedar_policy::Policy) -> Option<String> {
    let actions = match policy.action_constraint() {
        ActionConstraint::Any => Vec::new(),
        ActionConstraint::Eq(action) => vec![action],
        ActionConstraint::In(actions) => actions,
    };
    let of_action = actions.into_iter().find(|action| {
        action.type_name().to_string() != "Action" || !ACTIONS.contains(&AsRef::<str>::as_ref(action.id()))
    });
    let principal = match policy.principal_constraint() {
        PrincipalConstraint::Any => None,
        PrincipalConstraint::In(uid) | PrincipalConstraint::Eq(uid) => Some(uid.type_name().to_string()),
        PrincipalConstraint::Is(sort) | PrincipalConstraint::IsIn(sort, _) => Some(sort.to_string()),
    };
    let resource = match policy.resource_constraint() {
        ResourceConstraint::Any => None,
        ResourceConstraint::In(uid) | ResourceConstraint::Eq(uid) => Some(uid.type_name().to_string()),
        ResourceConstraint::Is(sort) | ResourceConstraint::IsIn(sort, _) => Some(sort.to_string()),
    };
    of_action
        .map(|action| action.to_string())
        .or(principal.filter(|sort| !PRINCIPALS.contains(&sort.as_str())))
        .or(resource.filter(|sort| !RESOURCES.contains(&sort.as_str())))
}

fn miette_offset(error: &cedar_policy::ParseError) -> Option<usize> {
    use miette::Diagnostic;
    error.labels()?.next().map(|label| label.offset())
}

#[cfg(test)]
mod tests {
    use super::Charter;
    use crate::thing::{Act, Thing};
    use crate::{Caller, Sort};

    const TEXT: &str = r#"
        permit (principal, action == Action::"see", resource);
        permit (principal in Role::"writer", action == Action::"call", resource in Server::"files")
            when { context.arguments.path like "/data/*" };
        forbid (principal, action == Action::"call", resource == Tool::"files/delete")
            when { context.arguments.force };
        permit (principal == Caller::"key:ci", action, resource);
    "#;

    fn tool(name: &str) -> Thing<'_> {
        Thing { server: "files", sort: Sort::Tools, name }
    }

    #[test]
    fn policies_permit_and_forbid() {
        let charter = Charter::read(TEXT).expect("a charter");
        let writer = Caller::keyholder("w").in_roles(["writer"]);
        let (plain, ci) = (Caller::anonymous(), Caller::keyholder("ci"));
        for (caller, act, name, arguments, permitted) in [
            (&plain, Act::See, "write", None, true),
            (&plain, Act::Use, "write", Some(r#"{"path":"/data/x"}"#), false),
            (&writer, Act::Use, "write", Some(r#"{"path":"/data/x"}"#), true),
            (&writer, Act::Use, "write", Some(r#"{"path":"/etc/x"}"#), false),
            (&ci, Act::Use, "write", Some(r#"{"path":"/etc/x"}"#), true),
            (&ci, Act::Use, "delete", Some(r#"{"path":"/data/x","force":true}"#), false),
            (&ci, Act::Use, "delete", Some(r#"{"path":"/data/x","force":false}"#), true),
        ] {
            let seen = charter.permits(caller, act, tool(name), arguments);
            assert_eq!(seen, permitted, "{caller} {act:?} {name} {arguments:?}");
        }
    }

    #[test]
    fn what_cannot_be_evaluated_is_not_permitted() {
        let charter = Charter::read(TEXT).expect("a charter");
        let ci = Caller::keyholder("ci");
        for arguments in ["{}", r#"{"force":"yes"}"#, r#"{"force":null}"#, "not json"] {
            assert!(!charter.permits(&ci, Act::Use, tool("delete"), Some(arguments)), "{arguments}");
        }
        let posing = r#"{"path":{"__entity":{"type":"Role","id":"writer"}}}"#;
        let writer = Caller::keyholder("w").in_roles(["writer"]);
        assert!(!charter.permits(&writer, Act::Use, tool("write"), Some(posing)));
    }

    #[test]
    fn mistakes_are_found_when_the_file_is_read() {
        for (text, at) in [
            ("permit (principal, action, resource)", None),
            ("permit (principal, action == Action::\"cal\", resource);", Some(29)),
            ("forbid (principal == User::\"x\", action, resource);", Some(21)),
            ("forbid (principal, action, resource in Host::\"x\");", Some(39)),
        ] {
            let wrong = Charter::read(text).expect_err(text);
            assert!(at.is_none() || wrong.at == at, "{text}: {wrong:?}");
        }
    }
}
