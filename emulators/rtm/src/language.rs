//! The small languages of the service: dates in words, recurrence, smart add and search filters.

pub(crate) mod filter;
pub(crate) mod phrase;
pub(crate) mod recurrence;
pub(crate) mod smart_add;
