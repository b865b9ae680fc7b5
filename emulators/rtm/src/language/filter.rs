//! The filter language: operators such as `due:today`, joined by AND, OR, NOT and parentheses.

mod dates;
mod evaluate;
mod lex;
mod operators;
mod parse;

use super::phrase::DateContext;
use crate::state::account::{Account, Series, Task};

use operators::FilterCondition;

/// A search filter.
#[derive(Debug)]
pub(crate) enum Filter {
    All,
    Test(FilterCondition),
    Not(Box<Filter>),
    And(Vec<Filter>),
    Or(Vec<Filter>),
}

impl Filter {
    /// None when the text is not a filter.
    pub(crate) fn read(text: &str, context: &DateContext) -> Option<Filter> {
        let tokens = lex::tokens(text)?;
        parse::parse(&tokens, context)
    }

    pub(crate) fn matches(
        &self,
        account: &Account,
        series: &Series,
        task: &Task,
        context: &DateContext,
    ) -> bool {
        match self {
            Filter::All => true,
            Filter::Test(test) => test.holds(account, series, task, context),
            Filter::Not(inner) => !inner.matches(account, series, task, context),
            Filter::And(all) => all.iter().all(|each| each.matches(account, series, task, context)),
            Filter::Or(any) => any.iter().any(|each| each.matches(account, series, task, context)),
        }
    }

    /// Whether it asks for tasks of archived lists, which otherwise stay out.
    pub(crate) fn includes_archived(&self) -> bool {
        match self {
            Filter::Test(FilterCondition::IncludeArchived(yes)) => *yes,
            Filter::Test(_) | Filter::All | Filter::Not(_) => false,
            Filter::And(each) | Filter::Or(each) => each.iter().any(Filter::includes_archived),
        }
    }
}

#[cfg(test)]
mod tests;
