use serde_json::Value;

use super::{TokenFlaw, TokenRules};
use crate::Caller;

/// How far the issuer's clock may be off, in seconds.
const LEEWAY: f64 = 30.0;
/// The most bytes of a subject or a role, and the most roles.
const LONGEST_NAME: usize = 256;
const MOST_ROLES: usize = 64;

/// Who a token is about, if it holds now, for us.
pub(super) fn caller(rules: &TokenRules, claims: &Value, now: u64) -> Result<Caller, TokenFlaw> {
    let bad = TokenFlaw::Bad;
    if claims.get("iss").and_then(Value::as_str) != Some(&rules.issuer) {
        return Err(bad("another issuer made it"));
    }
    if !texts(claims.get("aud"), Split::No).contains(&rules.audience.as_str()) {
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
    let granted = [texts(claims.get("scope"), Split::Yes), texts(claims.get("scp"), Split::Yes)].concat();
    if !rules.scopes.iter().all(|scope| granted.contains(&scope.as_str())) {
        return Err(TokenFlaw::Scope);
    }
    let roles = texts(claim(claims, &rules.roles_claim), Split::Yes);
    let roles = roles.into_iter().filter(|role| is_name(role)).take(MOST_ROLES);
    Ok(Caller::bearer(subject).in_roles(roles))
}

/// A claim by its name, or else by the way to it.
fn claim<'a>(claims: &'a Value, path: &str) -> Option<&'a Value> {
    let along = || path.split('.').try_fold(claims, |inside, name| inside.get(name));
    claims.get(path).or_else(along)
}

/// Whether spaces stand between several.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Split {
    Yes,
    No,
}

/// One text or many.
fn texts(value: Option<&Value>, split: Split) -> Vec<&str> {
    match value {
        Some(Value::String(text)) if split == Split::Yes => text.split_ascii_whitespace().collect(),
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_name(text: &str) -> bool {
    (1..=LONGEST_NAME).contains(&text.len()) && !text.chars().any(char::is_control)
}
