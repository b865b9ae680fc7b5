//! The findings of a walk: either only whether there are any, or all of them with their locations.

use std::ops::ControlFlow;

use failwell_fault::{Fact, Name, Pointer, Rule, Violation};
use serde_json::{Map, Value};

use crate::schema::json_type::JsonType;
use crate::schema::nearest::nearest;

/// More than this are not worth finding.
const MOST: usize = 100;

/// Breaks when nothing more is to be found.
pub(super) type Flow = ControlFlow<()>;

/// One step down from a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Segment<'v> {
    Name(&'v str),
    Index(usize),
}

#[derive(Debug)]
pub(super) struct Findings<'v> {
    /// `None` when the first finding settles the question.
    list: Option<FindingList<'v>>,
}

#[derive(Debug)]
struct FindingList<'v> {
    path: Vec<Segment<'v>>,
    /// The properties of the outermost schema, among which a misspelt name is looked up.
    known: Option<&'v Map<String, Value>>,
    /// All unknown members of one object are one finding.
    count: usize,
    violations: Vec<Violation>,
}

impl<'v> Findings<'v> {
    pub(super) fn verdict() -> Findings<'v> {
        Findings { list: None }
    }

    pub(super) fn list(document: &'v Value) -> Findings<'v> {
        let known = document.get("properties").and_then(Value::as_object);
        Findings { list: Some(FindingList { path: Vec::new(), known, count: 0, violations: Vec::new() }) }
    }

    pub(super) fn is_verdict(&self) -> bool {
        self.list.is_none()
    }

    pub(super) fn count(&self) -> usize {
        self.list.as_ref().map_or(0, |list| list.count)
    }

    pub(super) fn into_violations(self) -> Vec<Violation> {
        self.list.map(|list| list.violations).unwrap_or_default()
    }

    pub(super) fn enter(&mut self, segment: Segment<'v>) {
        if let Some(list) = &mut self.list {
            list.path.push(segment);
        }
    }

    pub(super) fn leave(&mut self) {
        if let Some(list) = &mut self.list {
            list.path.pop();
        }
    }

    pub(super) fn add(&mut self, rule: Rule) -> Flow {
        self.add_with(|place| vec![Violation::new(place, rule)])
    }

    pub(super) fn add_limited(&mut self, rule: Rule, limit: &Value) -> Flow {
        self.add_with(|place| vec![limited(Violation::new(place, rule), limit)])
    }

    pub(super) fn add_counted(&mut self, rule: Rule, limit: impl Into<Fact>) -> Flow {
        self.add_with(|place| vec![Violation::new(place, rule).limit(limit)])
    }

    pub(super) fn add_type(&mut self, types: &[JsonType]) -> Flow {
        let names: Vec<&'static str> = types.iter().map(|one| one.as_str()).collect();
        let limit = match names.as_slice() {
            [name] => Fact::from(*name),
            _ => Fact::from(names),
        };
        self.add_counted(Rule::Type, limit)
    }

    pub(super) fn add_missing(&mut self, name: &str) -> Flow {
        self.add_with(|place| vec![Violation::new(place.then(name), Rule::Required)])
    }

    pub(super) fn add_unknown(&mut self, names: &[&str]) -> Flow {
        let known = self.list.as_ref().and_then(|list| list.known);
        let known = || known.into_iter().flat_map(|known| known.keys().map(String::as_str));
        self.add_with(|place| names.iter().map(|name| unknown(place.clone(), name, known())).collect())
    }

    fn add_with(&mut self, violations: impl FnOnce(Pointer) -> Vec<Violation>) -> Flow {
        let Some(list) = &mut self.list else { return Flow::Break(()) };
        list.violations.extend(violations(pointer(&list.path)));
        list.count += 1;
        if list.count < MOST { Flow::Continue(()) } else { Flow::Break(()) }
    }
}

fn pointer(path: &[Segment<'_>]) -> Pointer {
    path.iter().fold(Pointer::root(), |place, segment| match segment {
        Segment::Name(name) => place.then(name),
        Segment::Index(index) => place.then(&index.to_string()),
    })
}

fn unknown<'k>(place: Pointer, name: &str, known: impl Iterator<Item = &'k str>) -> Violation {
    let violation = Violation::new(place.then(name), Rule::Unknown);
    match nearest(name, known).into_iter().next() {
        Some(right) => violation.nearest(right),
        None => violation,
    }
}

fn limited(violation: Violation, bound: &Value) -> Violation {
    match limit_fact(bound) {
        Some(limit) => violation.limit(limit),
        None => violation,
    }
}

/// A bound of a schema as a fact, if it is a number, a plain name, or a list with plain names.
pub(super) fn limit_fact(bound: &Value) -> Option<Fact> {
    match bound {
        Value::Number(number) => {
            let whole = number.as_u64().map(Fact::from).or_else(|| number.as_i64().map(Fact::from));
            Some(whole.unwrap_or_else(|| Fact::from(number.as_f64().unwrap_or(f64::NAN))))
        }
        Value::String(text) => Name::parse(text).map(Fact::from),
        Value::Array(options) => {
            let names: Vec<Name> =
                options.iter().filter_map(|option| Name::parse(option.as_str()?)).take(20).collect();
            (!names.is_empty()).then(|| Fact::from(names))
        }
        _ => None,
    }
}
