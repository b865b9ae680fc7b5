//! Policies evaluated by the Cedar engine.

use std::collections::{BTreeMap, HashSet};
use std::str::FromStr;

use cedar_policy::{
    ActionConstraint, Authorizer, Context, Decision, Entities, Entity, EntityId, EntityTypeName, EntityUid,
    Policy, PolicySet, PrincipalConstraint, Request, ResourceConstraint,
};

use super::arguments::CedarArguments;
use super::conditions::ArgumentPolicy;
use crate::ItemKind;
use crate::access_target::{AccessKind, AccessTarget};
use crate::cedar::{CedarPolicies, PolicyTextError};
use crate::resource_uri::normalize_id;
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
        let policies = with_normal_ids(&policies)?;
        let on_arguments = policies.policies().filter_map(|policy| ArgumentPolicy::of(policy).transpose());
        let on_arguments = on_arguments.collect::<Result<Vec<_>, _>>()?;
        Ok(CedarPolicies { policies, on_arguments, authorizer: Authorizer::new() })
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

    /// The items of a server that policies mention by name.
    pub(crate) fn mentioned(&self, server: &str, sort: ItemKind) -> Vec<String> {
        let name = |uid: EntityUid| {
            let is_sort = uid.type_name().to_string() == sort_name(sort);
            let rest = AsRef::<str>::as_ref(uid.id()).strip_prefix(server)?.strip_prefix('/')?;
            is_sort.then(|| rest.to_owned())
        };
        self.policies.policies().flat_map(|policy| policy.entity_literals()).filter_map(name).collect()
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
        let CedarArguments { value, undecidable } = CedarArguments::parse(arguments)?;
        let context = Context::from_json_value(serde_json::json!({"arguments": value}), None).ok()?;
        let request = Request::new(principal, action, resource, context, None).ok()?;
        let reads =
            |policy: &ArgumentPolicy| policy.reads_any(&undecidable, &self.authorizer, &request, &entities);
        if !undecidable.is_empty() && self.on_arguments.iter().any(reads) {
            return None;
        }
        let response = self.authorizer.is_authorized(&request, &self.policies, &entities);
        let evaluated = response.diagnostics().errors().next().is_none();
        Some(evaluated && response.decision() == Decision::Allow)
    }
}

fn thing_uid(thing: AccessTarget<'_>) -> Option<EntityUid> {
    uid(sort_name(thing.sort), &format!("{}/{}", thing.server, thing.name))
}

fn sort_name(sort: ItemKind) -> &'static str {
    match sort {
        ItemKind::Tools => "Tool",
        ItemKind::Prompts => "Prompt",
        ItemKind::Resources => "Resource",
    }
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

/// The same policies, with the URIs of resources in their normal form.
fn with_normal_ids(policies: &PolicySet) -> Result<PolicySet, PolicyTextError> {
    let refused = |what: String| PolicyTextError { at: None, what };
    let normal = |policy: &Policy| {
        let resources =
            policy.entity_literals().into_iter().filter(|uid| uid.type_name().to_string() == "Resource");
        let pairs = resources.filter_map(|uid| {
            let id = normalize_id(uid.id().unescaped());
            let normal = EntityUid::from_type_name_and_id(uid.type_name().clone(), EntityId::new(id));
            (normal != uid).then_some((uid, normal))
        });
        let pairs: BTreeMap<EntityUid, EntityUid> = pairs.collect();
        match pairs.is_empty() {
            true => Ok(policy.clone()),
            false => policy.sub_entity_literals(pairs).map_err(|error| refused(error.to_string())),
        }
    };
    let all = policies.policies().map(normal).collect::<Result<Vec<_>, _>>()?;
    PolicySet::from_policies(all).map_err(|error| refused(error.to_string()))
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
        let deep = format!(r#"{{"path":"/data/x","force":true,"x":{}{}}}"#, "[".repeat(126), "]".repeat(126));
        assert!(
            !policies.permits(&ci, AccessKind::Use, tool("delete"), Some(&deep)),
            "the deepest arguments"
        );
        assert!(
            policies.permits(&ci, AccessKind::Use, tool("write"), Some(&deep)),
            "no condition reads them"
        );
        let deeper = deep.replace("[]", "[[]]");
        assert!(!policies.permits(&ci, AccessKind::Use, tool("write"), Some(&deeper)), "not readable");
        let posing = r#"{"path":{"__entity":{"type":"Role","id":"writer"}}}"#;
        let writer = Caller::keyholder("w").in_roles(["writer"]);
        assert!(!policies.permits(&writer, AccessKind::Use, tool("write"), Some(posing)));
    }

    #[test]
    fn numbers_are_compared_by_value_or_not_at_all() {
        let limited = |condition: &str| {
            let text = format!(
                "permit (principal, action, resource);
                 forbid (principal, action == Action::\"call\", resource == Tool::\"files/pay\") when {{ {condition} }};"
            );
            CedarPolicies::parse(&text).expect("policies")
        };
        let caller = Caller::anonymous();
        let permits = |policies: &CedarPolicies, name: &str, arguments: &str| {
            policies.permits(&caller, AccessKind::Use, tool(name), Some(arguments))
        };
        let more = limited("context.arguments has amount && context.arguments.amount > 1000");
        for (amount, permitted) in [
            ("5", true),
            ("1000.0", true),
            ("1e3", true),
            ("5000", false),
            ("5000.0", false),
            ("5e3", false),
            ("5E3", false),
            ("5000.5", false),
            ("0.5", false),
            ("1e30", false),
            ("-1e30", false),
            ("100000000000000000000", false),
            ("9223372036854775808", false),
            ("null", false),
            ("\"5\"", false),
        ] {
            assert_eq!(permits(&more, "pay", &format!(r#"{{"amount":{amount}}}"#)), permitted, "{amount}");
        }
        assert!(permits(&more, "pay", r#"{"note":null,"rate":0.5}"#), "no condition reads them");
        assert!(permits(&more, "other", r#"{"amount":null}"#), "the policy is about another tool");
        for condition in [
            "context.arguments has tier && context.arguments.tier == 3",
            "context.arguments has tier && [3].contains(context.arguments.tier)",
            "context.arguments has tier && context.arguments[\"tier\"] == 3",
            "context.arguments == {tier: 3}",
            "if context.arguments has tier then context.arguments.tier == 3 else false",
        ] {
            let policies = limited(condition);
            assert!(permits(&policies, "pay", r#"{"tier":2}"#), "{condition}");
            for tier in ["3", "3.0", "3.1", "null", "1e99"] {
                assert!(!permits(&policies, "pay", &format!(r#"{{"tier":{tier}}}"#)), "{condition} {tier}");
            }
        }
        let nested =
            limited("context.arguments has a && context.arguments.a has b && context.arguments.a.b > 1");
        assert!(permits(&nested, "pay", r#"{"a":{"c":null}}"#));
        assert!(!permits(&nested, "pay", r#"{"a":{"b":null}}"#));
        assert!(!permits(&nested, "pay", r#"{"a":null}"#));
    }

    #[test]
    fn resources_have_one_id() {
        let policies = CedarPolicies::parse(
            r#"permit (principal, action, resource);
               forbid (principal, action, resource == Resource::"up/FILE:///x/../etc/secret");
               forbid (principal, action, resource) when { resource == Resource::"up/file:/etc/other" };"#,
        )
        .expect("policies");
        for (name, permitted) in
            [("file:///etc/secret", false), ("file:///etc/other", false), ("file:///etc/third", true)]
        {
            let target = AccessTarget { server: "up", sort: ItemKind::Resources, name };
            assert_eq!(
                policies.permits(&Caller::anonymous(), AccessKind::Use, target, None),
                permitted,
                "{name}"
            );
        }
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
