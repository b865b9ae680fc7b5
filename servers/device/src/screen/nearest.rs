//! The elements most similar to a selector without a match.

use super::{Node, Screen};

/// Maximum number of suggestions.
const MOST: usize = 5;
/// The minimum similarity.
const NEAR: f64 = 0.72;

/// The indices of the nodes with the most similar names, best first.
pub(crate) fn nearest(screen: &Screen, selector: &str) -> Vec<usize> {
    let wanted = describe(selector);
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut scored: Vec<(f64, usize)> = screen
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.is_meaningful())
        .map(|(index, node)| (score(node, &wanted), index))
        .filter(|(score, _)| *score >= NEAR)
        .collect();
    let is_used = |index: usize| screen.nodes.get(index).is_some_and(|node| node.is_interactive);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(is_used(b.1).cmp(&is_used(a.1))).then(a.1.cmp(&b.1)));
    scored.into_iter().take(MOST).map(|(_, index)| index).collect()
}

/// The search terms of a selector: the quoted parts of a path or predicate, otherwise all of it.
fn describe(selector: &str) -> Vec<String> {
    let mut quoted = Vec::new();
    let mut rest = selector;
    while let Some(start) = rest.find(['"', '\'']) {
        let (_, from) = rest.split_at(start);
        let Some(quote) = from.chars().next() else { break };
        let from = from.get(1..).unwrap_or_default();
        let Some((inside, after)) = from.split_once(quote) else { break };
        quoted.push(inside.to_lowercase());
        rest = after;
    }
    if quoted.is_empty() {
        quoted.push(selector.trim_start_matches(['#', '.', '/', '~']).to_lowercase());
    }
    quoted.retain(|word| !word.trim().is_empty());
    quoted.iter_mut().for_each(|word| *word = word.chars().take(100).collect());
    quoted
}

fn score(node: &Node, wanted: &[String]) -> f64 {
    let own = [&node.name, &node.accessibility, &node.id, &node.value];
    let own: Vec<String> =
        own.into_iter().filter(|text| !text.is_empty()).map(|text| text.to_lowercase()).collect();
    let pairs = wanted.iter().flat_map(|wanted| own.iter().map(move |own| alike(wanted, own)));
    pairs.fold(0.0, f64::max)
}

fn alike(wanted: &str, own: &str) -> f64 {
    let likeness = strsim::jaro_winkler(wanted, own);
    // A name that contains the term, or the reverse, is similar too.
    let short = wanted.len().min(own.len());
    let holds = short >= 3 && (own.contains(wanted) || wanted.contains(own));
    if holds { likeness.max(0.85) } else { likeness }
}

#[cfg(test)]
mod tests {
    use super::nearest;
    use crate::screen::{Node, Screen};

    fn check(selector: &str, expected: &[&str]) {
        let names = ["Log in", "Log out", "Password", "Delivery address", "Total: 12 €"];
        let node = |name: &&str| Node { role: "button".into(), name: (*name).into(), ..Node::default() };
        let screen = Screen { nodes: names.iter().map(node).collect(), ..Screen::default() };
        let found: Vec<&str> =
            nearest(&screen, selector).into_iter().map(|index| screen.nodes[index].name.as_str()).collect();
        let found: Vec<&str> = found.into_iter().take(expected.len().max(1)).collect();
        assert_eq!(found, expected, "{selector}");
    }

    #[test]
    fn near_names_are_found_in_every_kind_of_selector() {
        check("Login", &["Log in"]);
        check("//XCUIElementTypeButton[@name='log out']", &["Log out"]);
        check("label == \"Passwort\"", &["Password"]);
        check("#address", &["Delivery address"]);
        check("zzzz", &[]);
        check("", &[]);
    }
}
