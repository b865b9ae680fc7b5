//! Calls that pass the same mutable object twice.
//!
//! A second exploration lets arguments of the same type be one object, and items of a list be one object. It
//! is needed only if the code changes an argument or compares identities.

use super::inputs::InputType;
use super::machine::{Machine, OrTrap};
use crate::terms::{Interval, Model, Sort};
use crate::values::Value;

impl InputType {
    /// Whether values of this type are mutable.
    fn is_mutable(&self) -> bool {
        matches!(self, Self::List(_) | Self::Dict(..) | Self::Set(_) | Self::Instance(..))
    }

    /// Whether values of the two types can be the same object. `Debug` prints every part of a type.
    pub(crate) fn can_be_shared_with(&self, other: &Self) -> bool {
        self.is_mutable() && format!("{self:?}") == format!("{other:?}")
    }

    /// The number of mutable objects that a value of this type can contain, including itself: none, one, or
    /// several.
    fn holds(&self) -> usize {
        match self {
            Self::List(inner) | Self::TupleOf(inner) | Self::Set(inner) | Self::FrozenSet(inner) => {
                usize::from(self.is_mutable()) + 2 * inner.holds().min(1)
            }
            Self::Dict(_, value) => 1 + 2 * value.holds().min(1),
            Self::Tuple(kinds) => kinds.iter().map(Self::holds).sum(),
            Self::Union(kinds) => kinds.iter().map(Self::holds).max().unwrap_or(0),
            Self::Instance(_, fields) => 1 + fields.iter().map(|(_, kind)| kind.holds()).sum::<usize>(),
            Self::Unknown => 1,
            _ => 0,
        }
    }

    /// Whether the exploration of shared arguments covers every way in which values of these types can share
    /// objects.
    pub(crate) fn sharing_is_covered(kinds: &[&Self]) -> bool {
        let is_flat = |kind: &Self| match kind {
            Self::List(inner) => {
                inner.holds() == 0 || (kinds.len() == 1 && inner.is_mutable() && inner.holds() == 1)
            }
            Self::Dict(_, value) => value.holds() == 0,
            Self::Instance(_, fields) => fields.iter().all(|(_, kind)| kind.holds() == 0),
            kind => kind.holds() == 0 || matches!(kind, Self::Set(_)),
        };
        kinds.iter().all(|kind| is_flat(kind))
    }

    /// Whether values of these types can share mutable objects at all.
    pub(crate) fn can_share(kinds: &[&Self]) -> bool {
        kinds.iter().map(|kind| kind.holds()).sum::<usize>() > 1
    }
}

fn is_same(later: &str, earlier: &str) -> String {
    format!("{later} is {earlier}")
}

/// A name for a shared object in source text.
pub(crate) fn label(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    format!("same_{plain}")
}

impl Machine {
    /// Decides which earlier input this input is the same object as.
    pub(crate) fn share(&mut self, name: &str, earlier: &[String]) -> OrTrap<Option<usize>> {
        for (index, other) in earlier.iter().enumerate() {
            let same = self.terms.var(&is_same(name, other), Sort::Bool, Interval::ALL);
            if self.decide_term(same)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// The earlier input that this input is the same object as under a model.
    pub(crate) fn shared_under(&self, model: &Model, name: &str, earlier: &[String]) -> Option<usize> {
        earlier.iter().position(|other| {
            let term = self.terms.find_var(&is_same(name, other), Sort::Bool);
            term.is_some_and(|term| model.truth(&self.terms, term))
        })
    }

    /// An item of a list that may be the same object as an earlier one.
    pub(super) fn shared_item(
        &mut self,
        list: &str,
        element: &InputType,
        made: &[Value],
    ) -> OrTrap<Option<Value>> {
        if !self.is_sharing || !element.can_be_shared_with(element) {
            return Ok(None);
        }
        let earlier: Vec<String> = (0..made.len()).map(|place| format!("{list}[{place}]")).collect();
        let found = self.share(&format!("{list}[{}]", made.len()), &earlier)?;
        Ok(found.and_then(|place| made.get(place)).cloned())
    }
}
