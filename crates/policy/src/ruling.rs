//! Everything the operator says about who sees and does what: the rules of the file, and a charter for those who
//! have one.

use failwell_fault::{Fault, reason};

use crate::Caller;
use crate::charter::Charter;
use crate::rules::{Rules, Sort, Standing, View};
use crate::thing::{Act, Thing};

/// The operator's word.
#[derive(Debug, Default)]
pub struct Ruling {
    rules: Rules,
    charter: Option<Charter>,
    /// Known beforehand, so that a call of nothing special finds out at one look.
    asks: bool,
}

/// What is the same for everybody who is treated alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    standing: Standing,
    /// A charter may tell any two callers apart.
    person: Option<Box<str>>,
}

impl Ruling {
    /// These rules and this charter.
    pub fn new(rules: Rules, charter: Option<Charter>) -> Ruling {
        Ruling { asks: rules.ask_for_approval(), rules, charter }
    }

    /// Whether there is nothing to look at.
    pub fn is_clear(&self) -> bool {
        self.rules.is_empty() && self.charter.is_none()
    }

    /// Whether two callers may see different things.
    pub fn tells_callers_apart(&self) -> bool {
        self.charter.is_some() || self.rules.tell_callers_apart()
    }

    /// Where a caller stands.
    pub fn place(&self, caller: &Caller) -> Place {
        let person = self.charter.as_ref().map(|_| {
            let roles: Vec<&str> = caller.roles().collect();
            format!("{caller}\n{}", roles.join("\n")).into()
        });
        Place { standing: self.rules.standing(caller), person }
    }

    /// What the rules say of one sort of thing on one server.
    pub fn view<'a>(&'a self, place: &'a Place, server: &str, sort: Sort) -> View<'a> {
        self.rules.about(&place.standing, server, sort)
    }

    /// Whether the charter, if there is one, lets a caller know of a thing.
    pub fn reveals(&self, caller: &Caller, thing: Thing<'_>) -> bool {
        self.charter.as_ref().is_none_or(|charter| charter.permits(caller, Act::See, thing, None))
    }

    /// Whether a charter decides what is seen.
    pub fn has_charter(&self) -> bool {
        self.charter.is_some()
    }

    /// Whether a caller may know of a thing at all.
    pub fn shows(&self, caller: &Caller, thing: Thing<'_>) -> bool {
        self.is_clear()
            || self.view(&self.place(caller), thing.server, thing.sort).shows(thing.name)
                && self.reveals(caller, thing)
    }

    /// Whether a person has to say yes before this caller uses a thing.
    pub fn wants_approval(&self, caller: &Caller, thing: Thing<'_>) -> bool {
        self.asks && self.view(&self.place(caller), thing.server, thing.sort).wants_approval(thing.name)
    }

    /// Refuses the use of a thing the caller knows of, or these arguments for it.
    pub fn admit(&self, caller: &Caller, thing: Thing<'_>, arguments: Option<&str>) -> Result<(), Fault> {
        if self.is_clear() {
            return Ok(());
        }
        if let Some(arguments) = arguments {
            let place = self.place(caller);
            let view = self.view(&place, thing.server, thing.sort);
            view.argument_checks(thing.name).try_for_each(|check| check.check(arguments))?;
        }
        let permitted =
            self.charter.as_ref().is_none_or(|charter| charter.permits(caller, Act::Use, thing, arguments));
        if permitted { Ok(()) } else { Err(Fault::new(&reason::POLICY_DENIED)) }
    }
}
