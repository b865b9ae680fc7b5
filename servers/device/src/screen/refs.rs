//! Short references to elements, the same for the same element from look to look.

use std::collections::HashMap;

use super::{Node, Screen};

/// More than these are not remembered: past them all are forgotten, and old ones lead nowhere.
const MOST: usize = 10_000;

/// The references of one session.
#[derive(Debug, Default)]
pub(crate) struct Refs {
    known: HashMap<String, u64>,
    last: u64,
    /// The screen as it was last seen, and which reference each node has. Gone after an action.
    seen: Option<(Screen, HashMap<u64, usize>)>,
}

impl Refs {
    /// Gives every node of a new look its reference.
    pub(crate) fn see(&mut self, screen: Screen) -> &Screen {
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

    /// After an action nobody knows what is on the screen.
    pub(crate) fn forget(&mut self) {
        self.seen = None;
    }

    /// The last look, if nothing was done since.
    pub(crate) fn screen(&self) -> Option<&Screen> {
        self.seen.as_ref().map(|(screen, _)| screen)
    }

    /// Whether a reference was ever given out.
    pub(crate) fn was_given(&self, reference: &str) -> bool {
        number(reference).is_some_and(|number| number >= 1 && number <= self.last)
    }

    /// The element of a reference on the last look.
    pub(crate) fn node(&self, reference: &str) -> Option<&Node> {
        let (screen, places) = self.seen.as_ref()?;
        screen.nodes.get(*places.get(&number(reference)?)?)
    }

    /// The references of a look, by the place of the node.
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
    use super::Refs;
    use crate::screen::{Node, Screen};

    fn screen(names: &[&str]) -> Screen {
        let node = |name: &&str| Node { role: "button".into(), name: (*name).into(), ..Node::default() };
        Screen { nodes: names.iter().map(node).collect(), ..Screen::default() }
    }

    fn named(refs: &Refs, name: &str) -> Vec<String> {
        let by_place = refs.by_place();
        let nodes = refs.screen().unwrap().nodes.iter().enumerate();
        nodes.filter(|(_, node)| node.name == name).map(|(index, _)| by_place[&index].clone()).collect()
    }

    #[test]
    fn the_same_element_keeps_its_reference() {
        let mut refs = Refs::default();
        refs.see(screen(&["a", "b", "b"]));
        let (a, b) = (named(&refs, "a"), named(&refs, "b"));
        assert_eq!((a.len(), b.len()), (1, 2));
        refs.forget();
        assert!(refs.node(&a[0]).is_none(), "nothing is known after an action");
        refs.see(screen(&["new", "b", "a"]));
        assert_eq!(named(&refs, "a"), a);
        assert_eq!(named(&refs, "b"), b[..1]);
        assert!(refs.node(&b[1]).is_none() && refs.was_given(&b[1]));
        assert!(!refs.was_given("e99") && !refs.was_given("x1") && !refs.was_given("e0"));
    }
}
