//! Prefixed names and URIs, and the members they belong to.

use failwell_toolbox::List;
use sha2::{Digest, Sha256};

/// The longest tool name that all clients accept.
const LONGEST: usize = 64;
const BETWEEN: &str = "__";

/// The prefixed name of a tool or prompt: stable, and at most [`LONGEST`] bytes.
pub(crate) fn outside(server: &str, name: &str) -> String {
    let whole = format!("{server}{BETWEEN}{name}");
    if whole.len() <= LONGEST {
        return whole;
    }
    let hash: String =
        Sha256::digest(name.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let space = LONGEST.saturating_sub(hash.len() + 1);
    let mut cut = space.min(whole.len());
    while !whole.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}_{hash}", whole.get(..cut).unwrap_or_default())
}

/// The server prefix of a name.
pub(crate) fn server_of(outside: &str) -> Option<&str> {
    // Names are short: a plain scan beats building a searcher.
    let end = outside.as_bytes().windows(BETWEEN.len()).position(|two| two == BETWEEN.as_bytes())?;
    outside.get(..end).filter(|server| !server.is_empty())
}

/// The prefixed URI of a resource: still a valid URI, with the server in its scheme.
pub(crate) fn outside_uri(server: &str, uri: &str) -> String {
    // A scheme has no underscores, and a server's name no dots.
    format!("{}+{uri}", server.replace('_', "."))
}

/// The server and the original URI of a prefixed one.
pub(crate) fn inside_uri(outside: &str) -> Option<(String, &str)> {
    let (server, uri) = outside.split_once('+')?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    server.chars().all(plain).then(|| (server.replace('.', "_"), uri))
}

/// The prefixed name of an item.
pub(crate) fn outside_name(server: &str, list: List, inside: &str) -> String {
    match list {
        List::Tools | List::Prompts => outside(server, inside),
        List::Resources | List::Templates => outside_uri(server, inside),
    }
}

/// The JSON member that holds an item's name.
pub(crate) fn naming_member(list: List) -> &'static str {
    match list {
        List::Tools | List::Prompts => "name",
        List::Resources => "uri",
        List::Templates => "uriTemplate",
    }
}

#[cfg(test)]
mod tests {
    use super::{inside_uri, outside, outside_uri, server_of};

    #[test]
    fn names_are_prefixed_and_never_too_long() {
        assert_eq!(outside("ev", "echo"), "ev__echo");
        let long = outside("server", &"x".repeat(100));
        assert_eq!((long.len(), &long[..9]), (64, "server__x"));
        assert_eq!(long, outside("server", &"x".repeat(100)), "stable");
        assert_ne!(long, outside("server", &"x".repeat(101)), "different");
        assert_eq!(server_of("ev__a__b"), Some("ev"));
        assert_eq!(server_of("__echo"), None);
        assert_eq!(server_of("echo"), None);
    }

    #[test]
    fn addresses_stay_addresses_and_map_back() {
        for (server, uri) in [("ev", "file:///x"), ("my_server", "test://a+b"), ("a-b", "https://h/p?q=1+1")]
        {
            let there = outside_uri(server, uri);
            assert_eq!(inside_uri(&there), Some((server.to_owned(), uri)), "{there}");
            let scheme = there.split(':').next().unwrap_or_default();
            assert!(scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)), "{scheme}");
        }
        assert_eq!(inside_uri("https://plain"), None);
    }
}
