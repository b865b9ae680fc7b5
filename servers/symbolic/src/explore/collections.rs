//! Lists, tuples, dictionaries, sets and ranges: items, subscripts, iteration and order.

pub(crate) mod containers;
pub(crate) mod iterate;
pub(crate) mod set_order;
pub(crate) mod subscripts;
