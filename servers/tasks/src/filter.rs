//! The service's filter language. It is parsed here to report an invalid filter before it is sent, and to
//! find tasks in the cache without a request.

mod lint;
mod matching;
mod parse;

pub(crate) use lint::lint;
pub(crate) use matching::{MatchContext, matches};
pub(crate) use parse::parse;

/// A parsed filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Filter {
    All,
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    Term(Term),
}

/// One operator with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) operator: Operator,
    pub(crate) value: String,
    /// Its position, in characters.
    pub(crate) offset: usize,
}

/// The operators of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    List,
    Priority,
    Status,
    Tag,
    TagContains,
    IsTagged,
    Location,
    LocationWithin,
    IsLocated,
    IsRepeating,
    Name,
    NoteContains,
    HasNotes,
    Filename,
    HasAttachments,
    When(Field, Relation),
    TimeEstimate,
    HasTimeEstimate,
    Postponed,
    IsShared,
    SharedWith,
    IsReceived,
    IsSubtask,
    HasSubtasks,
    Source,
    /// Whether archived lists are included. It matches every task.
    IncludeArchived,
    /// A word without an operator. It matches names that contain it.
    Word,
}

/// A date of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Due,
    Start,
    Completed,
    Added,
    Updated,
}

/// The relation of a date to a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    On,
    Before,
    After,
    Within,
}

const OPERATORS: &[(&str, Operator)] = &[
    ("list", Operator::List),
    ("priority", Operator::Priority),
    ("status", Operator::Status),
    ("tag", Operator::Tag),
    ("tagcontains", Operator::TagContains),
    ("istagged", Operator::IsTagged),
    ("location", Operator::Location),
    ("locationwithin", Operator::LocationWithin),
    ("islocated", Operator::IsLocated),
    ("isrepeating", Operator::IsRepeating),
    ("name", Operator::Name),
    ("notecontains", Operator::NoteContains),
    ("hasnotes", Operator::HasNotes),
    ("filename", Operator::Filename),
    ("hasattachments", Operator::HasAttachments),
    ("due", Operator::When(Field::Due, Relation::On)),
    ("duebefore", Operator::When(Field::Due, Relation::Before)),
    ("dueafter", Operator::When(Field::Due, Relation::After)),
    ("duewithin", Operator::When(Field::Due, Relation::Within)),
    ("start", Operator::When(Field::Start, Relation::On)),
    ("startbefore", Operator::When(Field::Start, Relation::Before)),
    ("startafter", Operator::When(Field::Start, Relation::After)),
    ("startwithin", Operator::When(Field::Start, Relation::Within)),
    ("completed", Operator::When(Field::Completed, Relation::On)),
    ("completedbefore", Operator::When(Field::Completed, Relation::Before)),
    ("completedafter", Operator::When(Field::Completed, Relation::After)),
    ("completedwithin", Operator::When(Field::Completed, Relation::Within)),
    ("added", Operator::When(Field::Added, Relation::On)),
    ("addedbefore", Operator::When(Field::Added, Relation::Before)),
    ("addedafter", Operator::When(Field::Added, Relation::After)),
    ("addedwithin", Operator::When(Field::Added, Relation::Within)),
    ("updated", Operator::When(Field::Updated, Relation::On)),
    ("updatedbefore", Operator::When(Field::Updated, Relation::Before)),
    ("updatedafter", Operator::When(Field::Updated, Relation::After)),
    ("updatedwithin", Operator::When(Field::Updated, Relation::Within)),
    ("timeestimate", Operator::TimeEstimate),
    ("hastimeestimate", Operator::HasTimeEstimate),
    ("postponed", Operator::Postponed),
    ("isshared", Operator::IsShared),
    ("sharedwith", Operator::SharedWith),
    ("isreceived", Operator::IsReceived),
    ("issubtask", Operator::IsSubtask),
    ("hassubtasks", Operator::HasSubtasks),
    ("source", Operator::Source),
    ("includearchived", Operator::IncludeArchived),
];

impl Operator {
    fn named(name: &str) -> Option<Operator> {
        let name = name.to_ascii_lowercase();
        OPERATORS.iter().find(|(known, _)| *known == name).map(|(_, operator)| *operator)
    }
}

impl Filter {
    pub(crate) fn terms(&self) -> Vec<&Term> {
        match self {
            Filter::All => Vec::new(),
            Filter::Term(term) => vec![term],
            Filter::Not(inner) => inner.terms(),
            Filter::And(parts) | Filter::Or(parts) => parts.iter().flat_map(Filter::terms).collect(),
        }
    }
}
