use serde_json::Value;

use super::{TokenError, TokenRules};
use failwell_rpc::Caller;

/// Tolerated difference to the issuer's clock, in seconds.
const LEEWAY: f64 = 30.0;
/// Maximum length of a subject or role in bytes, and maximum number of roles.
const LONGEST_NAME: usize = 256;
const MOST_ROLES: usize = 64;

/// Returns the caller that the claims identify, if they are valid now and for this audience.
pub(super) fn caller(rules: &TokenRules, claims: &Value, now: u64) -> Result<Caller, TokenError> {
    let bad = TokenError::Bad;
    if claims.get("iss").and_then(Value::as_str) != Some(&rules.issuer) {
        return Err(bad("another issuer made it"));
    }
    if !texts(claims.get("aud"), ListSyntax::WholeText).contains(&rules.audience.as_str()) {
        return Err(bad("it is for another audience"));
    }
    let now = now as f64;
    let expires = claims.get("exp").and_then(Value::as_f64).ok_or(bad("it does not say when it expires"))?;
    if now >= expires + LEEWAY {
        return Err(bad("it has expired"));
    }
    let begins = match claims.get("nbf") {
        Some(begins) => begins.as_f64().ok_or(bad("it does not say properly when it begins"))?,
        None => 0.0,
    };
    if now + LEEWAY < begins {
        return Err(bad("it is not valid yet"));
    }
    let subject = claims.get("sub").and_then(Value::as_str).filter(|subject| is_name(subject));
    let subject = subject.ok_or(bad("it has no proper subject"))?;
    let granted = [
        texts(claims.get("scope"), ListSyntax::SpaceSeparated),
        texts(claims.get("scp"), ListSyntax::SpaceSeparated),
    ]
    .concat();
    if !rules.scopes.iter().all(|scope| granted.contains(&scope.as_str())) {
        return Err(TokenError::Scope);
    }
    let roles = texts(claim(claims, &rules.roles_claim), ListSyntax::SpaceSeparated);
    let roles = roles.into_iter().filter(|role| is_name(role)).take(MOST_ROLES);
    Ok(Caller::bearer(subject).in_roles(roles))
}

/// Finds a claim by its full name, or else by its dotted path.
fn claim<'a>(claims: &'a Value, path: &str) -> Option<&'a Value> {
    let along = || path.split('.').try_fold(claims, |inside, name| inside.get(name));
    claims.get(path).or_else(along)
}

/// The syntax of a claim that is a single string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListSyntax {
    SpaceSeparated,
    WholeText,
}

fn texts(value: Option<&Value>, syntax: ListSyntax) -> Vec<&str> {
    match value {
        Some(Value::String(text)) if syntax == ListSyntax::SpaceSeparated => {
            // RFC 6749, section 3.3: spaces only.
            text.split(' ').filter(|item| !item.is_empty()).collect()
        }
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_name(text: &str) -> bool {
    (1..=LONGEST_NAME).contains(&text.len()) && !text.chars().any(char::is_control)
}
