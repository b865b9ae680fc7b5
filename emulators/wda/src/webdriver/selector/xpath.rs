//! The part of `XPath` people use for elements; `assumed` says which.

use super::lex::{Token, TokenStream, unexpected_token};
use crate::phone::screen::{Screen, attribute};
use crate::webdriver::webdriver_error::WebDriverError;

/// Where the path is while it is followed: above the application there is the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum XPathPosition {
    Document,
    Node(usize),
}

enum XPathStep {
    Child(String),
    Below(String),
    Same,
    Parent,
}

enum XPathTest {
    Place(i32),
    Last,
    Has(String),
    Equal(String, String),
    Different(String, String),
    Contains(String, String),
    Begins(String, String),
    Not(Box<XPathTest>),
    All(Vec<XPathTest>),
    Any(Vec<XPathTest>),
}

pub(super) fn find(screen: &Screen, under: usize, path: &str) -> Result<Vec<usize>, WebDriverError> {
    let mut words = TokenStream::new(path)?;
    let found = union(&mut words, screen, under)?;
    words.end()?;
    let nodes = found.into_iter().filter_map(|at| match at {
        XPathPosition::Document => None,
        XPathPosition::Node(index) => Some(index),
    });
    let mut nodes: Vec<usize> = nodes.filter(|&index| index != under || under == 0).collect();
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

/// A path, or one in brackets of which a place is taken, and then perhaps further.
fn union(
    words: &mut TokenStream,
    screen: &Screen,
    under: usize,
) -> Result<Vec<XPathPosition>, WebDriverError> {
    if !words.takes("(") {
        return follow(words, screen, vec![XPathPosition::Node(under)], XPathStart::Anywhere);
    }
    let mut found = words.deeper(|words| union(words, screen, under))?;
    words.expect(")")?;
    while words.takes("[") {
        let test = any(words)?;
        words.expect("]")?;
        found = filter_positions(screen, found, &test);
    }
    follow(words, screen, found, XPathStart::Onwards)
}

#[derive(PartialEq, Eq)]
enum XPathStart {
    Anywhere,
    Onwards,
}

fn follow(
    words: &mut TokenStream,
    screen: &Screen,
    from: Vec<XPathPosition>,
    start: XPathStart,
) -> Result<Vec<XPathPosition>, WebDriverError> {
    let mut found = from;
    let mut is_first = start == XPathStart::Anywhere;
    loop {
        let deep = words.takes("//");
        let slash = deep || words.takes("/");
        if is_first && slash {
            found = vec![XPathPosition::Document];
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
        found = apply_step(screen, &found, &step, &tests);
    }
}

fn step(words: &mut TokenStream, deep: bool) -> Result<XPathStep, WebDriverError> {
    if words.takes("..") {
        return Ok(XPathStep::Parent);
    }
    if words.takes(".") {
        return Ok(XPathStep::Same);
    }
    let name = if words.takes("*") { "*".to_owned() } else { words.name()? };
    Ok(if deep { XPathStep::Below(name) } else { XPathStep::Child(name) })
}

/// Tests with places count among the children of each parent, as the standard has it.
fn apply_step(
    screen: &Screen,
    from: &[XPathPosition],
    step: &XPathStep,
    tests: &[XPathTest],
) -> Vec<XPathPosition> {
    let mut found = vec![];
    let groups: Vec<Vec<XPathPosition>> = match step {
        XPathStep::Same => vec![from.to_vec()],
        XPathStep::Parent => vec![from.iter().filter_map(|&at| parent(screen, at)).collect()],
        XPathStep::Child(name) => from.iter().map(|&at| named(screen, children(screen, at), name)).collect(),
        XPathStep::Below(name) => {
            let all = from.iter().flat_map(|&at| with_below(screen, at));
            all.map(|at| named(screen, children(screen, at), name)).collect()
        }
    };
    for mut group in groups {
        for test in tests {
            group = filter_positions(screen, group, test);
        }
        found.extend(group);
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn filter_positions(screen: &Screen, group: Vec<XPathPosition>, test: &XPathTest) -> Vec<XPathPosition> {
    let count = i32::try_from(group.len()).unwrap_or(i32::MAX);
    let holds = |(place, at): &(i32, XPathPosition)| test.holds(screen, *at, *place, count);
    (1..).zip(group).filter(holds).map(|(_, at)| at).collect()
}

impl XPathTest {
    fn holds(&self, screen: &Screen, at: XPathPosition, place: i32, count: i32) -> bool {
        let XPathPosition::Node(index) = at else { return false };
        let value = |name: &str| attribute(screen, index, name).and_then(|found| found.written());
        match self {
            XPathTest::Place(wanted) => place == *wanted,
            XPathTest::Last => place == count,
            XPathTest::Has(name) => value(name).is_some(),
            XPathTest::Equal(name, wanted) => value(name).as_ref() == Some(wanted),
            XPathTest::Different(name, wanted) => value(name).is_some_and(|found| found != *wanted),
            XPathTest::Contains(name, part) => value(name).unwrap_or_default().contains(part.as_str()),
            XPathTest::Begins(name, part) => value(name).unwrap_or_default().starts_with(part.as_str()),
            XPathTest::Not(test) => !test.holds(screen, at, place, count),
            XPathTest::All(tests) => tests.iter().all(|test| test.holds(screen, at, place, count)),
            XPathTest::Any(tests) => tests.iter().any(|test| test.holds(screen, at, place, count)),
        }
    }
}

fn children(screen: &Screen, at: XPathPosition) -> Vec<XPathPosition> {
    match at {
        XPathPosition::Document => vec![XPathPosition::Node(0)],
        XPathPosition::Node(index) => {
            screen.children(index).iter().map(|&child| XPathPosition::Node(child)).collect()
        }
    }
}

fn with_below(screen: &Screen, at: XPathPosition) -> Vec<XPathPosition> {
    let below = match at {
        XPathPosition::Document => (0..screen.nodes.len()).collect(),
        XPathPosition::Node(index) => screen.below(index),
    };
    std::iter::once(at).chain(below.into_iter().map(XPathPosition::Node)).collect()
}

fn parent(screen: &Screen, at: XPathPosition) -> Option<XPathPosition> {
    match at {
        XPathPosition::Document => None,
        XPathPosition::Node(index) => {
            Some(screen.node(index)?.parent.map_or(XPathPosition::Document, XPathPosition::Node))
        }
    }
}

fn named(screen: &Screen, all: Vec<XPathPosition>, name: &str) -> Vec<XPathPosition> {
    let fits = |at: &XPathPosition| match at {
        XPathPosition::Document => false,
        XPathPosition::Node(index) => {
            name == "*" || screen.node(*index).is_some_and(|node| node.type_name() == name)
        }
    };
    all.into_iter().filter(fits).collect()
}

fn any(words: &mut TokenStream) -> Result<XPathTest, WebDriverError> {
    let mut tests = vec![all(words)?];
    while words.takes_name("or") {
        tests.push(all(words)?);
    }
    Ok(XPathTest::Any(tests))
}

fn all(words: &mut TokenStream) -> Result<XPathTest, WebDriverError> {
    let mut tests = vec![parse_test(words)?];
    while words.takes_name("and") {
        tests.push(parse_test(words)?);
    }
    Ok(XPathTest::All(tests))
}

fn parse_test(words: &mut TokenStream) -> Result<XPathTest, WebDriverError> {
    if words.takes("(") {
        let inside = words.deeper(any)?;
        words.expect(")")?;
        return Ok(inside);
    }
    match words.next() {
        Some(Token::Number(place)) => Ok(XPathTest::Place(place)),
        Some(Token::Mark("@")) => {
            let name = words.name()?;
            if words.takes("=") {
                return Ok(XPathTest::Equal(name, value(words)?));
            }
            if words.takes("!=") {
                return Ok(XPathTest::Different(name, value(words)?));
            }
            Ok(XPathTest::Has(name))
        }
        Some(Token::Name(function)) => call(words, &function),
        other => Err(unexpected_token(other.as_ref())),
    }
}

fn value(words: &mut TokenStream) -> Result<String, WebDriverError> {
    match words.next() {
        Some(Token::Text(text)) => Ok(text),
        Some(Token::Number(number)) => Ok(number.to_string()),
        other => Err(unexpected_token(other.as_ref())),
    }
}

fn call(words: &mut TokenStream, function: &str) -> Result<XPathTest, WebDriverError> {
    words.expect("(")?;
    let test = match function {
        "last" => XPathTest::Last,
        "not" => XPathTest::Not(Box::new(words.deeper(any)?)),
        "contains" | "starts-with" => {
            words.expect("@")?;
            let name = words.name()?;
            words.expect(",")?;
            let part = words.text()?;
            if function == "contains" {
                XPathTest::Contains(name, part)
            } else {
                XPathTest::Begins(name, part)
            }
        }
        "position" => {
            words.expect(")")?;
            words.expect("=")?;
            return match words.next() {
                Some(Token::Number(place)) => Ok(XPathTest::Place(place)),
                other => Err(unexpected_token(other.as_ref())),
            };
        }
        other => return Err(WebDriverError::invalid_selector(format!("there is no function {other} here"))),
    };
    words.expect(")")?;
    Ok(test)
}
