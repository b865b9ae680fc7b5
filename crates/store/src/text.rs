//! Text for the operator's terminal.

mod readable;
mod visible;

pub use readable::readable;
pub use visible::visible;
