//! Policies evaluated by the Cedar engine.

use std::collections::HashSet;
use std::str::FromStr;

use cedar_policy::{
    ActionConstraint, Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid,
    PolicySet, PrincipalConstraint, Request, ResourceConstraint,
};
use serde_json::{Map, Value};

use crate::ItemKind;
use crate::access_target::{AccessKind, AccessTarget};
use crate::cedar::{CedarPolicies, PolicyTextError};
use failwell_rpc::Caller;

impl CedarPolicies {
    /// Reads policies. Unknown actions and entity types are refused, because a policy about them would never
    /// match.
    pub fn parse(text: &str) -> Result<CedarPolicies, PolicyTextError> {
        let policies = PolicySet::from_str(text).map_err(|errors| PolicyTextError {
            at: errors.iter().next().and_then(miette_offset),
            what: errors.to_string(),
        })?;
        for policy in policies.policies() {
            let unknown = unknown_name(policy);
            if let Some(name) = unknown {
                let at = text.find(name.as_str());
                return Err(PolicyTextError { at, what: format!("nothing here is called {name}") });
            }
        }
        Ok(CedarPolicies { policies, authorizer: Authorizer::new() })
    }

    pub fn permits(
        &self,
        caller: &Caller,
        act: AccessKind,
        thing: AccessTarget<'_>,
        arguments: Option<&str>,
    ) -> bool {
        self.decide(caller, act, thing, arguments).unwrap_or(false)
    }

    fn decide(
        &self,
        caller: &Caller,
        act: AccessKind,
        thing: AccessTarget<'_>,
        arguments: Option<&str>,
    ) -> Option<bool> {
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

fn thing_uid(thing: AccessTarget<'_>) -> Option<EntityUid> {
    let sort = match thing.sort {
        ItemKind::Tools => "Tool",
        ItemKind::Prompts => "Prompt",
        ItemKind::Resources => "Resource",
    };
    uid(sort, &format!("{}/{}", thing.server, thing.name))
}

const ACTIONS: [&str; 4] = ["see", "call", "read", "get"];
const PRINCIPALS: [&str; 2] = ["Caller", "Role"];
const RESOURCES: [&str; 4] = ["Tool", "Prompt", "Resource", "Server"];

fn action(act: AccessKind, sort: ItemKind) -> &'static str {
    match (act, sort) {
        (AccessKind::See, _) => "see",
        (AccessKind::Use, ItemKind::Tools) => "call",
        (AccessKind::Use, ItemKind::Resources) => "read",
        (AccessKind::Use, ItemKind::Prompts) => "get",
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

/// Removes values that Cedar has no type for. Names that begin with `__` are reserved in Cedar's JSON format;
/// removing them keeps an argument from posing as an entity.
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
    use crate::ItemKind;
    use crate::access_target::{AccessKind, AccessTarget};
    use crate::cedar::CedarPolicies;
    use failwell_rpc::Caller;

    const TEXT: &str = r#"
        permit (principal, action == Action::"see", resource);
        permit (principal in Role::"writer", action == Action::"call", resource in Server::"files")
            when { context.arguments.path like "/data/*" };
        forbid (principal, action == Action::"call", resource == Tool::"files/delete")
            when { context.arguments.force };
        permit (principal == Caller::"key:ci", action, resource);
    "#;

    fn tool(name: &str) -> AccessTarget<'_> {
        AccessTarget { server: "files", sort: ItemKind::Tools, name }
    }

    #[test]
    fn policies_permit_and_forbid() {
        let policies = CedarPolicies::parse(TEXT).expect("policies");
        let writer = Caller::keyholder("w").in_roles(["writer"]);
        let (plain, ci) = (Caller::anonymous(), Caller::keyholder("ci"));
        for (caller, act, name, arguments, permitted) in [
            (&plain, AccessKind::See, "write", None, true),
            (&plain, AccessKind::Use, "write", Some(r#"{"path":"/data/x"}"#), false),
            (&writer, AccessKind::Use, "write", Some(r#"{"path":"/data/x"}"#), true),
            (&writer, AccessKind::Use, "write", Some(r#"{"path":"/etc/x"}"#), false),
            (&ci, AccessKind::Use, "write", Some(r#"{"path":"/etc/x"}"#), true),
            (&ci, AccessKind::Use, "delete", Some(r#"{"path":"/data/x","force":true}"#), false),
            (&ci, AccessKind::Use, "delete", Some(r#"{"path":"/data/x","force":false}"#), true),
        ] {
            let seen = policies.permits(caller, act, tool(name), arguments);
            assert_eq!(seen, permitted, "{caller} {act:?} {name} {arguments:?}");
        }
    }

    #[test]
    fn what_cannot_be_evaluated_is_not_permitted() {
        let policies = CedarPolicies::parse(TEXT).expect("policies");
        let ci = Caller::keyholder("ci");
        for arguments in ["{}", r#"{"force":"yes"}"#, r#"{"force":null}"#, "not json"] {
            assert!(!policies.permits(&ci, AccessKind::Use, tool("delete"), Some(arguments)), "{arguments}");
        }
        let posing = r#"{"path":{"__entity":{"type":"Role","id":"writer"}}}"#;
        let writer = Caller::keyholder("w").in_roles(["writer"]);
        assert!(!policies.permits(&writer, AccessKind::Use, tool("write"), Some(posing)));
    }

    #[test]
    fn mistakes_are_found_when_the_file_is_read() {
        for (text, at) in [
            ("permit (principal, action, resource)", None),
            ("permit (principal, action == Action::\"cal\", resource);", Some(29)),
            ("forbid (principal == User::\"x\", action, resource);", Some(21)),
            ("forbid (principal, action, resource in Host::\"x\");", Some(39)),
        ] {
            let wrong = CedarPolicies::parse(text).expect_err(text);
            assert!(at.is_none() || wrong.at == at, "{text}: {wrong:?}");
        }
    }
}
