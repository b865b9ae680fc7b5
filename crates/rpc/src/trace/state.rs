//! The grammar of `tracestate`. An invalid value is not passed on.

/// Maximum length, in bytes.
const MOST_BYTES: usize = 512;
/// Maximum number of members.
const MOST_MEMBERS: usize = 32;

/// Whether the text is a list of `key=value` (<https://www.w3.org/TR/trace-context/#tracestate-header>).
pub(super) fn is_state(text: &str) -> bool {
    let members = || text.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|m| !m.is_empty());
    text.len() <= MOST_BYTES
        && (1..=MOST_MEMBERS).contains(&members().count())
        && members()
            .all(|member| member.split_once('=').is_some_and(|(key, value)| is_key(key) && is_value(value)))
}

fn is_key(key: &str) -> bool {
    match key.split_once('@') {
        Some((tenant, system)) => {
            is_name(tenant, 241, |first| first.is_ascii_lowercase() || first.is_ascii_digit())
                && is_name(system, 14, |first| first.is_ascii_lowercase())
        }
        None => is_name(key, 256, |first| first.is_ascii_lowercase()),
    }
}

fn is_name(name: &str, most: usize, begins: impl Fn(u8) -> bool) -> bool {
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-*/".contains(&byte);
    let first = name.bytes().next();
    first.is_some_and(begins) && name.len() <= most && name.bytes().all(rest)
}

fn is_value(value: &str) -> bool {
    let plain = |byte: u8| (b' '..=b'~').contains(&byte) && !b",=".contains(&byte);
    !value.is_empty() && value.len() <= 256 && value.bytes().all(plain) && !value.ends_with(' ')
}

#[cfg(test)]
mod tests {
    use super::is_state;

    #[test]
    fn states_keep_to_the_grammar() {
        let many = |count: usize| (0..count).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join(",");
        for good in ["a=1", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a=1 , 2t@dd=s:1;o:rum", &many(32)] {
            assert!(is_state(good), "{good}");
        }
        let wide = format!("a={}", "x".repeat(600));
        for bad in [
            "",
            ",",
            "a",
            "a=",
            "=1",
            "A=1",
            "a=1=2",
            "a=é",
            "1@X=1",
            "a@b@c=1",
            "a=1\r\nx: y",
            &many(33),
            &wide,
        ] {
            assert!(!is_state(bad), "{bad}");
        }
    }
}
