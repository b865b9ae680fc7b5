//! Patterns of secrets.

use super::encoded::decode;
use super::pattern::{PatternRow, alone, any, apart, before, begins, is_token};
use crate::guard::category::Category;
use crate::guard::settings::Sensitivity::Relaxed;

/// Literals: every pattern below needs at least one of them. One search for all of them decides whether to go
/// on.
pub(in crate::guard) const ANCHORS: &[&str] = &[
    "AKIA",
    "ASIA",
    "ABIA",
    "ACCA",
    "ecret",
    "ECRET",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "glrt-",
    "glrtr-",
    "glcbt-",
    "glptt-",
    "glft-",
    "glimt-",
    "glagent-",
    "gloas-",
    "glsoat-",
    "glffct-",
    "AIza",
    "GOCSPX-",
    "ya29.",
    "xoxa-",
    "xoxb-",
    "xoxe-",
    "xoxe.",
    "xoxo-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "xapp-",
    "hooks.slack.com",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "whsec_",
    "eyJ",
    "PRIVATE KEY",
    "PuTTY-User-Key-File",
    "assword",
    "ASSWORD",
    "pwd",
    "Pwd",
    "PWD",
    "AccountKey=",
    "npm_",
    "pypi-AgEI",
    "SG.",
    "hf_",
    "fw_",
    "dop_v1_",
    "doo_v1_",
    "dor_v1_",
    "dckr_pat_",
];

const fn row(category: Category, pattern: &'static str, confirm: super::pattern::Confirm) -> PatternRow {
    PatternRow { category, pattern, confirm, from: Relaxed }
}

pub(in crate::guard) const ROWS: &[PatternRow] = &[
    row(Category::AwsAccessKey, "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", alone),
    row(
        Category::AwsSecretKey,
        "(?i:secret.?access.?key|aws.?secret(?:.?key)?|secret.?key)[^A-Za-z0-9/+]{1,12}(?:(?:is|was|of)[^A-Za-z0-9/+]{1,6})?[A-Za-z0-9/+]{40}",
        last_forty,
    ),
    row(
        Category::AwsSecretKey,
        r#"(?:AKIA|ASIA)[A-Z0-9]{16}[\s,:;"'|/\\]{1,6}[A-Za-z0-9/+]{40}"#,
        last_forty,
    ),
    row(Category::GithubToken, "gh[pousr]_[A-Za-z0-9]{36,}", any),
    row(Category::GithubFineGrained, "github_pat_[A-Za-z0-9_]{40,}", any),
    row(
        Category::GitlabToken,
        "gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{20,}",
        begins,
    ),
    row(Category::GoogleKey, "AIza[A-Za-z0-9_-]{35}", apart),
    row(Category::GoogleKey, "GOCSPX-[A-Za-z0-9_-]{28}", begins),
    row(Category::GoogleKey, r"ya29\.[A-Za-z0-9_-]{20,}", begins),
    row(Category::SlackToken, r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{12,}", with_digit),
    row(Category::SlackToken, "xapp-[0-9]-[A-Z0-9]{5,20}-[0-9]{5,20}-[a-z0-9]{16,}", begins),
    row(Category::SlackToken, "hooks\\.slack\\.com/(?:services|workflows)/[A-Za-z0-9_/]{20,}", any),
    row(Category::OpenaiKey, "sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}", begins),
    row(Category::OpenaiKey, "sk-[A-Za-z0-9]{32,}", apart),
    row(Category::AnthropicKey, "sk-ant-[A-Za-z0-9_-]{20,}", begins),
    row(Category::StripeKey, "[sr]k_(?:live|test)_[A-Za-z0-9]{16,}", begins),
    row(Category::StripeKey, "whsec_[A-Za-z0-9+/=]{24,}", begins),
    row(Category::Jwt, r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*", jwt),
    row(Category::ConnectionString, r#"(?i:password|pwd)\s?=\s?[^;\s"'&,]+"#, in_settings),
    row(Category::ConnectionString, "AccountKey=[A-Za-z0-9+/]{40,}={0,2}", any),
    row(Category::PackageToken, "npm_[A-Za-z0-9]{36}", alone),
    row(Category::PackageToken, "pypi-AgEI[A-Za-z0-9_-]{50,}", any),
    row(Category::PackageToken, "dckr_pat_[A-Za-z0-9_-]{27}", begins),
    row(Category::ServiceKey, r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}", begins),
    row(Category::ServiceKey, "hf_[A-Za-z0-9]{34,}", apart),
    // Failwell's own API keys.
    row(Category::ServiceKey, "fw_[a-f0-9]{64}", apart),
    row(Category::ServiceKey, "do[por]_v1_[a-f0-9]{64}", any),
];

fn last_forty(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let from = end.checked_sub(40).filter(|from| *from > start)?;
    let follows = text.get(end).is_some_and(|byte| is_token(*byte) || *byte == b'=');
    (!follows && is_mixed(text.get(from..end)?)).then_some((from, end))
}

/// Returns true if a text has the form of an AWS secret access key.
pub(in crate::guard) fn is_aws_secret(text: &[u8]) -> bool {
    text.len() == 40
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+'))
        && is_mixed(text)
}

/// Returns true if a member name announces an AWS secret access key.
pub(in crate::guard) fn names_aws_secret(name: &[u8]) -> bool {
    let may_be = name.windows(6).any(|part| part.eq_ignore_ascii_case(b"secret"));
    if !may_be {
        return false;
    }
    let plain: Vec<u8> =
        name.iter().take(64).filter(|b| b.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    ["secretaccesskey", "awssecret", "secretkey"]
        .iter()
        .any(|word| memchr::memmem::find(&plain, word.as_bytes()).is_some())
}

/// Requires both cases and a digit or sign. A hash or a word of forty characters lacks one of them.
fn is_mixed(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_uppercase)
        && text.iter().any(u8::is_ascii_lowercase)
        && text.iter().any(|byte| !byte.is_ascii_alphabetic())
}

fn with_digit(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let digits = text.get(start..end)?.iter().filter(|byte| byte.is_ascii_digit()).count();
    (digits >= 2).then_some((start, end)).and_then(|_| begins(text, start, end))
}

/// Confirms that the decoded header names an algorithm.
fn jwt(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let head = text.get(start..end)?.split(|byte| *byte == b'.').next()?;
    let mut header = Vec::new();
    decode(head, 0, &mut header);
    let named = memchr::memmem::find(&header, b"\"alg\"").is_some()
        || memchr::memmem::find(&header, b"\"enc\"").is_some();
    named.then_some((start, end))
}

/// Accepts `Password=…` only in settings that also name a server or a user.
fn in_settings(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let around = text.get(start.saturating_sub(200)..text.len().min(end + 200))?.to_ascii_lowercase();
    let has = |word: &str| memchr::memmem::find(&around, word.as_bytes()).is_some();
    let is_one = has(";")
        && [
            "server=",
            "host=",
            "data source=",
            "user id=",
            "uid=",
            "user=",
            "username=",
            "database=",
            "initial catalog=",
        ]
        .iter()
        .any(|word| has(word));
    let value = start + text.get(start..end)?.iter().position(|byte| *byte == b'=')? + 1;
    let value = value + text.get(value..end)?.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let starts = before(text, start).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (is_one && starts && is_password(text.get(value..end)?)).then_some((value, end))
}

/// Returns false for placeholders and masked values.
pub(in crate::guard) fn is_password(text: &[u8]) -> bool {
    let stands_for = matches!(text.first(), None | Some(b'$' | b'{' | b'<' | b'%' | b'['));
    let masked = text.iter().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_'));
    !stands_for && !masked
}
