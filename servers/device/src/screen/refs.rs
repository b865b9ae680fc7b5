//! Short references to elements. An element keeps its reference across looks.

use std::collections::HashMap;

use super::{Node, Screen};

/// Maximum number of remembered elements. Beyond it all are forgotten, and old references become invalid.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct ElementRefs {
    known: HashMap<String, u64>,
    last: u64,
    /// The last screen with the node of each reference. `None` after an action.
    seen: Option<(Screen, HashMap<u64, usize>)>,
}

impl ElementRefs {
    /// Assigns references to the nodes of a new screen.
    pub(crate) fn update(&mut self, screen: Screen) -> &Screen {
        if self.known.len() > MOST {
            self.known.clear();
        }
        let mut times: HashMap<String, usize> = HashMap::new();
        let mut places = HashMap::new();
        for (index, node) in screen.nodes.iter().enumerate() {
            let identity = node.identity();
            let nth = times.entry(identity.clone()).and_modify(|times| *times += 1).or_insert(0);
            let key = format!("{identity}\u{1f}{nth}");
            let last = &mut self.last;
            let number = *self.known.entry(key).or_insert_with(|| {
                *last += 1;
                *last
            });
            places.insert(number, index);
        }
        &self.seen.insert((screen, places)).0
    }

    /// Invalidates the screen, for example after an action.
    pub(crate) fn forget(&mut self) {
        self.seen = None;
    }

    /// The last screen, if no action followed.
    pub(crate) fn screen(&self) -> Option<&Screen> {
        self.seen.as_ref().map(|(screen, _)| screen)
    }

    /// Whether this session ever issued the reference.
    pub(crate) fn was_given(&self, reference: &str) -> bool {
        number(reference).is_some_and(|number| number >= 1 && number <= self.last)
    }

    /// The node of a reference on the last screen.
    pub(crate) fn node(&self, reference: &str) -> Option<&Node> {
        let (screen, places) = self.seen.as_ref()?;
        screen.nodes.get(*places.get(&number(reference)?)?)
    }

    /// The references of the last screen, by node index.
    pub(crate) fn by_place(&self) -> HashMap<usize, String> {
        let places = self.seen.iter().flat_map(|(_, places)| places);
        places.map(|(number, index)| (*index, format!("e{number}"))).collect()
    }
}

fn number(reference: &str) -> Option<u64> {
    reference.strip_prefix('e')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::ElementRefs;
    use crate::screen::{Node, Screen};

    fn screen(names: &[&str]) -> Screen {
        let node = |name: &&str| Node { role: "button".into(), name: (*name).into(), ..Node::default() };
        Screen { nodes: names.iter().map(node).collect(), ..Screen::default() }
    }

    fn named(refs: &ElementRefs, name: &str) -> Vec<String> {
        let by_place = refs.by_place();
        let nodes = refs.screen().unwrap().nodes.iter().enumerate();
        nodes.filter(|(_, node)| node.name == name).map(|(index, _)| by_place[&index].clone()).collect()
    }

    #[test]
    fn the_same_element_keeps_its_reference() {
        let mut refs = ElementRefs::default();
        refs.update(screen(&["a", "b", "b"]));
        let (a, b) = (named(&refs, "a"), named(&refs, "b"));
        assert_eq!((a.len(), b.len()), (1, 2));
        refs.forget();
        assert!(refs.node(&a[0]).is_none(), "nothing is known after an action");
        refs.update(screen(&["new", "b", "a"]));
        assert_eq!(named(&refs, "a"), a);
        assert_eq!(named(&refs, "b"), b[..1]);
        assert!(refs.node(&b[1]).is_none() && refs.was_given(&b[1]));
        assert!(!refs.was_given("e99") && !refs.was_given("x1") && !refs.was_given("e0"));
    }
}
