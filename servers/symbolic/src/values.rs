//! Python's values.

mod pyvalue;
pub(crate) mod text;

pub use pyvalue::{Field, PyValue};
