//! The part of `XPath` people use for elements; `assumed` says which.

use super::lex::{Word, Words, surprise};
use crate::refusal::Refusal;
use crate::screen::{Screen, attribute};

/// Where the path is while it is followed: above the application there is the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Document,
    Node(usize),
}

enum Step {
    Child(String),
    Below(String),
    Same,
    Parent,
}

enum Test {
    Place(i32),
    Last,
    Has(String),
    Equal(String, String),
    Different(String, String),
    Contains(String, String),
    Begins(String, String),
    Not(Box<Test>),
    All(Vec<Test>),
    Any(Vec<Test>),
}

pub(super) fn find(screen: &Screen, under: usize, path: &str) -> Result<Vec<usize>, Refusal> {
    let mut words = Words::of(path)?;
    let found = union(&mut words, screen, under)?;
    words.end()?;
    let nodes = found.into_iter().filter_map(|at| match at {
        At::Document => None,
        At::Node(index) => Some(index),
    });
    let mut nodes: Vec<usize> = nodes.filter(|&index| index != under || under == 0).collect();
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

/// A path, or one in brackets of which a place is taken, and then perhaps further.
fn union(words: &mut Words, screen: &Screen, under: usize) -> Result<Vec<At>, Refusal> {
    if !words.takes("(") {
        return follow(words, screen, vec![At::Node(under)], Start::Anywhere);
    }
    let mut found = words.deeper(|words| union(words, screen, under))?;
    words.expect(")")?;
    while words.takes("[") {
        let test = any(words)?;
        words.expect("]")?;
        found = kept(screen, found, &test);
    }
    follow(words, screen, found, Start::Onwards)
}

#[derive(PartialEq, Eq)]
enum Start {
    Anywhere,
    Onwards,
}

fn follow(words: &mut Words, screen: &Screen, from: Vec<At>, start: Start) -> Result<Vec<At>, Refusal> {
    let mut found = from;
    let mut is_first = start == Start::Anywhere;
    loop {
        let deep = words.takes("//");
        let slash = deep || words.takes("/");
        if is_first && slash {
            found = vec![At::Document];
        }
        if !slash && !is_first {
            return Ok(found);
        }
        is_first = false;
        let step = step(words, deep)?;
        let mut tests = vec![];
        while words.takes("[") {
            tests.push(any(words)?);
            words.expect("]")?;
        }
        found = taken(screen, &found, &step, &tests);
    }
}

fn step(words: &mut Words, deep: bool) -> Result<Step, Refusal> {
    if words.takes("..") {
        return Ok(Step::Parent);
    }
    if words.takes(".") {
        return Ok(Step::Same);
    }
    let name = if words.takes("*") { "*".to_owned() } else { words.name()? };
    Ok(if deep { Step::Below(name) } else { Step::Child(name) })
}

/// Tests with places count among the children of each parent, as the standard has it.
fn taken(screen: &Screen, from: &[At], step: &Step, tests: &[Test]) -> Vec<At> {
    let mut found = vec![];
    let groups: Vec<Vec<At>> = match step {
        Step::Same => vec![from.to_vec()],
        Step::Parent => vec![from.iter().filter_map(|&at| parent(screen, at)).collect()],
        Step::Child(name) => from.iter().map(|&at| named(screen, children(screen, at), name)).collect(),
        Step::Below(name) => {
            let all = from.iter().flat_map(|&at| with_below(screen, at));
            all.map(|at| named(screen, children(screen, at), name)).collect()
        }
    };
    for mut group in groups {
        for test in tests {
            group = kept(screen, group, test);
        }
        found.extend(group);
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn kept(screen: &Screen, group: Vec<At>, test: &Test) -> Vec<At> {
    let count = i32::try_from(group.len()).unwrap_or(i32::MAX);
    let holds = |(place, at): &(i32, At)| test.holds(screen, *at, *place, count);
    (1..).zip(group).filter(holds).map(|(_, at)| at).collect()
}

impl Test {
    fn holds(&self, screen: &Screen, at: At, place: i32, count: i32) -> bool {
        let At::Node(index) = at else { return false };
        let value = |name: &str| attribute(screen, index, name).and_then(|found| found.written());
        match self {
            Test::Place(wanted) => place == *wanted,
            Test::Last => place == count,
            Test::Has(name) => value(name).is_some(),
            Test::Equal(name, wanted) => value(name).as_ref() == Some(wanted),
            Test::Different(name, wanted) => value(name).is_some_and(|found| found != *wanted),
            Test::Contains(name, part) => value(name).unwrap_or_default().contains(part.as_str()),
            Test::Begins(name, part) => value(name).unwrap_or_default().starts_with(part.as_str()),
            Test::Not(test) => !test.holds(screen, at, place, count),
            Test::All(tests) => tests.iter().all(|test| test.holds(screen, at, place, count)),
            Test::Any(tests) => tests.iter().any(|test| test.holds(screen, at, place, count)),
        }
    }
}

fn children(screen: &Screen, at: At) -> Vec<At> {
    match at {
        At::Document => vec![At::Node(0)],
        At::Node(index) => screen.children(index).iter().map(|&child| At::Node(child)).collect(),
    }
}

fn with_below(screen: &Screen, at: At) -> Vec<At> {
    let below = match at {
        At::Document => (0..screen.nodes.len()).collect(),
        At::Node(index) => screen.below(index),
    };
    std::iter::once(at).chain(below.into_iter().map(At::Node)).collect()
}

fn parent(screen: &Screen, at: At) -> Option<At> {
    match at {
        At::Document => None,
        At::Node(index) => Some(screen.node(index)?.parent.map_or(At::Document, At::Node)),
    }
}

fn named(screen: &Screen, all: Vec<At>, name: &str) -> Vec<At> {
    let fits = |at: &At| match at {
        At::Document => false,
        At::Node(index) => name == "*" || screen.node(*index).is_some_and(|node| node.type_name() == name),
    };
    all.into_iter().filter(fits).collect()
}

fn any(words: &mut Words) -> Result<Test, Refusal> {
    let mut tests = vec![all(words)?];
    while words.takes_name("or") {
        tests.push(all(words)?);
    }
    Ok(Test::Any(tests))
}

fn all(words: &mut Words) -> Result<Test, Refusal> {
    let mut tests = vec![one(words)?];
    while words.takes_name("and") {
        tests.push(one(words)?);
    }
    Ok(Test::All(tests))
}

fn one(words: &mut Words) -> Result<Test, Refusal> {
    if words.takes("(") {
        let inside = words.deeper(any)?;
        words.expect(")")?;
        return Ok(inside);
    }
    match words.next() {
        Some(Word::Number(place)) => Ok(Test::Place(place)),
        Some(Word::Mark("@")) => {
            let name = words.name()?;
            if words.takes("=") {
                return Ok(Test::Equal(name, value(words)?));
            }
            if words.takes("!=") {
                return Ok(Test::Different(name, value(words)?));
            }
            Ok(Test::Has(name))
        }
        Some(Word::Name(function)) => call(words, &function),
        other => Err(surprise(other.as_ref())),
    }
}

fn value(words: &mut Words) -> Result<String, Refusal> {
    match words.next() {
        Some(Word::Text(text)) => Ok(text),
        Some(Word::Number(number)) => Ok(number.to_string()),
        other => Err(surprise(other.as_ref())),
    }
}

fn call(words: &mut Words, function: &str) -> Result<Test, Refusal> {
    words.expect("(")?;
    let test = match function {
        "last" => Test::Last,
        "not" => Test::Not(Box::new(words.deeper(any)?)),
        "contains" | "starts-with" => {
            words.expect("@")?;
            let name = words.name()?;
            words.expect(",")?;
            let part = words.text()?;
            if function == "contains" { Test::Contains(name, part) } else { Test::Begins(name, part) }
        }
        "position" => {
            words.expect(")")?;
            words.expect("=")?;
            return match words.next() {
                Some(Word::Number(place)) => Ok(Test::Place(place)),
                other => Err(surprise(other.as_ref())),
            };
        }
        other => return Err(Refusal::invalid_selector(format!("there is no function {other} here"))),
    };
    words.expect(")")?;
    Ok(test)
}
